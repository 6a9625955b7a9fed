import type { SweepAggregates } from "./aggregates.ts";
import { isAbove } from "./credible.ts";
import type { Finding } from "./finding.ts";
import { thresholds } from "./thresholds.ts";
import { countOf, groupBy, outOf, sumOf } from "./wording.ts";

/**
 * Replies cut at the token limit, by model and size, those cut while thinking included. A built-in solver's length is its
 * rule: of one it is information.
 */
export function findTruncation({ models, conditions, sizes }: SweepAggregates): readonly Finding[] {
  const done = conditions.filter(({ state }) => state === "done");
  return [...groupBy(done, ({ alias, size }) => JSON.stringify([alias, size])).values()].flatMap((tallies) => {
    const [{ alias, size } = { alias: "", size: 0 }] = tallies;
    const countCut = (outcome: string): number =>
      sumOf(tallies, (tally) => (tally.outcome === outcome ? tally.count : 0));
    const inReasoning = countCut("truncated_in_reasoning");
    const cut = countCut("truncated") + inReasoning;
    const replies = sumOf(tallies, ({ count }) => count);
    const share = cut / replies;
    if (!isOftenCut(cut, replies)) return [];
    const tokens = sizes.find((tally) => tally.alias === alias && tally.size === size);
    const whole = tokens?.completeOutputP95 ?? null;
    return [
      {
        detector: "truncation",
        severity: models.some((model) => model.alias === alias && model.isBaseline) ? "info" : "warning",
        model: alias,
        condition: `size ${size}`,
        observed: share,
        expected: 0,
        n: replies,
        message: [
          `${outOf(cut, replies)} replies were cut at the token limit`,
          tokens === undefined ? "" : ` of ${countOf(tokens.maxTokens)}`,
          inReasoning > 0 ? `, ${countOf(inReasoning)} of them while still thinking` : "",
          whole === null ? "" : `; 95 % of the whole ones took ${countOf(whole)} tokens or fewer`,
        ].join(""),
        advice: `${raiseAdvice(size, tokens?.maxTokens ?? null, share)}; read the figures with and without cut replies`,
        examples: [],
      } satisfies Finding,
    ];
  });
}

/** Whether so many of so many replies were cut that it is no accident, and matters. */
export function isOftenCut(cut: number, replies: number): boolean {
  const { cutMin, cutShareMin, cutShareUsual } = thresholds;
  return cut >= cutMin && cut / replies >= cutShareMin && isAbove(cut, replies, cutShareUsual);
}

/** Which limit to try; what a cut reply would have taken is not known, so it is a step and no estimate. */
export function raiseAdvice(size: number, maxTokens: number | null, cutShare: number): string {
  if (maxTokens === null) return "raise maxTokens";
  const factor = cutShare >= thresholds.cutShareOfMost ? 4 : 2;
  return `raise maxTokens for size ${size}, for instance to ${countOf(Math.ceil((maxTokens * factor) / 500) * 500)}`;
}
