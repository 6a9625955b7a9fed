import type { Interval } from "./wilson-interval.ts";

/**
 * The Clopper–Pearson ("exact") interval of a proportion: it covers at least at its stated level whatever the true
 * proportion is. 0 <= lo <= successes / trials <= hi <= 1.
 *
 * `level` is the two-sided confidence in (0, 1). Null where there are no trials. Throws a RangeError on counts that are
 * not whole numbers with successes in 0 … trials, and on a level outside. Time grows with trials.
 *
 * Each bound is found from its definition (the proportion at which a tail of the binomial distribution holds half of
 * what the level leaves), by halving. A library's beta quantile would do the same: the one that is right to the last
 * digit brings 28 MB in 234 packages, the small one is right to ten digits and has no types.
 * SOURCE: Clopper & Pearson (1934), Biometrika 26:404-413; method 5 of Newcombe (1998), Statistics in Medicine 17:857-872.
 */
export function clopperPearson(successes: number, trials: number, level = 0.95): Interval | null {
  if (!Number.isSafeInteger(trials) || !Number.isSafeInteger(successes) || successes < 0 || successes > trials) {
    throw new RangeError(`expected whole successes in 0 … trials, got ${successes} of ${trials}`);
  }
  if (!(level > 0 && level < 1)) throw new RangeError(`expected a level in (0, 1), got ${level}`);
  if (trials === 0) return null;
  const tail = (1 - level) / 2;
  return { lo: lowerBound(successes, trials, tail), hi: 1 - lowerBound(trials - successes, trials, tail) };
}

/** The proportion at which `successes` or more of `trials` have the probability `tail`. */
function lowerBound(successes: number, trials: number, tail: number): number {
  if (successes === 0) return 0;
  const chooseLogs = logChoices(trials);
  let [below, above] = [0, successes / trials];
  // A double has 53 bits; a bound near 0 needs some more halvings to fill them.
  for (let halving = 0; halving < 100; halving++) {
    const middle = (below + above) / 2;
    if (middle === below || middle === above) break;
    if (upperTail(successes, trials, middle, chooseLogs) < tail) below = middle;
    else above = middle;
  }
  return (below + above) / 2;
}

/** P(X >= successes) of X ~ Binomial(trials, proportion), for a proportion at or below successes / trials. */
function upperTail(successes: number, trials: number, proportion: number, chooseLogs: Float64Array): number {
  const [logHit, logMiss] = [Math.log(proportion), Math.log1p(-proportion)];
  let sum = 0;
  for (let count = successes; count <= trials; count++) {
    const misses = trials - count;
    const term = Math.exp((chooseLogs[count] ?? 0) + count * logHit + (misses === 0 ? 0 : misses * logMiss));
    sum += term;
    // Above the mean the terms fall faster and faster, so that what is left cannot show.
    if (term < sum * 1e-18) break;
  }
  return sum;
}

/** log(trials choose count), for each count in 0 … trials. */
function logChoices(trials: number): Float64Array {
  const logs = new Float64Array(trials + 1);
  for (let count = 1; count <= trials; count++) {
    logs[count] = (logs[count - 1] ?? 0) + Math.log((trials - count + 1) / count);
  }
  return logs;
}
