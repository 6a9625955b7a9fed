import { averageRanks, bootstrapDraws, correlateRanks } from "@hallumaze/statistics";

import type { Draws } from "./draws.ts";
import type { Estimate } from "./estimate.ts";
import type { Metric } from "./metric-names.ts";
import type { Trial } from "./trial-table.ts";

/** Two numbers of one item, with the maze that it belongs to. */
export interface RankedPair {
  readonly maze: string;
  readonly x: number;
  readonly y: number;
}

/** A rank correlation with its interval over mazes. */
export interface RankCorrelation extends Estimate {
  /** Pairs that entered. */
  readonly n: number;
  readonly mazes: number;
}

/**
 * Spearman's correlation with an interval from resampling whole mazes. The ranks are those of the whole sample in every
 * resample, so that its time grows with mazes and not with items. Null where a side has one value only. The pairs are read
 * once and kept as columns: a million of them need not be held by the caller.
 */
export function rankCorrelation(pairs: Iterable<RankedPair>, draws: Draws, name: string): RankCorrelation {
  const places = new Map<string, number>();
  const [own, xs, ys]: [number[], number[], number[]] = [[], [], []];
  for (const { maze, x, y } of pairs) {
    const place = places.get(maze) ?? places.size;
    places.set(maze, place);
    own.push(place);
    xs.push(x);
    ys.push(y);
  }
  const [xRanks, yRanks] = [averageRanks(xs), averageRanks(ys)];
  const { value } = correlateRanks(xRanks, yRanks);
  const sums = mazeSums(places, own, xRanks, yRanks);
  const { resamples, level } = draws.options;
  const pooled = new Float64Array(momentCount);
  const { lo, hi } = bootstrapDraws(
    value,
    (random) => {
      pooled.fill(0);
      for (let drawn = 0; drawn < places.size; drawn++) add(pooled, 0, sums, random.below(places.size) * momentCount);
      return correlationOf(pooled);
    },
    { random: draws.stream(name), resamples: Math.min(resamples, 2000), level },
  );
  // One maze tells nothing about how mazes differ.
  const bounds = places.size < 2 ? { lo: null, hi: null } : { lo, hi };
  return { value, ...bounds, n: own.length, mazes: places.size };
}

/** Two metrics of each trial that has both, one at a time. */
export function* rankedPairs(trials: Iterable<Trial>, one: Metric, other: Metric): Generator<RankedPair> {
  for (const trial of trials) {
    const [x, y] = [trial.value(one), trial.value(other)];
    if (x !== null && y !== null) yield { maze: trial.maze.key, x, y };
  }
}

/** Of a maze: n, Σx, Σy, Σx², Σy², Σxy. */
const momentCount = 6;

/** The moments of every maze's ranks, side by side, by the mazes' names. */
function mazeSums(
  places: ReadonlyMap<string, number>,
  own: readonly number[],
  xs: readonly number[],
  ys: readonly number[],
): Float64Array {
  const sums = new Float64Array(places.size * momentCount);
  const sorted = new Uint32Array(places.size);
  for (const [at, [, place]] of [...places].sort(([a], [b]) => (a < b ? -1 : 1)).entries()) sorted[place] = at;
  for (let at = 0; at < own.length; at++) {
    const [x, y] = [xs[at] ?? 0, ys[at] ?? 0];
    add(sums, (sorted[own[at] ?? 0] ?? 0) * momentCount, [1, x, y, x * x, y * y, x * y], 0);
  }
  return sums;
}

function add(to: Float64Array, toAt: number, from: ArrayLike<number>, fromAt: number): void {
  for (let moment = 0; moment < momentCount; moment++)
    to[toAt + moment] = (to[toAt + moment] ?? 0) + (from[fromAt + moment] ?? 0);
}

function correlationOf([n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0]: Float64Array): number | null {
  const product = (n * xx - x * x) * (n * yy - y * y);
  return product <= 1e-9 ? null : (n * xy - x * y) / Math.sqrt(product);
}
