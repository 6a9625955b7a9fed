import type { Random } from "@hallumaze/foundation";
import { mean, quantileSorted } from "simple-statistics";

/** One value and the group (the unit of analysis, such as a maze) that it was taken from; null: missing. */
export interface GroupedValue {
  readonly group: string;
  readonly value: number | null;
}

/** How a bootstrap is drawn. */
export interface BootstrapOptions {
  /** Seeded: the same values and seed give the same interval, whatever the values' order. */
  readonly random: Random;
  /** How many resamples are drawn: by default 10,000. */
  readonly resamples?: number;
  /** Two-sided confidence in (0, 1): by default 0.95. */
  readonly level?: number;
}

/** A mean over groups with its percentile interval. */
export interface MeanEstimate {
  /** How many groups have a value. */
  readonly n: number;
  /** How many groups have none. */
  readonly missing: number;
  /** Null where n is 0. */
  readonly mean: number | null;
  /** Null where n is below 2: one group tells nothing about how groups differ. */
  readonly lo: number | null;
  readonly hi: number | null;
}

/** The mean of paired differences, over the groups that both sides have a value of. */
export interface PairedEstimate extends MeanEstimate {
  /** How many groups stand on one side only, or have no value on one; they do not enter. */
  readonly missing: number;
}

/**
 * The mean over groups, values averaged within their group first, and its percentile interval from resampling whole
 * groups with replacement. Time grows with resamples × groups.
 *
 * SOURCE: Efron & Tibshirani (1993), An Introduction to the Bootstrap, ch. 13 (percentile); Davison & Hinkley (1997),
 * Bootstrap Methods and their Application, section 3.8 (resampling of groups).
 */
export function bootstrapMean(values: readonly GroupedValue[], options: BootstrapOptions): MeanEstimate {
  const groups = groupMeans(values);
  const known = inOrder(groups).filter((value) => value !== null);
  return { ...estimate(known, options), missing: groups.size - known.length };
}

/**
 * The mean of a - b over the groups that both have, with its percentile interval from resampling those groups: what both
 * sides share of a group's difficulty cancels out. SOURCE: as `bootstrapMean`, applied to paired differences.
 */
export function bootstrapPairedDifference(
  a: readonly GroupedValue[],
  b: readonly GroupedValue[],
  options: BootstrapOptions,
): PairedEstimate {
  const ofA = groupMeans(a);
  const ofB = groupMeans(b);
  const differences = new Map<string, number | null>();
  for (const group of new Set([...ofA.keys(), ...ofB.keys()])) {
    const [left, right] = [ofA.get(group) ?? null, ofB.get(group) ?? null];
    differences.set(group, left === null || right === null ? null : left - right);
  }
  const known = inOrder(differences).filter((value) => value !== null);
  return { ...estimate(known, options), missing: differences.size - known.length };
}

function estimate(units: readonly number[], options: BootstrapOptions): Omit<MeanEstimate, "missing"> {
  const { random, resamples = 10_000, level = 0.95 } = options;
  if (!(level > 0 && level < 1)) throw new RangeError(`expected a level in (0, 1), got ${level}`);
  if (!Number.isSafeInteger(resamples) || resamples < 1) {
    throw new RangeError(`expected a whole number of resamples from 1, got ${resamples}`);
  }
  const { length: n } = units;
  if (n === 0) return { n, mean: null, lo: null, hi: null };
  if (n === 1) return { n, mean: mean(units), lo: null, hi: null };
  const means = new Float64Array(resamples);
  for (let resample = 0; resample < resamples; resample++) {
    let sum = 0;
    for (let draw = 0; draw < n; draw++) sum += units[random.below(n)] ?? 0;
    means[resample] = sum / n;
  }
  const sorted = Array.from(means.sort());
  const tail = (1 - level) / 2;
  return { n, mean: mean(units), lo: quantileSorted(sorted, tail), hi: quantileSorted(sorted, 1 - tail) };
}

/** Each group's mean over its known values; null where it has none. */
function groupMeans(values: readonly GroupedValue[]): ReadonlyMap<string, number | null> {
  const groups = new Map<string, number[]>();
  for (const { group, value } of values) {
    if (value !== null && !Number.isFinite(value)) throw new RangeError(`a value of group ${group} is not finite`);
    const known = groups.get(group) ?? [];
    if (value !== null) known.push(value);
    groups.set(group, known);
  }
  return new Map([...groups].map(([group, known]) => [group, known.length === 0 ? null : mean(known)]));
}

/** By the groups' names: a database may give its rows in any order, and the draws must not depend on it. */
function inOrder(groups: ReadonlyMap<string, number | null>): readonly (number | null)[] {
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}
