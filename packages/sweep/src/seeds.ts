import type { Problem, SpecPath } from "./spec-error.ts";
import type { SeedRange } from "./spec.ts";

/**
 * The 30 seeds of the published benchmark, which a spec names `published30`.
 * SOURCE: the published trials of HalluMaze v1.1 (5×5 and 7×7), in their order.
 */
export const PUBLISHED_30: readonly number[] = [
  1001, 2002, 3003, 4004, 5005, 6006, 7007, 8008, 9009, 1010, 1111, 2222, 3333, 4444, 5555, 6666, 7777, 8888, 9999,
  1234, 2345, 3456, 4567, 5678, 6789, 7890, 8901, 9012, 1357, 2468,
];

/** The most seeds that a spec may list, repeats included. */
export const MAX_SEEDS = 1_000_000;

/** Seeds as ranges, in the order listed. Where there are problems, the ranges are incomplete. */
export interface SeedList {
  readonly ranges: readonly SeedRange[];
  readonly problems: readonly Problem[];
}

/** Reads seeds as a spec lists them: numbers, inclusive ranges `"2000..2029"`, `published30`. Repeats stay. */
export function readSeeds(entries: readonly (number | string)[], path: SpecPath): SeedList {
  const problems: Problem[] = [];
  const ranges: SeedRange[] = [];
  entries.forEach((entry, index) => {
    const read = readEntry(entry);
    if (typeof read === "string") problems.push({ path: [...path, index], message: read });
    else ranges.push(...read);
  });
  const total = countSeeds(ranges);
  if (total > MAX_SEEDS) {
    const [listed, most] = [total, MAX_SEEDS].map((count) => count.toLocaleString("en-US"));
    problems.push({ path, message: `${listed} seeds are listed; at most ${most} fit in one sweep` });
  }
  return { ranges, problems };
}

/** Drops each seed that stood before; `first` is the first one dropped, null where none was. At most MAX_SEEDS go in. */
export function dropRepeatedSeeds(listed: readonly SeedRange[]): {
  readonly ranges: readonly SeedRange[];
  readonly dropped: number;
  readonly first: number | null;
} {
  if (!overlaps(listed)) return { ranges: joinNeighbours(listed), dropped: 0, first: null };
  const seen = new Set<number>();
  let dropped = 0;
  let firstDropped: number | null = null;
  for (const { first, last } of listed) {
    for (let seed = first; seed <= last; seed++) {
      if (seen.has(seed)) {
        dropped++;
        firstDropped ??= seed;
      }
      seen.add(seed);
    }
  }
  const kept = [...seen].map((seed) => ({ first: seed, last: seed }));
  return { ranges: joinNeighbours(kept), dropped, first: firstDropped };
}

/** How many seeds ranges hold, repeats included. */
export function countSeeds(ranges: readonly SeedRange[]): number {
  return ranges.reduce((total, { first, last }) => total + (last - first + 1), 0);
}

/** Takes the seeds of `excluded` (any order, overlaps allowed) out of ranges, whose order stays. */
export function subtractSeeds(ranges: readonly SeedRange[], excluded: readonly SeedRange[]): readonly SeedRange[] {
  const cuts = mergeSorted(excluded);
  if (cuts.length === 0) return ranges;
  const left: SeedRange[] = [];
  for (const range of ranges) {
    let first = range.first;
    for (let index = firstCutFrom(cuts, range.first); index < cuts.length; index++) {
      const cut = cuts[index];
      if (cut === undefined || cut.first > range.last) break;
      if (cut.first > first) left.push({ first, last: cut.first - 1 });
      first = cut.last + 1;
    }
    if (first <= range.last) left.push({ first, last: range.last });
  }
  return left;
}

function mergeSorted(ranges: readonly SeedRange[]): readonly SeedRange[] {
  const merged: { first: number; last: number }[] = [];
  for (const { first, last } of [...ranges].sort((a, b) => a.first - b.first)) {
    const end = merged.at(-1);
    if (end !== undefined && first <= end.last + 1) end.last = Math.max(end.last, last);
    else merged.push({ first, last });
  }
  return merged;
}

/** Index of the first cut that ends at or after a seed: a binary search. */
function firstCutFrom(cuts: readonly SeedRange[], seed: number): number {
  let low = 0;
  let high = cuts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((cuts[middle]?.last ?? 0) < seed) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Writes ranges as a spec lists them. */
export function writeSeeds(ranges: readonly SeedRange[]): (number | string)[] {
  return ranges.map(({ first, last }) => (first === last ? first : `${first}..${last}`));
}

function joinNeighbours(ranges: Iterable<SeedRange>): SeedRange[] {
  const joined: { first: number; last: number }[] = [];
  for (const { first, last } of ranges) {
    const end = joined.at(-1);
    if (end !== undefined && first === end.last + 1) end.last = last;
    else joined.push({ first, last });
  }
  return joined;
}

function overlaps(ranges: readonly SeedRange[]): boolean {
  const sorted = [...ranges].sort((a, b) => a.first - b.first);
  return sorted.some(({ first }, index) => first <= (sorted[index - 1]?.last ?? -1));
}

function readEntry(entry: number | string): readonly SeedRange[] | string {
  // Adding 0 turns -0 into 0, which is a seed.
  if (typeof entry === "number") return [{ first: entry + 0, last: entry + 0 }];
  if (entry === "published30") return PUBLISHED_30.map((seed) => ({ first: seed, last: seed }));
  const [first, last] = entry.split("..").map(Number);
  if (first === undefined || last === undefined) return "not a range";
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last)) return "a seed is at most 9007199254740991";
  return first > last ? `the range runs backwards; write "${last}..${first}"` : [{ first, last }];
}
