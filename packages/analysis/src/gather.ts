import { mazeOf, scoreConversation } from "@hallumaze/engine";
import {
  type ConfidenceTrial,
  confidenceTrial,
  type ErrorPositions,
  errorPositions,
  type HumanAggregate,
} from "@hallumaze/experiments";
import type { StoredImportedTrial } from "@hallumaze/imports";
import { simulateWalk, type Walk } from "@hallumaze/metrics";
import { type FinishReason, readReply } from "@hallumaze/protocol";
import type { ReportRow } from "@hallumaze/reports";
import type { CellPlan } from "@hallumaze/sweep";
import { createTrialTable, type TrialSource, type TrialTable } from "@hallumaze/trials";

import type { TrialRecord } from "./trial-record.ts";

/** All that the experiments read. */
export interface AnalysisData {
  readonly table: TrialTable;
  /** Confidences of first answers in group A. */
  readonly confidences: readonly ConfidenceTrial[];
  readonly errors: readonly ErrorPositions[];
  /** Models that have told of reasoning tokens. */
  readonly reasoning: readonly string[];
  /** Names in `table` that are people. */
  readonly people: readonly string[];
  readonly aggregates: readonly HumanAggregate[];
  /** Every how manieth trial's walk is in `confidences` and `errors`; 1: all of them. */
  readonly walkStep: number;
}

/** How walks are chosen where there are more than memory should hold. */
export interface GatherOptions {
  /** Trials that are expected. */
  readonly expected: number;
  /** Walks that are kept at most, evenly spread over the trials; 20,000 unless told. */
  readonly walksMax?: number;
  /** Ends the reading with an error when it fires. */
  readonly signal: AbortSignal;
}

/** Every how manieth of these trials' walk is kept. */
export function walkStepOf(expected: number, walksMax = 20_000): number {
  return Math.max(1, Math.ceil(expected / walksMax));
}

/** Reads trials, and others' results beside them, into what the experiments work on. */
export async function gatherData(
  records: AsyncIterable<TrialRecord>,
  imported: AsyncIterable<readonly StoredImportedTrial[]>,
  { expected, walksMax, signal }: GatherOptions,
): Promise<AnalysisData> {
  const table = createTrialTable();
  const confidences: ConfidenceTrial[] = [];
  const errors: ErrorPositions[] = [];
  const { logs, aggregates } = await gatherPeople(imported);
  // Without people there is nobody to compare the places of errors with.
  const hasPeople = logs.length + aggregates.length > 0;
  const aliases = new Set<string>();
  const reasoning = new Set<string>();
  const step = walkStepOf(expected, walksMax);
  let number = 0;
  for await (const { row, conversation } of records) {
    signal.throwIfAborted();
    table.add(row);
    aliases.add(row.alias);
    if ((row.usage?.reasoningTokens ?? 0) > 0) reasoning.add(row.alias);
    number += 1;
    const first = conversation?.isPruned === false ? conversation.replies[0] : undefined;
    if (row.plan.group !== "A" || first === undefined || row.state !== "done" || number % step !== 0) continue;
    const walk = walkOf(row.plan, first.text, first.finishReason);
    if (row.plan.confidence) confidences.push(confidenceTrial(row, walk));
    if (hasPeople) errors.push(errorPositions(row, walk));
  }
  const people = new Set<string>();
  for (const { log, row: told } of logs) {
    // People who were given a model's name are not that model: its figures are its own answers'.
    const row = aliases.has(told.alias) ? { ...told, alias: `${told.alias} (people)` } : told;
    table.add(row);
    people.add(row.alias);
    errors.push(errorPositions(row, walkOf(row.plan, log, null)));
  }
  return {
    table,
    confidences,
    errors,
    reasoning: [...reasoning].sort(),
    people: [...people].sort(),
    aggregates,
    walkStep: step,
  };
}

/** The row as this program scores its replies now; the row itself where it has none. */
export function rescored({ row, conversation }: TrialRecord): ReportRow {
  if (row.state !== "done" || conversation === null || conversation.isPruned) return row;
  const scored = scoreConversation(row.plan, conversation.replies, conversation);
  const { seed, published, robust } = scored.profiles;
  return {
    ...row,
    outcome: scored.outcome,
    readingJson: scored.readingJson,
    scores: { seed: seed.scores, published: published.scores, robust: robust.scores },
  };
}

function walkOf(plan: CellPlan, text: string, finishReason: FinishReason | null): Walk {
  const maze = mazeOf(plan);
  const reading = readReply(text, { size: maze.size, finishReason, mode: "strict", maze });
  return simulateWalk(maze, reading, { mirage: plan.mirage });
}

/** People's logs as rows, under their own names; means over people stay means. */
async function gatherPeople(
  imported: AsyncIterable<readonly StoredImportedTrial[]>,
): Promise<{ readonly logs: readonly PeopleLog[]; readonly aggregates: readonly HumanAggregate[] }> {
  const logs: PeopleLog[] = [];
  const aggregates: HumanAggregate[] = [];
  for await (const page of imported) {
    for (const trial of page) {
      if (trial.kind === "humanAggregate") aggregates.push(aggregateOf(trial));
      if (trial.kind !== "humanLog" || trial.seed === null || trial.logText === null) continue;
      logs.push({ row: humanRow(trial, trial.seed), log: trial.logText });
    }
  }
  return { logs, aggregates };
}

interface PeopleLog {
  readonly row: HumanRow;
  readonly log: string;
}

function aggregateOf({ model, n, size, scores, deviations }: StoredImportedTrial): HumanAggregate {
  const { sr = null, mei = null } = scores.published ?? {};
  return { label: model, n, size: size === 0 ? null : size, sr, mei, meiSd: deviations?.mei ?? null };
}

type HumanRow = TrialSource & { readonly plan: CellPlan };

function humanRow(trial: StoredImportedTrial, seed: number): HumanRow {
  const plan: CellPlan = {
    format: 1,
    provider: "human",
    model: trial.model,
    baseUrl: null,
    temperature: null,
    params: {},
    maxTokens: 1,
    promptVersion: "human",
    generator: "dfs",
    placement: "path-order",
    seed,
    size: trial.size,
    group: "A",
    mirage: trial.mirage ?? true,
    language: trial.language === "en" ? "en" : "ko",
    confidence: trial.confidence ?? false,
    repeat: trial.position,
    rehearsal: false,
  };
  const scores = trial.scores as TrialSource["scores"];
  const { readingJson } = trial;
  return { alias: trial.model, plan, state: "done", outcome: trial.outcome ?? "ok", scores, readingJson };
}
