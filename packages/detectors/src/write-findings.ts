import type { SweepAggregates } from "./aggregates.ts";
import type { Finding } from "./finding.ts";
import { countOf } from "./wording.ts";

/** One line for a terminal: `warning: openai/gpt-4o, size 11: … (what to do)`. Names in it are a server's words: clean it. */
export function findingLine({ severity, detector, model, condition, message, advice }: Finding): string {
  const where = [model, condition].filter((part) => part !== null).join(", ");
  const kind = severity === "warning" ? "warning" : "note";
  return `${kind} [${detector}]${where === "" ? "" : ` ${where}`}: ${message}. To do: ${advice}.`;
}

/** How much of a sweep of so many trials was looked at, in one sentence; null where it was all. */
export function scopeLine(
  { countedTrials, lookedAtTrials }: Pick<SweepAggregates, "countedTrials" | "lookedAtTrials">,
  trials: number,
): string | null {
  if (lookedAtTrials >= trials) return null;
  const counted = countedTrials >= trials ? "all" : countOf(countedTrials);
  return (
    `outcomes of ${counted} and replies of ${countOf(lookedAtTrials)} of ${countOf(trials)} trials were looked at: ` +
    "the first seeds of every model and size"
  );
}
