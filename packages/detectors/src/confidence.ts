import type { SweepAggregates } from "./aggregates.ts";
import type { Finding } from "./finding.ts";
import { thresholds } from "./thresholds.ts";
import { countOf, outOf } from "./wording.ts";

/** Confidence that was asked for and did not come, or is one figure throughout: CE and calibration say nothing then. */
export function findConfidence({ models, confidences }: SweepAggregates): readonly Finding[] {
  return confidences.flatMap(({ alias, replies, without, statements, distinct }): readonly Finding[] => {
    if (models.some((model) => model.alias === alias && model.isBaseline)) return [];
    if (replies < thresholds.confidenceRepliesMin) return [];
    const common = { detector: "confidence", model: alias, condition: null, examples: [] } as const;
    if (without / replies >= thresholds.confidenceMissingShareMin) {
      return [
        {
          ...common,
          severity: "warning",
          observed: without / replies,
          expected: 0,
          n: replies,
          message: `${outOf(without, replies)} of the replies looked at state no confidence although it was asked for`,
          advice: "leave CE out for this model; robust Score counts missing confidence as the largest error",
        },
      ];
    }
    if (statements < thresholds.confidenceStatementsMin || distinct > 1) return [];
    return [
      {
        ...common,
        severity: "info",
        observed: distinct,
        expected: null,
        n: statements,
        message: `all ${countOf(statements)} confidences looked at are one and the same figure`,
        advice: "read CE as the share of errors: this model's confidence tells nothing",
      },
    ];
  });
}
