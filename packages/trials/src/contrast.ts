import {
  bootstrapMean,
  detectableDifference,
  type GroupedValue,
  groupMeans,
  missingBounds,
  signFlipTest,
  summarise,
  wilcoxonSignedRank,
} from "@hallumaze/statistics";

import type { Draws } from "./draws.ts";
import { type Metric, unitRange } from "./metric-names.ts";
import type { Estimate } from "./estimate.ts";
import type { Trial } from "./trial-table.ts";

/** The paired difference of two sets of trials over the mazes that both have. */
export interface Contrast extends Estimate {
  /** Mazes that both sides have a value of: the units. */
  readonly mazes: number;
  /** Mazes that only one side has a value of: they do not enter. */
  readonly unpaired: number;
  /** Sign-flip permutation test of a mean difference of 0, two-sided; null without a common maze. */
  readonly p: number | null;
  /** Wilcoxon's signed-rank test, two-sided; null where no maze differs. */
  readonly wilcoxonP: number | null;
  /** Standard deviation of the mazes' differences; null with fewer than two. */
  readonly sd: number | null;
  /** Mean difference / sd; null where sd is 0 or unknown. */
  readonly standardised: number | null;
  /** The smallest difference that these mazes would find at the level with power 0.8; null with too few. */
  readonly detectable: number | null;
  /** The difference were every missing trial as unfavourable, and as favourable, as can be; for metrics in 0 … 1. */
  readonly bounds: readonly [number, number] | null;
  /** Each maze's difference, in the order of sizes and seeds. */
  readonly differences: readonly number[];
}

/** What must be equal for two trials to be compared, beside the maze; by default all factors of their conditions. */
export type PairKey = (trial: Trial) => string;

/**
 * The mean of a - b: trials are paired within their maze where `pairKey` is the same, repeats are averaged first, then the
 * pairs of a maze, then mazes. What only one side has does not enter.
 */
export function contrast(
  sides: { readonly a: readonly Trial[]; readonly b: readonly Trial[] },
  metric: Metric,
  draws: Draws,
  { name, pairKey = (trial) => trial.condition.key }: { readonly name: string; readonly pairKey?: PairKey },
): Contrast {
  const { a, b } = sides;
  const [ofA, ofB] = [pairValues(a, metric, pairKey), pairValues(b, metric, pairKey)];
  const differences = new Map<string, GroupedValue>();
  for (const pair of new Set([...ofA.keys(), ...ofB.keys()])) {
    const [left, right] = [ofA.get(pair), ofB.get(pair)];
    const either = left ?? right;
    if (either === undefined) continue;
    const [of, minus] = [left?.value ?? null, right?.value ?? null];
    differences.set(pair, { ...either, value: of === null || minus === null ? null : of - minus });
  }
  return describeDifferences([...differences.values()], draws, `${name}/${metric}`, {
    bounds: contrastBounds(a, b, metric, pairKey),
  });
}

/** The mean of differences that are given, one or more a maze, tested against 0. */
export function describeDifferences(
  values: readonly GroupedValue[],
  draws: Draws,
  name: string,
  { bounds = null }: { readonly bounds?: readonly [number, number] | null } = {},
): Contrast {
  const { resamples, permutations, level, interval: method } = draws.options;
  const groups = groupMeans(values);
  const units = groups.flatMap(({ value }) => (value === null ? [] : [withoutRounding(value)]));
  const { mean, lo, hi } = bootstrapMean(values, { random: draws.stream(name), resamples, level, method });
  const { sd } = summarise(units);
  return {
    value: mean,
    lo,
    hi,
    mazes: units.length,
    unpaired: groups.length - units.length,
    p: signFlipTest(units, { random: draws.stream(`${name}/sign-flip`), permutations }).p,
    wilcoxonP: wilcoxonSignedRank(units).p,
    sd,
    standardised: mean === null || sd === null || sd < 1e-12 ? null : mean / sd,
    detectable: sd === null ? null : detectableDifference(sd, units.length, { alpha: 1 - level }),
    bounds,
    differences: units,
  };
}

/** Means of repeats differ in their last bit where they are equal: that is no difference, and equal sizes are ties. */
function withoutRounding(difference: number): number {
  return Math.round(difference * 1e12) / 1e12;
}

/** The mean of a pair's repeats; null where none has a value. */
function pairValues(
  trials: readonly Trial[],
  metric: Metric,
  pairKey: PairKey,
): ReadonlyMap<string, GroupedValue & { readonly stratum: string }> {
  const maze = new Map(trials.map((trial) => [pairOf(trial, pairKey), trial.maze]));
  const means = groupMeans(
    trials.map((trial) => ({
      group: pairOf(trial, pairKey),
      stratum: String(trial.maze.size).padStart(3, "0"),
      value: trial.value(metric),
    })),
  );
  return new Map(
    means.map(({ group, stratum, value }) => [group, { group: maze.get(group)?.key ?? group, stratum, value }]),
  );
}

function pairOf(trial: Trial, pairKey: PairKey): string {
  return `${trial.maze.key}|${pairKey(trial)}`;
}

/** Over the pairs that both sides planned. */
function contrastBounds(
  a: readonly Trial[],
  b: readonly Trial[],
  metric: Metric,
  pairKey: PairKey,
): readonly [number, number] | null {
  const [ofA, ofB] = [a, b].map((side) => new Set(side.map((trial) => pairOf(trial, pairKey))));
  const grouped = (side: readonly Trial[], other: ReadonlySet<string> | undefined): GroupedValue[] =>
    side
      .filter((trial) => other?.has(pairOf(trial, pairKey)))
      .map((trial) => ({ group: trial.maze.key, value: trial.value(metric) }));
  const [left, right] = [missingBounds(grouped(a, ofB), unitRange), missingBounds(grouped(b, ofA), unitRange)];
  return left === null || right === null ? null : [left.lo - right.hi, left.hi - right.lo];
}
