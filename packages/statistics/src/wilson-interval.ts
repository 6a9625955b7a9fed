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
  return trials === 0 ? null : scoreInterval(successes / trials, trials, level);
}

/**
 * The same where trials come in groups (repeats of a maze) that are alike: the trials count as fewer, by how much more the
 * groups' shares vary than as many independent trials would. With one trial a group it is the Wilson interval itself.
 *
 * `groups` holds each group's counts; those without a trial do not enter. The share is successes / trials over all. Null
 * where there are no trials. `trials` of the result is how many independent ones they are worth, at most their number.
 * SOURCE: Korn & Graubard (1998), Survey Methodology 24:193-201, and Dean & Pagano (2015), Journal of Survey Statistics and
 * Methodology 3:484-503 (effective sample size in the Wilson interval).
 */
export function clusteredWilsonInterval(
  groups: readonly { readonly successes: number; readonly trials: number }[],
  level = 0.95,
): (Interval & { readonly trials: number }) | null {
  const asked = groups.filter(({ trials }) => trials > 0);
  const trials = asked.reduce((sum, group) => sum + group.trials, 0);
  if (trials === 0) return null;
  const share = asked.reduce((sum, { successes }) => sum + successes, 0) / trials;
  const independent = share * (1 - share) * trials;
  const seen = asked.reduce((sum, group) => sum + (group.successes - share * group.trials) ** 2, 0);
  // All alike: nothing tells how alike groups are, so each group counts once.
  const worth = independent === 0 ? asked.length : trials / Math.max(1, seen / independent);
  return { ...scoreInterval(share, worth, level), trials: worth };
}

function scoreInterval(share: number, trials: number, level: number): Interval {
  const z = normalQuantile(1 - (1 - level) / 2);
  const scale = 1 + (z * z) / trials;
  const centre = (share + (z * z) / (2 * trials)) / scale;
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials));
  // At the ends the bound is exact; rounding would leave 1e-17 above 0 or below 1.
  return { lo: share === 0 ? 0 : Math.max(0, centre - half), hi: share === 1 ? 1 : Math.min(1, centre + half) };
}
