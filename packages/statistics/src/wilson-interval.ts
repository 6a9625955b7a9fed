import { normalQuantile } from "./normal-quantile.ts";

/** Both bounds of an interval, lo <= hi. */
export interface Interval {
  readonly lo: number;
  readonly hi: number;
}

/**
 * The Wilson score interval of a proportion, without continuity correction: 0 <= lo <= successes / trials <= hi <= 1.
 *
 * `level` is the two-sided confidence in (0, 1). Null where there are no trials. Throws a RangeError on counts that are
 * not whole numbers with successes in 0 … trials.
 * SOURCE: Wilson (1927), JASA 22:209-212; method 3 of Newcombe (1998), Statistics in Medicine 17:857-872.
 */
export function wilsonInterval(successes: number, trials: number, level = 0.95): Interval | null {
  if (!Number.isSafeInteger(trials) || !Number.isSafeInteger(successes) || successes < 0 || successes > trials) {
    throw new RangeError(`expected whole successes in 0 … trials, got ${successes} of ${trials}`);
  }
  if (trials === 0) return null;
  const z = normalQuantile(1 - (1 - level) / 2);
  const share = successes / trials;
  const scale = 1 + (z * z) / trials;
  const centre = (share + (z * z) / (2 * trials)) / scale;
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials));
  // At the ends the bound is exact; rounding would leave 1e-17 above 0 or below 1.
  return {
    lo: successes === 0 ? 0 : Math.max(0, centre - half),
    hi: successes === trials ? 1 : Math.min(1, centre + half),
  };
}
