import type { SweepAggregates } from "./aggregates.ts";
import type { Finding } from "./finding.ts";
import { thresholds } from "./thresholds.ts";
import { groupBy, outOf, sumOf } from "./wording.ts";

/** Replies whose end is not told: whether one was cut at the limit is then guessed from its last line. */
export function findUnknownFinish({ sizes }: SweepAggregates): readonly Finding[] {
  return [...groupBy(sizes, ({ alias }) => alias)].flatMap(([alias, tallies]) => {
    const unknown = sumOf(tallies, ({ unknownFinish }) => unknownFinish);
    const n = sumOf(tallies, ({ replies }) => replies);
    if (unknown < thresholds.repliesMin || unknown / n < thresholds.unknownFinishShareMin) return [];
    return [
      {
        detector: "unknown-finish",
        severity: "info",
        model: alias,
        condition: null,
        observed: unknown / n,
        expected: 0,
        n,
        message: `${outOf(unknown, n)} replies do not say why they ended`,
        advice: "whether they were cut is guessed from their last line; compare their output tokens with maxTokens",
        examples: [],
      } satisfies Finding,
    ];
  });
}
