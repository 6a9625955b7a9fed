import { type Coefficient, defined, undefinedFor } from "./coefficient.ts";

/**
 * Krippendorff's alpha of ordered values, any number of raters, with gaps: 1 at full agreement, 0 at what chance gives,
 * better when higher.
 *
 * `ratings` has one row an item, one column a rater, null where a rater left the item out; the values' order counts, not
 * their distance. `n` is the number of items with two ratings or more: the others cannot be compared and do not enter.
 * Undefined (`singleClass`) where all comparable ratings are one value.
 * SOURCE: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, sections C and D (ordinal metric difference).
 */
export function krippendorffAlphaOrdinal(ratings: readonly (readonly (number | null)[])[]): Coefficient {
  const items = ratings.map((row) => row.filter((value) => value !== null)).filter((values) => values.length >= 2);
  if (items.length === 0) return undefinedFor("noItems", 0);
  const classes = [...new Set(items.flat())].sort((a, b) => a - b);
  const rankOf = new Map(classes.map((value, rank) => [value, rank]));
  const ranks = items.map((values) => values.map((value) => rankOf.get(value) ?? 0));
  return alphaOf(coincidences(ranks, classes.length), items.length);
}

/**
 * The same of two raters without gaps, from the table of how often which two classes met, classes in their order: for a
 * bootstrap, which draws thousands of tables. Throws a RangeError where the table is not square.
 */
export function krippendorffAlphaOrdinalOfTable(table: readonly (readonly number[])[]): Coefficient {
  if (!table.every((row) => row.length === table.length)) throw new RangeError("expected a square table");
  const pairs = table.map((row, first) => row.map((count, second) => count + (table[second]?.[first] ?? 0)));
  const n = pairs.flat().reduce((sum, count) => sum + count, 0) / 2;
  return n === 0 ? undefinedFor("noItems", 0) : alphaOf(pairs, n);
}

function alphaOf(pairs: readonly (readonly number[])[], n: number): Coefficient {
  const totals = pairs.map((row) => row.reduce((sum, count) => sum + count, 0));
  const all = totals.reduce((sum, count) => sum + count, 0);
  let [observed, expected] = [0, 0];
  for (let first = 0; first < pairs.length; first++) {
    for (let second = first + 1; second < pairs.length; second++) {
      const difference = ordinalDifference(totals, first, second);
      observed += difference * (pairs[first]?.[second] ?? 0);
      expected += difference * (totals[first] ?? 0) * (totals[second] ?? 0);
    }
  }
  // No two different values were ever given.
  if (expected === 0) return undefinedFor("singleClass", n);
  return defined(1 - ((all - 1) * observed) / expected, n);
}

/** How often two ratings of one item meet, both ways round, each item weighing as much as it has ratings. */
function coincidences(items: readonly (readonly number[])[], size: number): number[][] {
  const pairs = Array.from({ length: size }, () => Array.from({ length: size }, () => 0));
  for (const ranks of items) {
    for (const [at, first] of ranks.entries()) {
      const row = pairs[first] ?? [];
      for (const [other, second] of ranks.entries()) {
        if (at !== other) row[second] = (row[second] ?? 0) + 1 / (ranks.length - 1);
      }
    }
  }
  return pairs;
}

/** The square of how many ratings lie from one class to the other, of each end's own only half. */
function ordinalDifference(totals: readonly number[], first: number, second: number): number {
  const between = totals.slice(first, second + 1).reduce((sum, count) => sum + count, 0);
  return (between - ((totals[first] ?? 0) + (totals[second] ?? 0)) / 2) ** 2;
}
