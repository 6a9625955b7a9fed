import { mean } from "simple-statistics";

import type { GroupedValue } from "./bootstrap.ts";
import type { Interval } from "./wilson-interval.ts";

/**
 * Between which values a mean over groups would lie, were every missing value as low, or as high, as it can be: nothing is
 * assumed about why values are missing. Values are averaged within their group first, as in `bootstrapMean`.
 *
 * `range` holds the lowest and highest possible value. Null without values. With nothing missing both bounds are the mean.
 * SOURCE: Manski (1990), Nonparametric Bounds on Treatment Effects, American Economic Review 80(2):319-323.
 */
export function missingBounds(values: Iterable<GroupedValue>, range: Interval): Interval | null {
  if (!(range.lo <= range.hi)) throw new RangeError(`expected lo <= hi, got ${range.lo} and ${range.hi}`);
  const groups = new Map<string, { readonly known: number[]; missing: number }>();
  for (const { group, value } of values) {
    let entry = groups.get(group);
    if (entry === undefined) {
      entry = { known: [], missing: 0 };
      groups.set(group, entry);
    }
    if (value === null) entry.missing += 1;
    else entry.known.push(value);
  }
  if (groups.size === 0) return null;
  const meanWith = (stand: number): number =>
    mean(
      [...groups.values()].map(({ known, missing }) => {
        const sum = known.reduce((total, value) => total + value, 0);
        return (sum + missing * stand) / (known.length + missing);
      }),
    );
  return { lo: meanWith(range.lo), hi: meanWith(range.hi) };
}
