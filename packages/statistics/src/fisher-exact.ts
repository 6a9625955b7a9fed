/**
 * The two-sided p-value of Fisher's exact test of a table of two rows: does a share differ between them?
 *
 * `hits` of `trials` in the first row, then in the second. Two-sided: all tables of the same margins that are no likelier
 * than the one seen. 1 where a margin is 0. Throws a RangeError on anything but whole counts. Time grows with the trials.
 * SOURCE: Fisher (1935), JRSS 98:39-82; the two-sided rule as R's fisher.test has it.
 */
export function fisherExact(
  first: { readonly hits: number; readonly trials: number },
  second: { readonly hits: number; readonly trials: number },
): number {
  for (const { hits, trials } of [first, second]) {
    if (!Number.isSafeInteger(trials) || !Number.isSafeInteger(hits) || hits < 0 || hits > trials) {
      throw new RangeError(`expected whole hits in 0 … trials, got ${hits} of ${trials}`);
    }
  }
  const hits = first.hits + second.hits;
  const [least, most] = [Math.max(0, hits - second.trials), Math.min(hits, first.trials)];
  // log of the chance of each table, up to a constant: each from the one before.
  const logs = [0];
  for (let count = least; count < most; count++) {
    const odds = ((first.trials - count) * (hits - count)) / ((count + 1) * (second.trials - hits + count + 1));
    logs.push((logs.at(-1) ?? 0) + Math.log(odds));
  }
  const top = logs.reduce((best, log) => Math.max(best, log), Number.NEGATIVE_INFINITY);
  const weights = logs.map((log) => Math.exp(log - top));
  const seen = weights[first.hits - least] ?? 0;
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return Math.min(1, sum(weights.filter((weight) => weight <= seen * (1 + 1e-7))) / sum(weights));
}
