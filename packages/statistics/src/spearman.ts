import { sampleCorrelation } from "simple-statistics";

import { type Coefficient, defined, undefinedFor } from "./coefficient.ts";

/**
 * Spearman's rank correlation, equal values sharing the mean of their ranks: -1 … 1.
 *
 * Pairs with a null on either side do not enter. Undefined (`noItems`) under two pairs, (`singleClass`) where a side has
 * one value only. Throws a RangeError on lists of different lengths or a value that is not finite. The library's own
 * rank correlation gives equal values different ranks, by their place in the list.
 * SOURCE: Spearman (1904), American Journal of Psychology 15:72-101; Kendall (1948), Rank Correlation Methods, ch. 3 (ties).
 */
export function spearman(xs: readonly (number | null)[], ys: readonly (number | null)[]): Coefficient {
  if (xs.length !== ys.length) throw new RangeError(`expected lists of one length, got ${xs.length} and ${ys.length}`);
  const pairs: [number, number][] = [];
  for (const [index, x] of xs.entries()) {
    const y = ys[index] ?? null;
    if (x !== null && y !== null) pairs.push([x, y]);
  }
  if (!pairs.flat().every(Number.isFinite)) throw new RangeError("a value is not finite");
  if (pairs.length < 2) return undefinedFor("noItems", pairs.length);
  const [first, second] = [averageRanks(pairs.map(([x]) => x)), averageRanks(pairs.map(([, y]) => y))];
  if (new Set(first).size === 1 || new Set(second).size === 1) return undefinedFor("singleClass", pairs.length);
  return defined(sampleCorrelation(first, second), pairs.length);
}

/** Each value's rank from 1, in the values' own order; equal values share the mean of the ranks that they fill. */
export function averageRanks(values: readonly number[]): number[] {
  const sorted = values.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value);
  const ranks = values.map(() => 0);
  for (let from = 0; from < sorted.length; ) {
    let to = from;
    while (to < sorted.length && sorted[to]?.value === sorted[from]?.value) to++;
    for (const { index } of sorted.slice(from, to)) ranks[index] = (from + 1 + to) / 2;
    from = to;
  }
  return ranks;
}
