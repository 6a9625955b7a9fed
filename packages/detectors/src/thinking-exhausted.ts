import type { SweepAggregates } from "./aggregates.ts";
import type { Finding } from "./finding.ts";
import { isOftenCut, raiseAdvice } from "./truncation.ts";
import { countOf, outOf } from "./wording.ts";

/** Thoughts that use the whole token limit up, so that no answer is left, by model and size. */
export function findThinkingExhausted({ sizes }: SweepAggregates): readonly Finding[] {
  return sizes.flatMap(({ alias, size, maxTokens, replies, thoughtOut, thoughtOutReasoningMean }) => {
    const share = thoughtOut / replies;
    if (!isOftenCut(thoughtOut, replies)) return [];
    const thoughts =
      thoughtOutReasoningMean === null ? "" : `, ${countOf(thoughtOutReasoningMean)} tokens of thoughts on average`;
    return [
      {
        detector: "thinking-exhausted",
        severity: "warning",
        model: alias,
        condition: `size ${size}`,
        observed: share,
        expected: 0,
        n: replies,
        message: `in ${outOf(thoughtOut, replies)} replies thinking used the limit of ${countOf(maxTokens)} tokens up before the answer${thoughts}`,
        advice: `${raiseAdvice(size, maxTokens, share)}, or set less thinking (the model's effort or thinking budget in params)`,
        examples: [],
      } satisfies Finding,
    ];
  });
}
