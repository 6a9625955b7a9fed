import type { Random } from "@hallumaze/foundation";
import { bootstrapPairedDifference, type GroupedValue, type PairedEstimate } from "@hallumaze/statistics";

import type { AriadneRecord } from "./read-conversation.ts";
import { meanOverMazes, rateResponses, type ResponseRate, type TrialResponses } from "./response-rates.ts";
import {
  normalisedTrainability,
  type NormalisedTrainability,
  shadowMei,
  trainability,
  type Trainability,
  type ValuedTrial,
} from "./trainability.ts";

/** One trial, as the summary needs it. */
export interface AriadneRow {
  readonly model: string;
  /** Names the maze, mirage and whatever else the groups share: trials of one key are compared across groups. */
  readonly mazeKey: string;
  readonly group: "A" | "B" | "C";
  /** MEI of the trial's result in the profile `seed`; null: the trial is missing. */
  readonly meiSeed: number | null;
  /** As `readConversation` gave it; null for a missing trial, and in group A where shadows are off. */
  readonly record: AriadneRecord | null;
}

/** What became of one group's trials. */
export interface GroupSummary {
  readonly trials: number;
  /** Trials without a result. */
  readonly missing: number;
  readonly mazes: number;
  /** Seed MEI, mean over mazes; null where no trial has a result. */
  readonly mei: number | null;
  /** How many trials have a record; the next three are counted among them. */
  readonly records: number;
  readonly solvedAtOnce: number;
  readonly noWalk: number;
  /** Trials whose first answer called for a hint. */
  readonly triggered: number;
  /** The shares of `records`; null where there are none. */
  readonly shareSolvedAtOnce: number | null;
  readonly shareTriggered: number | null;
  /** Turns given and answered: hints, notes, or in group A shadows. */
  readonly turns: number;
}

/** HIR: how often a note was ignored. */
export interface IgnoreRate {
  /** Notes given and answered, without the censored ones. */
  readonly given: number;
  readonly ignored: number;
  readonly censored: number;
  /** ignored / given, 0 … 1; null where `given` is 0. */
  readonly rate: number | null;
}

/** Ariadne's Thread of one model. */
export interface AriadneSummary {
  readonly model: string;
  readonly groups: Readonly<Record<AriadneRow["group"], GroupSummary>>;
  /** Group B. */
  readonly nrs: ResponseRate;
  /** Group A's shadows: the same model, only asked to continue. */
  readonly shadowNrs: ResponseRate;
  /** NRS - NRS of the shadow; null where one of them is. */
  readonly nrsGain: number | null;
  /** Group C. */
  readonly hir: IgnoreRate;
  /** Seed MEI of B minus A over the mazes that both have, with its interval. */
  readonly deltaMei: PairedEstimate;
  /** True where that interval covers 0; null where there is none. */
  readonly noDetectableEffect: boolean | null;
  readonly ti: Trainability;
  readonly tiNorm: NormalisedTrainability;
}

/** How the summary's interval is drawn. */
export interface SummaryOptions {
  readonly random: Random;
  /** By default 10,000. */
  readonly resamples?: number;
}

/**
 * Summarises Ariadne's Thread, one summary a model, in the order of their names. Missing trials enter no mean and are
 * counted. Deterministic for a seeded `random`, whatever the order of the rows. SOURCE: seed, section 9.3; benchmark
 * specification, section 7.
 */
export function summariseAriadne(rows: readonly AriadneRow[], options: SummaryOptions): readonly AriadneSummary[] {
  const models = [...new Set(rows.map(({ model }) => model))].sort();
  return models.map((model) =>
    summariseModel(
      model,
      rows.filter((row) => row.model === model),
      options,
    ),
  );
}

function summariseModel(model: string, rows: readonly AriadneRow[], options: SummaryOptions): AriadneSummary {
  const ofGroup = (group: AriadneRow["group"]): readonly AriadneRow[] => rows.filter((row) => row.group === group);
  const [a, b, c] = [ofGroup("A"), ofGroup("B"), ofGroup("C")];
  const nrs = rateResponses(b.map(responsesOf));
  const shadowNrs = rateResponses(a.map(responsesOf));
  const deltaMei = bootstrapPairedDifference(b.map(groupedMei), a.map(groupedMei), options);
  const { lo, hi } = deltaMei;
  const withMei = (trials: readonly AriadneRow[]): readonly ValuedTrial[] => tied(trials, ({ meiSeed }) => meiSeed);
  const ti = trainability(withMei(a), withMei(b));
  return {
    model,
    groups: { A: summariseGroup(a), B: summariseGroup(b), C: summariseGroup(c) },
    nrs,
    shadowNrs,
    nrsGain: nrs.mean === null || shadowNrs.mean === null ? null : nrs.mean - shadowNrs.mean,
    hir: ignoreRate(c),
    deltaMei,
    noDetectableEffect: lo === null || hi === null ? null : lo <= 0 && hi >= 0,
    ti,
    tiNorm: normalisedTrainability(tied(a, shadowMei), withMei(b), { mazesInBoth: ti.mazes }),
  };
}

function tied(rows: readonly AriadneRow[], valueOf: (row: AriadneRow) => number | null): readonly ValuedTrial[] {
  return rows.map((row) => ({ ...responsesOf(row), value: valueOf(row) }));
}

/** The trial's responses: to its hints or notes, or in group A to its shadow turn. */
function responsesOf({ mazeKey, record }: AriadneRow): TrialResponses {
  if (record === null) return { mazeKey, responses: [] };
  return { mazeKey, responses: record.shadow === null ? record.hints : [record.shadow] };
}

function groupedMei({ mazeKey, meiSeed }: AriadneRow): GroupedValue {
  return { group: mazeKey, value: meiSeed };
}

function summariseGroup(rows: readonly AriadneRow[]): GroupSummary {
  const records = rows.flatMap(({ record }) => (record === null ? [] : [record]));
  const solvedAtOnce = records.filter((record) => record.solvedAtOnce).length;
  const triggered = records.filter(({ triggers }) => triggers.length > 0).length;
  return {
    trials: rows.length,
    missing: rows.filter(({ meiSeed }) => meiSeed === null).length,
    mazes: new Set(rows.map(({ mazeKey }) => mazeKey)).size,
    mei: meanOverMazes(rows.map(({ mazeKey, meiSeed }) => ({ mazeKey, value: meiSeed }))),
    records: records.length,
    solvedAtOnce,
    noWalk: records.filter(({ noWalk }) => noWalk).length,
    triggered,
    shareSolvedAtOnce: records.length === 0 ? null : solvedAtOnce / records.length,
    shareTriggered: records.length === 0 ? null : triggered / records.length,
    turns: rows.reduce((sum, row) => sum + responsesOf(row).responses.length, 0),
  };
}

function ignoreRate(rows: readonly AriadneRow[]): IgnoreRate {
  const all = rows.flatMap((row) => responsesOf(row).responses);
  const scores = all.flatMap(({ score }) => (score === null ? [] : [score]));
  const ignored = scores.filter((score) => score === 0).length;
  return {
    given: scores.length,
    ignored,
    censored: all.length - scores.length,
    rate: scores.length === 0 ? null : ignored / scores.length,
  };
}
