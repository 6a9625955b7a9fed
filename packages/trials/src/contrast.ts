import {
  detectableDifference,
  type GroupedValue,
  groupMeans,
  type Interval,
  signFlipTest,
  summarise,
  wilcoxonSignedRank,
} from "@hallumaze/statistics";

import type { Draws } from "./draws.ts";
import { stratumOf } from "./maze-means.ts";
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

/** One side of a comparison, reduced to its pairs: a few numbers each, however many repeats there are. */
export type PairedSide = ReadonlyMap<string, PairedCell>;

interface PairedCell {
  readonly maze: string;
  readonly stratum: string;
  sum: number;
  known: number;
  missing: number;
}

/** Reduces trials to their pairs: those of one maze and one `pairKey`. */
export function pairedSide(
  trials: readonly Trial[],
  metric: Metric,
  pairKey: PairKey = (trial) => trial.condition.key,
): PairedSide {
  const cells = new Map<string, PairedCell>();
  for (const trial of trials) {
    const pair = `${trial.maze.key}|${pairKey(trial)}`;
    let cell = cells.get(pair);
    if (cell === undefined) {
      cell = { maze: trial.maze.key, stratum: stratumOf(trial.maze), sum: 0, known: 0, missing: 0 };
      cells.set(pair, cell);
    }
    const value = trial.value(metric);
    cell.sum += value ?? 0;
    if (value === null) cell.missing += 1;
    else cell.known += 1;
  }
  return cells;
}

/**
 * The mean of a - b: trials are paired within their maze where `pairKey` is the same, repeats are averaged first, then the
 * pairs of a maze, then mazes. What only one side has does not enter.
 */
export function contrast(
  sides: { readonly a: readonly Trial[]; readonly b: readonly Trial[] },
  metric: Metric,
  draws: Draws,
  { name, pairKey }: { readonly name: string; readonly pairKey?: PairKey },
): Contrast {
  const [a, b] = [pairedSide(sides.a, metric, pairKey), pairedSide(sides.b, metric, pairKey)];
  return contrastSides(a, b, draws, `${name}/${metric}`);
}

/** The same of sides that are reduced already. */
export function contrastSides(a: PairedSide, b: PairedSide, draws: Draws, name: string): Contrast {
  const differences = [...new Set([...a.keys(), ...b.keys()])].flatMap((pair): readonly GroupedValue[] => {
    const [left, right] = [a.get(pair), b.get(pair)];
    const either = left ?? right;
    if (either === undefined) return [];
    const isPaired = left !== undefined && right !== undefined && left.known > 0 && right.known > 0;
    const value = isPaired ? left.sum / left.known - right.sum / right.known : null;
    return [{ group: either.maze, stratum: either.stratum, value }];
  });
  return describeDifferences(differences, draws, name, { bounds: contrastBounds(a, b) });
}

/** The mean of differences that are given, one or more a maze, tested against 0. */
export function describeDifferences(
  values: Iterable<GroupedValue>,
  draws: Draws,
  name: string,
  { bounds = null }: { readonly bounds?: readonly [number, number] | null } = {},
): Contrast {
  const { permutations, level } = draws.options;
  const groups = groupMeans(values);
  const units = groups.flatMap(({ value }) => (value === null ? [] : [withoutRounding(value)]));
  const { mean, lo, hi } = draws.mean(groups, name);
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

/** Over the pairs that both sides planned. */
function contrastBounds(a: PairedSide, b: PairedSide): readonly [number, number] | null {
  const common = [...a.keys()].filter((pair) => b.has(pair));
  if (common.length === 0) return null;
  const [left, right] = [boundsOver(a, common), boundsOver(b, common)];
  return [left.lo - right.hi, left.hi - right.lo];
}

/** The mean over mazes with every missing value at the lowest, and at the highest, that it can be. */
function boundsOver(side: PairedSide, pairs: readonly string[]): Interval {
  const mazes = new Map<string, { sum: number; known: number; missing: number }>();
  for (const pair of pairs) {
    const cell = side.get(pair);
    if (cell === undefined) continue;
    const { sum, known, missing } = mazes.get(cell.maze) ?? { sum: 0, known: 0, missing: 0 };
    mazes.set(cell.maze, { sum: sum + cell.sum, known: known + cell.known, missing: missing + cell.missing });
  }
  const meanWith = (stand: number): number =>
    [...mazes.values()].reduce(
      (total, maze) => total + (maze.sum + maze.missing * stand) / (maze.known + maze.missing),
      0,
    ) / mazes.size;
  return { lo: meanWith(unitRange.lo), hi: meanWith(unitRange.hi) };
}
