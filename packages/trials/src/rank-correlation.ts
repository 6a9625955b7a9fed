import { averageRanks, bootstrapDraws, spearman } from "@hallumaze/statistics";

import type { Draws } from "./draws.ts";
import type { Estimate } from "./estimate.ts";

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
 * resample, so that its time grows with mazes and not with items. Null where a side has one value only.
 */
export function rankCorrelation(pairs: readonly RankedPair[], draws: Draws, name: string): RankCorrelation {
  const { value } = spearman(
    pairs.map(({ x }) => x),
    pairs.map(({ y }) => y),
  );
  const [xs, ys] = [averageRanks(pairs.map(({ x }) => x)), averageRanks(pairs.map(({ y }) => y))];
  const sums = new Map<string, Sums>();
  for (const [at, { maze }] of pairs.entries()) {
    const own = sums.get(maze) ?? noSums;
    sums.set(maze, add(own, momentsOf(xs[at] ?? 0, ys[at] ?? 0)));
  }
  const mazes = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, own]) => own);
  const { resamples, level } = draws.options;
  const { lo, hi } = bootstrapDraws(
    value,
    (random) => {
      let pooled = noSums;
      for (let drawn = 0; drawn < mazes.length; drawn++)
        pooled = add(pooled, mazes[random.below(mazes.length)] ?? noSums);
      return correlationOf(pooled);
    },
    { random: draws.stream(name), resamples: Math.min(resamples, 2000), level },
  );
  // One maze tells nothing about how mazes differ.
  const bounds = mazes.length < 2 ? { lo: null, hi: null } : { lo, hi };
  return { value, ...bounds, n: pairs.length, mazes: mazes.length };
}

/** n, Σx, Σy, Σx², Σy², Σxy. */
type Sums = readonly [number, number, number, number, number, number];

const noSums: Sums = [0, 0, 0, 0, 0, 0];

function momentsOf(x: number, y: number): Sums {
  return [1, x, y, x * x, y * y, x * y];
}

function add(a: Sums, b: Sums): Sums {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]];
}

function correlationOf([n, x, y, xx, yy, xy]: Sums): number | null {
  const product = (n * xx - x * x) * (n * yy - y * y);
  return product <= 1e-9 ? null : (n * xy - x * y) / Math.sqrt(product);
}
