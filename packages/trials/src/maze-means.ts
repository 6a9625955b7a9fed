import {
  clusteredWilsonInterval,
  type GroupedValue,
  groupMeans,
  type IntraclassCorrelation,
  intraclassCorrelation,
  missingBounds,
} from "@hallumaze/statistics";

import type { Draws } from "./draws.ts";
import { type Metric, unitRange } from "./metric-names.ts";
import type { Estimate } from "./estimate.ts";
import type { Trial } from "./trial-table.ts";

/** How many trials a set holds, by what became of them. */
export interface Counts {
  readonly planned: number;
  readonly answered: number;
  /** answered / planned; null without a trial. */
  readonly coverage: number | null;
  readonly nonAnswers: number;
  readonly cutOffs: number;
  /** Distinct mazes with an answer. */
  readonly mazes: number;
}

/** Counts trials. */
export function countTrials(trials: readonly Trial[]): Counts {
  const answered = trials.filter(({ kind }) => kind !== "missing");
  return {
    planned: trials.length,
    answered: answered.length,
    coverage: trials.length === 0 ? null : answered.length / trials.length,
    nonAnswers: trials.filter(({ kind }) => kind === "nonAnswer").length,
    cutOffs: trials.filter(({ kind }) => kind === "cutOff").length,
    mazes: new Set(answered.map(({ maze }) => maze.key)).size,
  };
}

/** A metric's mean over mazes: what of the trials was known, and how far the truth may lie off. */
export interface MazeMean extends Estimate {
  /** Mazes with a value. */
  readonly mazes: number;
  /** Trials with a value. */
  readonly trials: number;
  /** Planned trials without one. */
  readonly missing: number;
}

/** Averages a metric over a set's mazes (repeats within their maze first), with its interval; null where nothing is known. */
export function mazeMean(trials: readonly Trial[], metric: Metric, draws: Draws, name: string): MazeMean {
  let known = 0;
  for (const trial of trials) if (trial.value(metric) !== null) known += 1;
  const { n, mean, lo, hi } = draws.mean(groupMeans(groupedValues(trials, metric)), `${name}/${metric}`);
  return { value: mean, lo, hi, mazes: n, trials: known, missing: trials.length - known };
}

/** The same mean without an interval. */
export function plainMean(trials: readonly Trial[], metric: Metric): number | null {
  const known = groupMeans(groupedValues(trials, metric)).flatMap(({ value }) => value ?? []);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** Value and interval alone, as a table's cell holds them. */
export function estimateOf({ value, lo, hi }: Estimate): Estimate {
  return { value, lo, hi };
}

/** The share of trials with SR 1, with Wilson's interval over mazes: repeats count as often as they tell something new. */
export function successRate(trials: readonly Trial[], level: number, metric: "sr" | "srPublished" = "sr"): Estimate {
  const mazes = new Map<string, { successes: number; trials: number }>();
  let [successes, answered] = [0, 0];
  for (const trial of trials) {
    const value = trial.value(metric);
    if (value === null) continue;
    const maze = mazes.get(trial.maze.key) ?? { successes: 0, trials: 0 };
    mazes.set(trial.maze.key, maze);
    maze.successes += value;
    maze.trials += 1;
    successes += value;
    answered += 1;
  }
  const interval = clusteredWilsonInterval([...mazes.values()], level);
  return { value: answered === 0 ? null : successes / answered, lo: interval?.lo ?? null, hi: interval?.hi ?? null };
}

/** The mean of a metric in 0 … 1 were every missing trial 0, and were every one 1; null without a trial. */
export function boundsOf(trials: readonly Trial[], metric: Metric): readonly [number, number] | null {
  const bounds = missingBounds(groupedValues(trials, metric), unitRange);
  return bounds === null ? null : [bounds.lo, bounds.hi];
}

/** How alike the repeats of a maze are; null without repeats. */
export function repeatCorrelation(trials: readonly Trial[], metric: Metric): IntraclassCorrelation {
  // Repeats of one condition only: two conditions of a maze are no repeats.
  return intraclassCorrelation(groupedBy(trials, metric, (trial) => `${trial.maze.key} ${trial.condition.key}`));
}

/** A metric's values with the maze and size that they belong to, one at a time: a million are read and not held. */
export function groupedValues(trials: readonly Trial[], metric: Metric): Iterable<GroupedValue> {
  return groupedBy(trials, metric, ({ maze }) => maze.key);
}

function* groupedBy(
  trials: readonly Trial[],
  metric: Metric,
  groupOf: (trial: Trial) => string,
): Generator<GroupedValue> {
  for (const trial of trials) {
    yield { group: groupOf(trial), stratum: stratumOf(trial.maze), value: trial.value(metric) };
  }
}

/** What resampling keeps the number of mazes of: their size, as a name that sorts. */
export function stratumOf({ size }: Pick<Trial["maze"], "size">): string {
  return String(size).padStart(3, "0");
}
