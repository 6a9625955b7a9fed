import type { Random } from "@hallumaze/foundation";
import { mean, quantileSorted } from "simple-statistics";

import { normalUpperTail } from "./normal-distribution.ts";
import { normalQuantile } from "./normal-quantile.ts";
import type { Interval } from "./wilson-interval.ts";

/**
 * How an interval is read off resampled means: their own quantiles; quantiles shifted for bias and skewness (`bca`); or
 * quantiles of the means divided by their own standard error (`studentised`), which may pass the values' own range.
 */
export type IntervalMethod = "percentile" | "bca" | "studentised";

/** How the resamples are drawn and read. */
interface ResamplingOptions {
  readonly random: Random;
  readonly resamples?: number;
  readonly level?: number;
  readonly method?: IntervalMethod;
}

/** Throws a RangeError on a level outside (0, 1) or a count of resamples that is none. */
export function checkBootstrap({ resamples = 10_000, level = 0.95 }: Omit<ResamplingOptions, "random">): void {
  if (!(level > 0 && level < 1)) throw new RangeError(`expected a level in (0, 1), got ${level}`);
  if (!Number.isSafeInteger(resamples) || resamples < 1) {
    throw new RangeError(`expected a whole number of resamples from 1, got ${resamples}`);
  }
}

/**
 * The interval of the mean of all units, from resampling the units of each stratum with replacement. At least two units.
 *
 * SOURCE: Efron (1987), Better Bootstrap Confidence Intervals, JASA 82:171-185 (`bca`, the acceleration from the units'
 * influence on the mean); Davison & Hinkley (1997), section 5.2.1 (`studentised`).
 */
export function resampledInterval(strata: readonly (readonly number[])[], options: ResamplingOptions): Interval {
  const { level = 0.95, method = "percentile" } = options;
  const tail = (1 - level) / 2;
  const draws = drawMeans(strata, options);
  if (method === "studentised") {
    const centre = mean(strata.flat());
    const error = standardError(strata);
    const ratios = draws.means.map((drawn, at) => (drawn - centre) / (draws.errors[at] ?? 0));
    // A resample of equal units has no error to divide by: 0/0 says nothing, x/0 is as far off as can be.
    const sorted = sortedOf(ratios.filter((ratio) => !Number.isNaN(ratio)));
    if (error === 0 || sorted.length === 0) return { lo: centre, hi: centre };
    return { lo: centre - quantileSorted(sorted, 1 - tail) * error, hi: centre - quantileSorted(sorted, tail) * error };
  }
  const sorted = sortedOf(draws.means);
  if (method === "percentile") return { lo: quantileSorted(sorted, tail), hi: quantileSorted(sorted, 1 - tail) };
  const [low, high] = shiftedTails(strata, draws.means, tail);
  return { lo: quantileSorted(sorted, low), hi: quantileSorted(sorted, high) };
}

function drawMeans(
  strata: readonly (readonly number[])[],
  { random, resamples = 10_000, method }: ResamplingOptions,
): { readonly means: Float64Array; readonly errors: Float64Array } {
  const n = strata.reduce((sum, units) => sum + units.length, 0);
  const means = new Float64Array(resamples);
  const errors = new Float64Array(method === "studentised" ? resamples : 0);
  for (let resample = 0; resample < resamples; resample++) {
    let [sum, variance] = [0, 0];
    for (const units of strata) {
      const { length } = units;
      let [own, squares] = [0, 0];
      for (let draw = 0; draw < length; draw++) {
        const value = units[random.below(length)] ?? 0;
        own += value;
        squares += value * value;
      }
      sum += own;
      if (length > 1) variance += (length * Math.max(0, squares - (own * own) / length)) / (length - 1);
    }
    means[resample] = sum / n;
    if (method === "studentised") errors[resample] = Math.sqrt(variance) / n;
  }
  return { means, errors };
}

function standardError(strata: readonly (readonly number[])[]): number {
  let [variance, n] = [0, 0];
  for (const units of strata) {
    n += units.length;
    if (units.length < 2) continue;
    const centre = mean([...units]);
    const squares = units.reduce((sum, value) => sum + (value - centre) ** 2, 0);
    variance += (units.length * squares) / (units.length - 1);
  }
  return Math.sqrt(variance) / n;
}

/** The quantiles of the resampled means that BCa takes for the two ends. */
function shiftedTails(
  strata: readonly (readonly number[])[],
  means: Float64Array,
  tail: number,
): readonly [number, number] {
  const centre = mean(strata.flat());
  // Equal values add up to a last bit more or less, by the order they were drawn in.
  const tolerance = 1e-12 * Math.max(1, Math.abs(centre));
  let below = 0;
  for (const drawn of means) below += drawn < centre - tolerance ? 1 : drawn <= centre + tolerance ? 0.5 : 0;
  const share = Math.min(1 - 0.5 / means.length, Math.max(0.5 / means.length, below / means.length));
  const bias = normalQuantile(share);
  let [cubes, squares] = [0, 0];
  for (const units of strata) {
    const own = mean([...units]);
    for (const value of units) {
      cubes += (value - own) ** 3;
      squares += (value - own) ** 2;
    }
  }
  const acceleration = squares <= 1e-24 ? 0 : cubes / (6 * squares ** 1.5);
  const shifted = (z: number): number => {
    const moved = bias + z;
    return 1 - normalUpperTail(bias + moved / (1 - acceleration * moved));
  };
  const z = normalQuantile(1 - tail);
  return [shifted(-z), shifted(z)];
}

function sortedOf(values: Float64Array): number[] {
  return Array.from(values.sort());
}
