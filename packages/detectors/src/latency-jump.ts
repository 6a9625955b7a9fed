import type { PromptTally, SweepAggregates } from "./aggregates.ts";
import type { Finding } from "./finding.ts";
import { thresholds } from "./thresholds.ts";
import { countOf, groupBy, sumOf } from "./wording.ts";

/** Calls that take several times as long, or as short, as in the sweep's first quarter: another machine, load, or a cache. */
export function findLatencyJump({ models, prompts }: SweepAggregates): readonly Finding[] {
  const baselines = new Set(models.filter(({ isBaseline }) => isBaseline).map(({ alias }) => alias));
  return [...groupBy(prompts, ({ alias }) => alias)].flatMap(([alias, tallies]) => {
    const jumps = baselines.has(alias) ? [] : [1, 2, 3].flatMap((period) => compareWithFirst(tallies, period));
    const widest = jumps.toSorted((a, b) => Math.abs(Math.log(b.factor)) - Math.abs(Math.log(a.factor)))[0];
    if (widest === undefined) return [];
    const { period, factor, replies, firstMs } = widest;
    return [
      {
        detector: "latency-jump",
        severity: "info",
        model: alias,
        condition: `quarter ${period + 1} of the sweep`,
        observed: factor,
        expected: 1,
        n: replies,
        message: `calls took ${factor.toFixed(1)} times as long as in the first quarter (${countOf(firstMs)} ms there)`,
        advice: "look at the served model and host of both parts, and at the server's load",
        examples: [],
      } satisfies Finding,
    ];
  });
}

/** Like with like: each form of prompt against itself, in logarithms, so that one slow call is no jump. */
function compareWithFirst(tallies: readonly PromptTally[], period: number) {
  const keyOf = ({ size, language, mirage, confidence }: PromptTally): string =>
    JSON.stringify([size, language, mirage, confidence]);
  const firsts = new Map(tallies.filter((tally) => tally.period === 0).map((tally) => [keyOf(tally), tally]));
  const pairs = tallies.flatMap((tally) => {
    const first = firsts.get(keyOf(tally));
    return tally.period === period && first !== undefined ? [{ tally, first }] : [];
  });
  const replies = sumOf(pairs, ({ tally }) => tally.replies);
  const before = sumOf(pairs, ({ first }) => first.replies);
  if (Math.min(replies, before) < thresholds.latencyRepliesMin) return [];
  const logBefore = sumOf(pairs, ({ tally, first }) => tally.replies * first.latencyLogMean) / replies;
  const logNow = sumOf(pairs, ({ tally }) => tally.replies * tally.latencyLogMean) / replies;
  const factor = Math.exp(logNow - logBefore);
  const longerMs = Math.exp(Math.max(logNow, logBefore));
  const isJump = factor >= thresholds.latencyFactorMin || factor <= 1 / thresholds.latencyFactorMin;
  return isJump && longerMs >= thresholds.latencyMsMin
    ? [{ period, factor, replies, firstMs: Math.exp(logBefore) }]
    : [];
}
