import { createRandom } from "@hallumaze/foundation";
import type { ProfileScores } from "@hallumaze/metrics";
import { bootstrapMean, type Interval, wilsonInterval } from "@hallumaze/statistics";
import { type AnswerKind, answerKind } from "@hallumaze/trials";

import type { ReportPages, ReportRow } from "./report-row.ts";

/** A mean over mazes, with the trials behind it. */
export interface Figure {
  /** Mean over mazes of each maze's mean over its trials; null without data. */
  readonly mean: number | null;
  /** Trials with a value. */
  readonly n: number;
  /** Answered trials without a value: no confidence given, no attempt made. */
  readonly missing: number;
}

/** A figure with a 95 % interval; null bounds where the data supports none: no trial for SR, fewer than two mazes for MEI. */
export interface IntervalFigure extends Figure {
  readonly low: number | null;
  readonly high: number | null;
}

/** The descriptive means of one set of trials. HRR, CE, BRS, Score, HC and BT are those of the `seed` profile. */
export interface Means {
  readonly n: number;
  readonly sr: Figure;
  readonly meiSeed: Figure;
  readonly meiRobust: Figure;
  readonly hrr: Figure;
  readonly ce: Figure;
  readonly brs: Figure;
  readonly score: Figure;
  readonly scoreRobust: Figure;
  readonly hc: Figure;
  readonly bt: Figure;
}

/** One model (in one condition, where the leaderboard is split). */
export interface LeaderboardRow {
  /** 1-based by robust MEI among the rows of its condition; equal means share a rank, one without answers has none. */
  readonly rank: number | null;
  readonly alias: string;
  /** The values of the split, in its order, as `mirage=on`; empty where nothing is split. */
  readonly condition: string;
  readonly planned: number;
  readonly answered: number;
  /** answered / planned, 0 … 1. */
  readonly coverage: number;
  readonly nonAnswers: number;
  readonly cutOffs: number;
  /** Judged answers by level, and those without one; null where no judge was asked. */
  readonly levels: { readonly l1: number; readonly l2: number; readonly l3: number; readonly unscored: number } | null;
  /** Distinct mazes with an answer: the units of the intervals of MEI. */
  readonly mazes: number;
  /** Wilson interval over trials. */
  readonly sr: IntervalFigure;
  /** Maze-clustered bootstrap intervals. */
  readonly meiSeed: IntervalFigure;
  readonly meiRobust: IntervalFigure;
  /** The range of SR and robust MEI were every missing trial as bad, or as good, as can be. */
  readonly bounds: { readonly sr: readonly [number, number]; readonly meiRobust: readonly [number, number] };
  /** Every answer, non-answers and cut-offs included: what is ranked. */
  readonly all: Means;
  /** Full answers only. */
  readonly fullOnly: Means;
}

/** What a condition is made of; a leaderboard is split by any of them. */
export type Factor = "size" | "group" | "mirage" | "language" | "confidence";

/** How a leaderboard is made. */
export interface LeaderboardOptions {
  readonly splitBy?: readonly Factor[];
  /** Bootstrap replicates; 10,000 unless told. */
  readonly replicates?: number;
  /** Seed of the bootstrap: the same rows and seed give the same interval. */
  readonly seed?: string;
}

/** Takes rows as they come and ranks the models in the end. Memory grows with model × condition × maze, not with trials. */
export interface Leaderboard {
  readonly add: (row: ReportRow) => void;
  readonly rank: () => readonly LeaderboardRow[];
}

/** Streams pages of rows into a ranked leaderboard. */
export async function leaderboard(
  pages: ReportPages,
  options: LeaderboardOptions = {},
): Promise<readonly LeaderboardRow[]> {
  const board = createLeaderboard(options);
  for await (const page of pages) for (const row of page) board.add(row);
  return board.rank();
}

/** Opens an empty leaderboard. */
export function createLeaderboard(options: LeaderboardOptions = {}): Leaderboard {
  const entries = new Map<string, Entry>();
  const splitBy = options.splitBy ?? [];
  return {
    add: (row) => {
      const condition = splitBy.map((factor) => `${factor}=${valueOf(row, factor)}`).join(" ");
      const key = JSON.stringify([row.alias, condition]);
      const entry = entries.get(key) ?? newEntry(row.alias, condition);
      entries.set(key, entry);
      addRow(entry, row);
    },
    rank: () => rankRows([...entries.values()].map((entry) => toRow(entry, options))),
  };
}

const metricNames = ["meiSeed", "meiRobust", "hrr", "ce", "brs", "score", "scoreRobust", "hc", "bt", "sr"] as const;
type MetricName = (typeof metricNames)[number];
type Sums = Record<MetricName, { sum: number; n: number }>;

/** Running counts of one row of the board. */
interface Entry {
  readonly alias: string;
  readonly condition: string;
  readonly kinds: Record<AnswerKind, number>;
  levels: { l1: number; l2: number; l3: number; unscored: number } | null;
  /** By maze: the sums over all its answers, and over its full answers. */
  readonly mazes: Map<string, { readonly all: Sums; readonly fullOnly: Sums }>;
}

function newEntry(alias: string, condition: string): Entry {
  return { alias, condition, kinds: { full: 0, cutOff: 0, nonAnswer: 0, missing: 0 }, levels: null, mazes: new Map() };
}

