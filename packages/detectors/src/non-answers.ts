import type { SweepAggregates } from "./aggregates.ts";
import { isAbove } from "./credible.ts";
import type { Finding } from "./finding.ts";
import { thresholds } from "./thresholds.ts";
import { countOf, outOf, sumOf } from "./wording.ts";

const kinds = ["empty", "refused", "parse_failed"] as const;

/** Replies that are no answer: they count as the model's failure, and a wrong setting can be their cause. */
export function findNonAnswers({ models, conditions }: SweepAggregates): readonly Finding[] {
  return models.flatMap(({ alias, isBaseline }) => {
    const done = conditions.filter((tally) => tally.alias === alias && tally.state === "done");
    const n = sumOf(done, ({ count }) => count);
    const counts = kinds.map((kind) => ({
      kind,
      count: sumOf(done, ({ outcome, count }) => (outcome === kind ? count : 0)),
    }));
    const missing = sumOf(counts, ({ count }) => count);
    if (isBaseline || missing < thresholds.repliesMin || missing / n < thresholds.nonAnswerShareMin) return [];
    if (!isAbove(missing, n, thresholds.nonAnswerShareUsual)) return [];
    const parts = counts.filter(({ count }) => count > 0).map(({ kind, count }) => `${countOf(count)} ${kind}`);
    return [
      {
        detector: "non-answers",
        severity: "warning",
        model: alias,
        condition: null,
        observed: missing / n,
        expected: 0,
        n,
        message: `${outOf(missing, n)} replies are no answer (${parts.join(", ")}) and count as the model's failure`,
        advice:
          "read some of them (export has their trials); a wrong chat template, a filter or a format that the reader does not know looks like this",
        examples: [],
      } satisfies Finding,
    ];
  });
}
