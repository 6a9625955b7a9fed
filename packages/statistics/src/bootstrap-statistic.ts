import type { Random } from "@hallumaze/foundation";
import { quantileSorted } from "simple-statistics";

import type { BootstrapOptions } from "./bootstrap.ts";

/** A statistic with its percentile interval. */
export interface StatisticEstimate {
  /** The statistic of the items themselves; null where it is undefined. */
  readonly value: number | null;
  /** Null where the statistic is undefined for the items or for more than half of the resamples. */
  readonly lo: number | null;
  readonly hi: number | null;
  /** Resamples for which the statistic is undefined: they do not enter the interval. */
  readonly undefinedResamples: number;
}

/**
 * Any statistic of a list of items with its percentile interval, from resampling whole items with replacement.
 *
 * `statistic` gives null where it is undefined (a kappa of a resample of one class). Time grows with resamples × what the
 * statistic costs. SOURCE: Efron & Tibshirani (1993), An Introduction to the Bootstrap, ch. 13 (percentile).
 */
export function bootstrapStatistic<Item>(
  items: readonly Item[],
  statistic: (items: readonly Item[]) => number | null,
  options: BootstrapOptions,
): StatisticEstimate {
  return bootstrapDraws(statistic(items), (random) => statistic(resample(items, random)), options);
}

/**
 * The percentile interval of an estimate whose resampling the caller does, such as one over several sets. `draw` gives
 * the estimate of one resample, or null where it is undefined. SOURCE: as `bootstrapStatistic`.
 */
export function bootstrapDraws(
  value: number | null,
  draw: (random: Random) => number | null,
  options: BootstrapOptions,
): StatisticEstimate {
  const { random, resamples = 10_000, level = 0.95 } = options;
  if (!(level > 0 && level < 1)) throw new RangeError(`expected a level in (0, 1), got ${level}`);
  if (!Number.isSafeInteger(resamples) || resamples < 1) {
    throw new RangeError(`expected a whole number of resamples from 1, got ${resamples}`);
  }
  if (value === null) return { value, lo: null, hi: null, undefinedResamples: 0 };
  const known: number[] = [];
  for (let count = 0; count < resamples; count++) {
    const drawn = draw(random);
    if (drawn !== null) known.push(drawn);
  }
  const undefinedResamples = resamples - known.length;
  if (known.length === 0 || undefinedResamples > resamples / 2)
    return { value, lo: null, hi: null, undefinedResamples };
  const sorted = Array.from(Float64Array.from(known).sort());
  const tail = (1 - level) / 2;
  return { value, lo: quantileSorted(sorted, tail), hi: quantileSorted(sorted, 1 - tail), undefinedResamples };
}

/** As many items as there are, drawn with replacement. */
export function resample<Item>(items: readonly Item[], random: Random): Item[] {
  // Its length at once: an array that grows is copied over and over, ten thousand times a figure.
  const drawn: Item[] = [];
  drawn.length = items.length;
  for (let at = 0; at < items.length; at++) {
    const item = items[random.below(items.length)];
    if (item !== undefined) drawn[at] = item;
  }
  return drawn;
}
