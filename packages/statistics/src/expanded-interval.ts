import { normalTwoSided } from "./normal-distribution.ts";
import { normalQuantile } from "./normal-quantile.ts";
import type { IntervalMethod } from "./resampled-interval.ts";
import type { Interval } from "./wilson-interval.ts";

/** Units from which an interval of a mean is worked out and not drawn. */
export const expandedFrom = 5000;

/** What is further from normal than this is drawn: about a hundred units that differ from the rest reach it. */
const skewnessMax = 0.1;
const excessMax = 0.02;

/**
 * The interval that resampling the units of each stratum would give of their mean, without a draw: of a resampled mean all
 * moments are known, and from `expandedFrom` units on its quantiles follow from the first four (Cornish and Fisher), nearer
 * than 10,000 draws find them: those leave some 3 % of the standard error. With values of one step only (right or wrong) it
 * lies within half a step of a resampled mean, as any quantile between steps does.
 *
 * Null where there are fewer units or where the resampled mean is too far from normal (nearly all units have one value):
 * then it must be drawn. Time grows with the units.
 *
 * SOURCE: Hall (1992), The Bootstrap and Edgeworth Expansion, sections 2.5 and 3.10 (percentile, BCa and studentised
 * quantiles by expansion); Cornish & Fisher (1938), Revue de l'Institut International de Statistique 5:307-320.
 */
export function expandedInterval(
  strata: readonly (readonly number[])[],
  { level, method }: { readonly level: number; readonly method: IntervalMethod },
): Interval | null {
  const n = strata.reduce((sum, units) => sum + units.length, 0);
  if (n < expandedFrom) return null;
  const { centre, error, skewness, excess } = lawOfMean(strata, n);
  if (error <= 1e-12 * Math.max(1, Math.abs(centre))) return { lo: centre, hi: centre };
  if (Math.abs(skewness) > skewnessMax || Math.abs(excess) > excessMax) return null;
  const z = normalQuantile((1 + level) / 2);
  if (method === "studentised") {
    const quantile = (at: number): number => at - (skewness / 6) * (2 * at * at + 1);
    return { lo: centre - quantile(z) * error, hi: centre - quantile(-z) * error };
  }
  // Bias and acceleration of BCa are both a sixth of the skewness: the mean lies above its resamples' median by as much.
  const shift = skewness / 6;
  const shifted = (at: number): number => shift + (shift + at) / (1 - shift * (shift + at));
  const ends = method === "bca" ? [shifted(-z), shifted(z)] : [-z, z];
  const [lo = centre, hi = centre] = ends.map(
    (at) =>
      centre +
      error *
        (at +
          (skewness / 6) * (at * at - 1) +
          (excess / 24) * (at ** 3 - 3 * at) -
          (skewness ** 2 / 36) * (2 * at ** 3 - 5 * at)),
  );
  return { lo, hi };
}

/** Mean, standard deviation, skewness and excess kurtosis of the mean of a resample: its cumulants add up over draws. */
function lawOfMean(strata: readonly (readonly number[])[], n: number) {
  let [total, second, third, fourth] = [0, 0, 0, 0];
  for (const units of strata) {
    let sum = 0;
    for (const value of units) sum += value;
    total += sum;
    const centre = sum / units.length;
    let [squares, cubes, fourths] = [0, 0, 0];
    for (const value of units) {
      const square = (value - centre) ** 2;
      squares += square;
      cubes += square * (value - centre);
      fourths += square * square;
    }
    second += squares;
    third += cubes;
    fourth += fourths - (3 * squares * squares) / units.length;
  }
  return {
    centre: total / n,
    error: Math.sqrt(second) / n,
    skewness: second === 0 ? 0 : third / second ** 1.5,
    excess: second === 0 ? 0 : fourth / second ** 2,
  };
}

/**
 * The two-sided p-value of a sum of differences whose signs are flipped, without a draw; of it too all moments are known. Null
 * where the differences that are not 0 are fewer than `expandedFrom`, or a few of them are most of the sum. Differences of one
 * size put it at most 0.008 off, near 0.5, and 0.002 near 0.05: as far as 10,000 draws do.
 *
 * SOURCE: as `expandedInterval`, section 2.3 (Edgeworth expansion of a distribution).
 */
export function expandedFlips(differences: readonly number[]): number | null {
  if (differences.length < expandedFrom) return null;
  let [sum, squares, fourths] = [0, 0, 0];
  for (const difference of differences) {
    const square = difference * difference;
    sum += difference;
    squares += square;
    fourths += square * square;
  }
  const excess = (-2 * fourths) / (squares * squares);
  if (!(Math.abs(excess) <= excessMax)) return null;
  const z = Math.abs(sum) / Math.sqrt(squares);
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  return Math.min(1, Math.max(0, normalTwoSided(z) + (excess / 12) * (z ** 3 - 3 * z) * density));
}
