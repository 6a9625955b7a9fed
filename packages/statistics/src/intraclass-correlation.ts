import type { GroupedValue } from "./bootstrap.ts";

/** How alike the values of one group are. */
export interface IntraclassCorrelation {
  /** At most 1: the share of the variance that lies between groups; null where it cannot be told. */
  readonly value: number | null;
  /** Groups with two values or more; the others do not enter. */
  readonly groups: number;
  readonly values: number;
}

/**
 * ICC(1): how alike repeats of one group are, 1 where they agree exactly, about 0 where they are as different as any two
 * values. Null with fewer than two groups of two values, or where all values are one. Groups may differ in size. Below 0
 * means that repeats differ more than groups do.
 *
 * SOURCE: Shrout & Fleiss (1979), Psychological Bulletin 86:420-428, case 1; Donner (1986), International Statistical
 * Review 54:67-82 (mean group size).
 */
export function intraclassCorrelation(values: Iterable<GroupedValue>): IntraclassCorrelation {
  const byGroup = new Map<string, number[]>();
  for (const { group, value } of values) {
    if (value === null) continue;
    const own = byGroup.get(group);
    if (own === undefined) byGroup.set(group, [value]);
    else own.push(value);
  }
  const groups = [...byGroup.values()].filter(({ length }) => length >= 2);
  const all = groups.flat();
  const [k, n] = [groups.length, all.length];
  if (k < 2) return { value: null, groups: k, values: n };
  const grand = all.reduce((sum, value) => sum + value, 0) / n;
  let [between, within, squares] = [0, 0, 0];
  for (const group of groups) {
    const own = group.reduce((sum, value) => sum + value, 0) / group.length;
    between += group.length * (own - grand) ** 2;
    within += group.reduce((sum, value) => sum + (value - own) ** 2, 0);
    squares += group.length ** 2;
  }
  const [betweenMean, withinMean] = [between / (k - 1), within / (n - k)];
  const size = (n - squares / n) / (k - 1);
  const total = betweenMean + (size - 1) * withinMean;
  // Equal values leave only what rounding leaves.
  const value = total <= 1e-24 ? null : (betweenMean - withinMean) / total;
  return { value, groups: k, values: n };
}