function addRow(entry: Entry, row: ReportRow): void {
  const kind = answerKind(row);
  entry.kinds[kind] += 1;
  if (row.judge) {
    entry.levels ??= { l1: 0, l2: 0, l3: 0, unscored: 0 };
    entry.levels[row.judge.level === null ? "unscored" : (`l${row.judge.level}` as const)] += 1;
  }
  const { seed, robust } = row.scores;
  if (kind === "missing" || seed === undefined || robust === undefined) return;
  const { plan } = row;
  const mazeKey = `${plan.generator} ${plan.size} ${plan.seed}`;
  const maze = entry.mazes.get(mazeKey) ?? { all: newSums(), fullOnly: newSums() };
  entry.mazes.set(mazeKey, maze);
  const values = valuesOf(seed, robust);
  addValues(maze.all, values);
  if (kind === "full") addValues(maze.fullOnly, values);
}

function valuesOf(seed: ProfileScores, robust: ProfileScores): Readonly<Record<MetricName, number | null>> {
  return {
    sr: seed.sr,
    meiSeed: seed.mei,
    meiRobust: robust.mei,
    hrr: seed.hrr,
    ce: seed.ce,
    brs: seed.brs,
    score: seed.score,
    scoreRobust: robust.score,
    hc: seed.hc,
    bt: seed.bt,
  };
}

function newSums(): Sums {
  return Object.fromEntries(metricNames.map((name) => [name, { sum: 0, n: 0 }])) as Sums;
}

function addValues(sums: Sums, values: Readonly<Record<MetricName, number | null>>): void {
  for (const name of metricNames) {
    const value = values[name];
    if (value === null) continue;
    sums[name].sum += value;
    sums[name].n += 1;
  }
}

function toRow(entry: Entry, options: LeaderboardOptions): Omit<LeaderboardRow, "rank"> {
  const { full, cutOff, nonAnswer, missing } = entry.kinds;
  const answered = full + cutOff + nonAnswer;
  const planned = answered + missing;
  const mazes = [...entry.mazes.values()];
  const all = meansOf(mazes.map((maze) => maze.all));
  const successes = mazes.reduce((sum, maze) => sum + maze.all.sr.sum, 0);
  return {
    alias: entry.alias,
    condition: entry.condition,
    planned,
    answered,
    coverage: planned === 0 ? 0 : answered / planned,
    nonAnswers: nonAnswer,
    cutOffs: cutOff,
    levels: entry.levels,
    mazes: mazes.length,
    sr: withInterval(
      { ...all.sr, mean: answered === 0 ? null : successes / answered },
      wilsonInterval(successes, answered),
    ),
    meiSeed: withInterval(all.meiSeed, bootstrapOf(entry, "meiSeed", options)),
    meiRobust: withInterval(all.meiRobust, bootstrapOf(entry, "meiRobust", options)),
    bounds: {
      sr: boundsOf(successes, answered, missing),
      meiRobust: boundsOf((all.meiRobust.mean ?? 0) * answered, answered, missing),
    },
    all,
    fullOnly: meansOf(mazes.map((maze) => maze.fullOnly)),
  };
}

function meansOf(mazes: readonly Sums[]): Means {
  const n = mazes.reduce((sum, maze) => sum + maze.sr.n, 0);
  const figures = metricNames.map((name) => {
    const means = mazeMeans(mazes, name);
    const withValue = mazes.reduce((sum, maze) => sum + maze[name].n, 0);
    return [name, { mean: meanOf(means), n: withValue, missing: n - withValue }] as const;
  });
  return { n, ...(Object.fromEntries(figures) as Record<MetricName, Figure>) };
}

/** Repeats are averaged within their maze first, so that a maze asked often does not count more. */
function mazeMeans(mazes: readonly Sums[], name: MetricName): number[] {
  return mazes.filter((maze) => maze[name].n > 0).map((maze) => maze[name].sum / maze[name].n);
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The percentile interval of the mean over mazes; null below two mazes. */
function bootstrapOf(entry: Entry, name: MetricName, options: LeaderboardOptions): Interval | null {
  const values = [...entry.mazes].map(([group, { all }]) => ({
    group,
    value: all[name].n === 0 ? null : all[name].sum / all[name].n,
  }));
  const random = createRandom(options.seed ?? "leaderboard");
  const { lo, hi } = bootstrapMean(values, { random, resamples: options.replicates ?? 10_000 });
  return lo === null || hi === null ? null : { lo, hi };
}

function withInterval(figure: Figure, interval: Interval | null): IntervalFigure {
  return { ...figure, low: interval?.lo ?? null, high: interval?.hi ?? null };
}

/** Both metrics lie in [0, 1]: every missing trial counts 0, then 1. */
function boundsOf(sum: number, answered: number, missing: number): readonly [number, number] {
  const planned = answered + missing;
  return planned === 0 ? [0, 1] : [sum / planned, (sum + missing) / planned];
}

function rankRows(rows: readonly Omit<LeaderboardRow, "rank">[]): readonly LeaderboardRow[] {
  const strength = (row: Omit<LeaderboardRow, "rank">): number => row.meiRobust.mean ?? -1;
  const sorted = rows.toSorted(
    (a, b) => compareText(a.condition, b.condition) || strength(b) - strength(a) || compareText(a.alias, b.alias),
  );
  return sorted.map((row) => ({
    rank:
      row.meiRobust.mean === null
        ? null
        : sorted.filter((other) => other.condition === row.condition && strength(other) > strength(row)).length + 1,
    ...row,
  }));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function valueOf({ plan }: ReportRow, factor: Factor): string {
  const value = plan[factor];
  return typeof value === "boolean" ? (value ? "on" : "off") : String(value);
}
