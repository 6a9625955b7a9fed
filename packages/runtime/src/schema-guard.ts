import { HalluMazeError } from "@hallumaze/foundation";

import type { House } from "./house.ts";
import { pause } from "./loops.ts";

/** How often a worker asks whether a newer program has moved the schema on under it. */
const everyMs = 15_000;

/** What watches the schema of a house under work. */
export interface SchemaGuard {
  /** Rejects with `schema-newer` once the schema is none that this program can work with; never resolves. */
  readonly refused: Promise<never>;
  /** Why this program may not work any more; null while it may. What readiness says. */
  readonly reason: () => string | null;
}

/**
 * Watches whether a newer program has changed the database in a way that this one cannot work with (most changes only add).
 * A database that does not answer says nothing of its schema: that is the workers' own trouble. Ends with `signal`.
 */
export function guardSchema(
  house: Pick<House, "checkCompatible">,
  signal: AbortSignal,
  periodMs: number = everyMs,
): SchemaGuard {
  let reason: string | null = null;
  const watch = async (): Promise<never> => {
    while (!signal.aborted) {
      try {
        await house.checkCompatible();
      } catch (error) {
        if (error instanceof HalluMazeError && error.code === "schema-newer") {
          reason = error.message;
          throw error;
        }
      }
      await pause(periodMs, signal);
    }
    return new Promise<never>(() => undefined);
  };
  const refused = watch();
  refused.catch(() => undefined);
  return { refused, reason: () => reason };
}
