import type { HintResponse } from "./judge-response.ts";

/** The responses of one trial, with its maze. */
export interface TrialResponses {
  readonly mazeKey: string;
  /** Empty where no turn was given, or none answered. */
  readonly responses: readonly HintResponse[];
}

/** NRS: how soon answers responded to their hints. Better when higher. */
export interface ResponseRate {
  /** How many responses have a score. */
  readonly n: number;
  /** How many were censored by a technical cut: they do not enter `mean`. */
  readonly censored: number;
  /** 0 … 1; null where n is 0: no hint was given, or all are censored. */
  readonly mean: number | null;
  /** The mean if every censored one had scored 0; null where no hint was given, as is `hi`. */
  readonly lo: number | null;
  /** The mean if every censored one had scored 1. */
  readonly hi: number | null;
}

/**
 * Averages responses within their trial, then the trials of a maze, then mazes, so that neither a trial with many hints
 * nor a maze with many repeats weighs more. SOURCE: benchmark specification, section 7.
 */
export function rateResponses(trials: readonly TrialResponses[]): ResponseRate {
  const all = trials.flatMap(({ responses }) => responses);
  const censored = all.filter((response) => response.censored).length;
  const meanWith = (stand: number | null): number | null =>
    meanOverMazes(
      trials.map(({ mazeKey, responses }) => ({
        mazeKey,
        value: meanOf(responses.map(({ score }) => score ?? stand)),
      })),
    );
  return { n: all.length - censored, censored, mean: meanWith(null), lo: meanWith(0), hi: meanWith(1) };
}

/** A value of one trial, with its maze; null: missing. */
export interface MazeValue {
  readonly mazeKey: string;
  readonly value: number | null;
}

/** The mean over mazes of each maze's mean; null where no value is known. The order of the values changes nothing. */
export function meanOverMazes(values: readonly MazeValue[]): number | null {
  const mazes = new Map<string, number[]>();
  for (const { mazeKey, value } of values) {
    if (value !== null) mazes.set(mazeKey, [...(mazes.get(mazeKey) ?? []), value]);
  }
  return meanOf([...mazes].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, known]) => meanOf(known)));
}

function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).sort((one, other) => one - other);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}
