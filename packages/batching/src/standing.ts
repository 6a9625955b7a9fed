import type { BatchStanding } from "@hallumaze/engine";

/**
 * Hours after which a vendor ends a batch, run or not. SOURCE: platform.claude.com "Batch processing" (24),
 * developers.openai.com "Batch" (24), ai.google.dev/gemini-api/docs/batch-api (48); read 2026-11-30.
 */
const lifeHours: Readonly<Record<string, number>> = { anthropic: 24, openai: 24, google: 48 };

/** When the last of a vendor's batches under way expires at the latest, ms since the Unix epoch; null where none is there. */
export function expiresAtMs({ provider, newestAtMs }: Pick<BatchStanding, "provider" | "newestAtMs">): number | null {
  const hours = lifeHours[provider];
  return newestAtMs === null || hours === undefined ? null : newestAtMs + hours * 3_600_000;
}
