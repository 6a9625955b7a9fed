import { adjustPValues, fisherExact } from "@hallumaze/statistics";

import type { ConditionTally, SweepAggregates } from "./aggregates.ts";
import type { Finding } from "./finding.ts";
import { thresholds } from "./thresholds.ts";
import { groupBy, outOf, sumOf } from "./wording.ts";

type Factor = "size" | "group" | "mirage" | "language" | "confidence";
const factors: readonly Factor[] = ["size", "group", "mirage", "language", "confidence"];

/** One level of one factor against the others, in one model or over models. */
interface Comparison {
  readonly alias: string | null;
  readonly factor: Factor | "model";
  readonly level: string;
  readonly here: { readonly hits: number; readonly trials: number };
  readonly elsewhere: { readonly hits: number; readonly trials: number };
}

/**
 * Failed (missing) trials that fall on some conditions more than on others, so that what is left is no fair sample.
 * Each level of each factor stands against the rest by Fisher's exact test, within each model, and models against one
 * another; Holm's correction runs over all tests of the sweep. Of one factor the clearest level is told.
 */
export function findUnevenFailures({ models, conditions }: SweepAggregates): readonly Finding[] {
  const ended = conditions.filter(({ state }) => state === "done" || state === "failed");
  const baselines = new Set(models.filter(({ isBaseline }) => isBaseline).map(({ alias }) => alias));
  const comparisons = [
    ...[...groupBy(ended, ({ alias }) => alias)].flatMap(([alias, tallies]) =>
      factors.flatMap((factor) => compareLevels(tallies, alias, factor, (tally) => String(tally[factor]))),
    ),
    // A built-in solver has no provider that could fail: beside it every model's failures would look uneven.
    ...compareLevels(
      ended.filter(({ alias }) => !baselines.has(alias)),
      null,
      "model",
      ({ alias }) => alias,
    ),
  ];
  const adjusted = adjustPValues(
    comparisons.map(({ here, elsewhere }) => fisherExact(here, elsewhere)),
    "holm",
  );
  const uneven = comparisons.flatMap((comparison, index) => {
    const p = adjusted[index] ?? 1;
    const { here, elsewhere } = comparison;
    const difference = here.hits / here.trials - elsewhere.hits / elsewhere.trials;
    const counts = p < thresholds.unevenLevel && Math.abs(difference) >= thresholds.unevenDifferenceMin;
    return counts ? [{ ...comparison, p, difference }] : [];
  });
  const byFactor = groupBy(uneven, ({ alias, factor }) => JSON.stringify([alias, factor]));
  return [...byFactor.values()].flatMap((ofFactor) => {
    const clearest = ofFactor.toSorted((a, b) => a.p - b.p || b.difference - a.difference)[0];
    return clearest === undefined ? [] : [toFinding(clearest)];
  });
}

function compareLevels(
  tallies: readonly ConditionTally[],
  alias: string | null,
  factor: Comparison["factor"],
  levelOf: (tally: ConditionTally) => string,
): readonly Comparison[] {
  const levels = [...groupBy(tallies, levelOf)]
    .map(([level, ofLevel]) => ({ level, ...missingOf(ofLevel) }))
    .filter(({ trials }) => trials >= thresholds.unevenTrialsMin);
  const hits = sumOf(levels, (level) => level.hits);
  const trials = sumOf(levels, (level) => level.trials);
  if (levels.length < 2 || hits < thresholds.unevenFailuresMin) return [];
  // Of two levels one comparison says all: that of the one with more missing.
  const compared =
    levels.length > 2 ? levels : levels.toSorted((a, b) => b.hits / b.trials - a.hits / a.trials).slice(0, 1);
  return compared.map(({ level, ...here }) => ({
    alias,
    factor,
    level,
    here,
    elsewhere: { hits: hits - here.hits, trials: trials - here.trials },
  }));
}

function missingOf(tallies: readonly ConditionTally[]): { readonly hits: number; readonly trials: number } {
  return {
    hits: sumOf(tallies, ({ state, count }) => (state === "failed" ? count : 0)),
    trials: sumOf(tallies, ({ count }) => count),
  };
}

function toFinding(comparison: Comparison & { readonly p: number }): Finding {
  const { alias, factor, level, here, elsewhere, p } = comparison;
  const share = p < 0.0001 ? "p < 0.0001" : `p = ${p.toFixed(4)}`;
  return {
    detector: "uneven-failures",
    severity: "warning",
    model: factor === "model" ? level : alias,
    condition: factor === "model" ? null : conditionOf(factor, level),
    observed: here.hits / here.trials,
    expected: elsewhere.hits / elsewhere.trials,
    n: here.trials + elsewhere.trials,
    message:
      `${outOf(here.hits, here.trials)} trials failed and are missing, ` +
      `${outOf(elsewhere.hits, elsewhere.trials)} ${factor === "model" ? "of the other models" : "elsewhere"} (${share}, all tests of the sweep taken into account)`,
    advice: "retry the failed ones before comparing; until then compare on mazes that all conditions have",
    examples: [],
  };
}

function conditionOf(factor: Factor, level: string): string {
  if (factor === "mirage" || factor === "confidence") return `${factor} ${level === "true" ? "on" : "off"}`;
  return `${factor} ${level}`;
}
