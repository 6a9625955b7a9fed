/**
 * P(Z > z) of the standard normal distribution, to a relative error of about 1e-13, also far out in the tail where
 * 1 - P(Z <= z) would be 0. A library's error function stops at seven digits (simple-statistics).
 *
 * SOURCE: near the middle the series of Marsaglia (2004), Evaluating the Normal Distribution, Journal of Statistical
 * Software 11(4); in the tail the continued fraction 26.2.14 of Abramowitz & Stegun (1964).
 */
export function normalUpperTail(z: number): number {
  if (Number.isNaN(z)) throw new RangeError("expected a number, got NaN");
  if (z < 0) return 1 - normalUpperTail(-z);
  const density = Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI);
  if (z < 2.5) return 0.5 - density * oddSeries(z);
  let fraction = z;
  for (let term = 160; term >= 1; term--) fraction = z + term / fraction;
  return density / fraction;
}

/** Two-sided p-value of a standard normal statistic, in (0, 1]. */
export function normalTwoSided(z: number): number {
  return Math.min(1, 2 * normalUpperTail(Math.abs(z)));
}

/** z + z³/3 + z⁵/(3·5) + …, until a term no longer shows. */
function oddSeries(z: number): number {
  let [sum, term] = [0, z];
  for (let odd = 3; sum + term !== sum; odd += 2) {
    sum += term;
    term *= (z * z) / odd;
  }
  return sum;
}
