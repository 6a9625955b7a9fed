import {
  detectableDifference,
  type GroupedValue,
  groupMeans,
  signFlipTest,
  summarise,
  wilcoxonSignedRank,
} from "@hallumaze/statistics";

import type { Draws } from "./draws.ts";
import { stratumOf } from "./maze-means.ts";
import { type Metric, unitRange } from "./metric-names.ts";
import type { Estimate } from "./estimate.ts";
import type { Condition, Trial } from "./trial-table.ts";

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
export type PairKey = (condition: Condition) => string;

/** One side of a comparison, reduced to its pairs, by maze and key: a few numbers each, however many repeats there are. */
export type PairedSide = ReadonlyMap<string, PairedMaze>;

interface PairedMaze {
  readonly stratum: string;
  readonly cells: Map<string, PairedCell>;
}

interface PairedCell {
  sum: number;
  known: number;
  missing: number;
}

/** Reduces trials to their pairs: those of one maze and one `pairKey`. */
export function pairedSide(
  trials: readonly Trial[],
  metric: Metric,
  pairKey: PairKey = (condition) => condition.key,
): PairedSide {
  const side = new Map<string, PairedMaze>();
  // Conditions are few: a key made for each trial would be most of the work.
  const keys = new Map<Condition, string>();
  for (const trial of trials) {
    const { maze, condition } = trial;
    let key = keys.get(condition);
    if (key === undefined) {
      key = pairKey(condition);
      keys.set(condition, key);
    }
    let own = side.get(maze.key);
    if (own === undefined) {
      own = { stratum: stratumOf(maze), cells: new Map() };
      side.set(maze.key, own);
    }
    let cell = own.cells.get(key);
    if (cell === undefined) {
      cell = newCell();
      own.cells.set(key, cell);
    }
    const value = trial.value(metric);
    cell.sum += value ?? 0;
    if (value === null) cell.missing += 1;
    else cell.known += 1;
  }
  return side;
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
  return describeDifferences(differencesOf(a, b), draws, name, { bounds: contrastBounds(a, b) });
}

/** A difference for each pair that either side has; null where one has no value of it. */
function* differencesOf(a: PairedSide, b: PairedSide): Generator<GroupedValue> {
  for (const [group, { stratum, cells }] of a) {
    const others = b.get(group)?.cells;
    for (const [key, left] of cells) yield { group, stratum, value: differenceOf(left, others?.get(key)) };
    for (const key of others?.keys() ?? []) if (!cells.has(key)) yield { group, stratum, value: null };
  }
  for (const [group, { stratum }] of b) if (!a.has(group)) yield { group, stratum, value: null };
}

function differenceOf(left: PairedCell, right: PairedCell | undefined): number | null {
  if (right === undefined || left.known === 0 || right.known === 0) return null;
  return left.sum / left.known - right.sum / right.known;
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
  const left = { lo: 0, hi: 0 };
  const right = { lo: 0, hi: 0 };
  let mazes = 0;
  for (const [group, { cells }] of a) {
    const others = b.get(group)?.cells;
    const [own, their] = [newCell(), newCell()];
    for (const [key, cell] of cells) {
      const other = others?.get(key);
      if (other === undefined) continue;
      addCell(own, cell);
      addCell(their, other);
    }
    if (own.known + own.missing === 0) continue;
    mazes += 1;
    for (const [bounds, cell] of [
      [left, own],
      [right, their],
    ] as const) {
      bounds.lo += meanWith(cell, unitRange.lo);
      bounds.hi += meanWith(cell, unitRange.hi);
    }
  }
  if (mazes === 0) return null;
  return [left.lo / mazes - right.hi / mazes, left.hi / mazes - right.lo / mazes];
}

function newCell(): PairedCell {
  return { sum: 0, known: 0, missing: 0 };
}

function addCell(to: PairedCell, { sum, known, missing }: PairedCell): void {
  to.sum += sum;
  to.known += known;
  to.missing += missing;
}

/** A maze's mean with every missing value at `stand`. */
function meanWith({ sum, known, missing }: PairedCell, stand: number): number {
  return (sum + missing * stand) / (known + missing);
}
