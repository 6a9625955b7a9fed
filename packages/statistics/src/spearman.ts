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
  const [left, right]: [number[], number[]] = [[], []];
  for (const [index, x] of xs.entries()) {
    const y = ys[index] ?? null;
    if (x === null || y === null) continue;
    left.push(x);
    right.push(y);
  }
  if (!left.every(Number.isFinite) || !right.every(Number.isFinite)) throw new RangeError("a value is not finite");
  return correlateRanks(averageRanks(left), averageRanks(right));
}

/** Spearman's correlation of lists that are ranked already, of one length of two or more. */
export function correlateRanks(first: number[], second: number[]): Coefficient {
  const isOne = (ranks: readonly number[]): boolean => ranks.every((rank) => rank === ranks[0]);
  if (first.length < 2) return undefinedFor("noItems", first.length);
  if (isOne(first) || isOne(second)) return undefinedFor("singleClass", first.length);
  return defined(sampleCorrelation(first, second), first.length);
}

/** Each value's rank from 1, in the values' own order; equal values share the mean of the ranks that they fill. */
export function averageRanks(values: readonly number[]): number[] {
  // Places, not pairs: a million values are ranked in the room of a few columns.
  const sorted = Uint32Array.from(values, (_, at) => at).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const ranks = values.map(() => 0);
  for (let from = 0; from < sorted.length; ) {
    const value = values[sorted[from] ?? 0];
    let to = from;
    while (to < sorted.length && values[sorted[to] ?? 0] === value) to++;
    const rank = (from + 1 + to) / 2;
    for (let at = from; at < to; at++) ranks[sorted[at] ?? 0] = rank;
    from = to;
  }
  return ranks;
}
