import type { SweepAggregates } from "./aggregates.ts";
import type { Finding } from "./finding.ts";
import { thresholds } from "./thresholds.ts";
import { groupBy, outOf, sumOf } from "./wording.ts";

/** Replies that do not say what they took: cost is unknown, limits count by estimate, a cut prompt goes unseen. */
export function findMissingUsage({ sizes }: SweepAggregates): readonly Finding[] {
  return [...groupBy(sizes, ({ alias }) => alias)].flatMap(([alias, tallies]) => {
    const missing = sumOf(tallies, ({ missingUsage }) => missingUsage);
    const n = sumOf(tallies, ({ replies }) => replies);
    if (missing < thresholds.repliesMin || missing / n < thresholds.missingUsageShareMin) return [];
    return [
      {
        detector: "missing-usage",
        severity: "warning",
        model: alias,
        condition: null,
        observed: missing / n,
        expected: 0,
        n,
        message: `${outOf(missing, n)} replies state no token counts: their cost is unknown, and a cut prompt would not show`,
        advice: "switch usage on at the server or proxy; until then the budget counts these at their most",
        examples: [],
      } satisfies Finding,
    ];
  });
}
