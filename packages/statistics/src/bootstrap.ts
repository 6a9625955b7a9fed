import type { Random } from "@hallumaze/foundation";
import { mean } from "simple-statistics";

import { expandedInterval } from "./expanded-interval.ts";
import { checkBootstrap, type IntervalMethod, resampledInterval } from "./resampled-interval.ts";

/** One value and the group (the unit of analysis, such as a maze) that it was taken from; null: missing. */
export interface GroupedValue {
  readonly group: string;
  readonly value: number | null;
  /**
   * What the design fixed the number of groups of, such as a size of mazes: resampling keeps that number. A group's first
   * value decides. Absent: all groups are of one kind.
   */
  readonly stratum?: string;
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

/** How the bootstrap of a mean is drawn and read. */
export interface MeanBootstrapOptions extends BootstrapOptions {
  /** How the interval is read off the resamples: by default `percentile`. */
  readonly method?: IntervalMethod;
}

/** A mean over groups with its interval. */
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
  /** Stands where the interval was worked out from moments and no resample drawn: see `bootstrapMean`. */
  readonly isExpanded?: true;
}

/** The mean of paired differences, over the groups that both sides have a value of. */
export interface PairedEstimate extends MeanEstimate {
  /** How many groups stand on one side only, or have no value on one; they do not enter. */
  readonly missing: number;
}

/** A group with the mean of its known values; null where it has none. */
export interface GroupMean {
  readonly group: string;
  readonly stratum: string;
  readonly value: number | null;
}

/**
 * The mean over groups, values averaged within their group first, and its interval from resampling whole groups with
 * replacement, within their stratum. Time grows with resamples × groups; from 5,000 groups on only with groups, as the same
 * interval then follows from the values' moments (`expandedInterval`), unless nearly all groups have one value.
 *
 * SOURCE: Efron & Tibshirani (1993), An Introduction to the Bootstrap, ch. 13 (percentile) and 14 (BCa); Davison & Hinkley
 * (1997), Bootstrap Methods and their Application, section 3.8 (resampling of groups), 3.2 (strata).
 */
export function bootstrapMean(values: readonly GroupedValue[], options: MeanBootstrapOptions): MeanEstimate {
  return bootstrapGroups(groupMeans(values), options);
}

/**
 * The mean of a - b over the groups that both have, with its interval from resampling those groups: what both sides share
 * of a group's difficulty cancels out. SOURCE: as `bootstrapMean`, applied to paired differences.
 */
export function bootstrapPairedDifference(
  a: readonly GroupedValue[],
  b: readonly GroupedValue[],
  options: MeanBootstrapOptions,
): PairedEstimate {
  const ofA = new Map(groupMeans(a).map((entry) => [entry.group, entry]));
  const ofB = new Map(groupMeans(b).map((entry) => [entry.group, entry]));
  const differences = [...new Set([...ofA.keys(), ...ofB.keys()])].map((group): GroupMean => {
    const [left, right] = [ofA.get(group), ofB.get(group)];
    const [of, minus] = [left?.value ?? null, right?.value ?? null];
    const value = of === null || minus === null ? null : of - minus;
    return { group, stratum: (left ?? right)?.stratum ?? "", value };
  });
  return bootstrapGroups(differences.sort(byStratumAndName), options);
}

/**
 * Averages values within their group, null meaning missing: one entry a group, by stratum and name, so that what is drawn
 * over them does not depend on the order of the rows. Throws a RangeError on a value that is not finite.
 */
export function groupMeans(values: Iterable<GroupedValue>): readonly GroupMean[] {
  const groups = new Map<string, { readonly stratum: string; readonly known: number[] }>();
  for (const { group, stratum = "", value } of values) {
    if (value !== null && !Number.isFinite(value)) throw new RangeError(`a value of group ${group} is not finite`);
    let entry = groups.get(group);
    if (entry === undefined) {
      entry = { stratum, known: [] };
      groups.set(group, entry);
    }
    if (value !== null) entry.known.push(value);
  }
  return [...groups]
    .map(([group, { stratum, known }]) => ({
      group,
      stratum,
      value: known.length === 0 ? null : mean(known.sort((a, b) => a - b)),
    }))
    .sort(byStratumAndName);
}

/** The same of groups that are averaged already, as `groupMeans` gives them. */
export function bootstrapGroups(groups: readonly GroupMean[], options: MeanBootstrapOptions): MeanEstimate {
  checkBootstrap(options);
  const strata = new Map<string, number[]>();
  const known: number[] = [];
  for (const { stratum, value } of groups) {
    if (value === null) continue;
    known.push(value);
    const units = strata.get(stratum);
    if (units === undefined) strata.set(stratum, [value]);
    else units.push(value);
  }
  const { length: n } = known;
  const missing = groups.length - n;
  if (n === 0) return { n, missing, mean: null, lo: null, hi: null };
  const average = mean(known);
  if (n === 1) return { n, missing, mean: average, lo: null, hi: null };
  const { level = 0.95, method = "percentile" } = options;
  const units = [...strata.values()];
  const expanded = expandedInterval(units, { level, method });
  if (expanded !== null) return { n, missing, mean: average, ...expanded, isExpanded: true };
  return { n, missing, mean: average, ...resampledInterval(units, options) };
}

function byStratumAndName(a: GroupMean, b: GroupMean): number {
  if (a.stratum !== b.stratum) return a.stratum < b.stratum ? -1 : 1;
  return a.group < b.group ? -1 : 1;
}
