import type { PairList, TrialView } from "@hallumaze/contract";
import { mazeOf } from "@hallumaze/engine";
import type { ProfileScores } from "@hallumaze/metrics";
import type { CellPlan } from "@hallumaze/sweep";

import { peopleTrialId } from "./people.ts";
import type { PersonRow } from "./ports.ts";
import { viewMaze } from "./view-maze.ts";
import { conditionsOf, readReplies, viewProfiles } from "./view-trial.ts";
import { viewReading, viewWalk } from "./view-walk.ts";

/** A person's walk as a trial, so that it stands beside a model's. */
export function viewHumanTrial(row: PersonRow): TrialView {
  const plan = planOf(row);
  const maze = mazeOf(plan);
  const read = readReplies(plan, maze, [{ text: row.logText, finishReason: null }], false);
  return {
    trialId: peopleTrialId(row.importId, row.position),
    kind: "human",
    sweep: null,
    model: row.participant ?? row.model,
    provider: "human",
    ...conditionsOf(plan),
    temperature: null,
    maxTokens: null,
    params: {},
    promptVersion: "human",
    rehearsal: false,
    state: "done",
    outcome: row.outcome,
    message: null,
    tries: 1,
    isReused: false,
    createdAtMs: row.importedAtMs,
    finishedAtMs: row.importedAtMs,
    costUsd: null,
    maze: viewMaze(maze, plan),
    prompt: null,
    replies: [{ turn: 0, said: null, text: row.logText, isPruned: false, finishReason: null, isScored: true }],
    reading: viewReading(read),
    walk: viewWalk(read),
    profiles: viewProfiles(read, plan, storedScores(row)),
    level: null,
    judgements: [],
    exchanges: [],
  };
}

/** A person's walk in the list of those on one maze. */
export function viewHumanPair(row: PersonRow): PairList["pairs"][number] {
  const { repeat: _repeat, seed: _seed, ...conditions } = conditionsOf(planOf(row));
  return {
    trialId: peopleTrialId(row.importId, row.position),
    relation: "human",
    model: row.participant ?? row.model,
    ...conditions,
    repeat: 0,
    state: "done",
    outcome: row.outcome,
    sr: row.scores.seed?.sr ?? null,
    mei: row.scores.robust?.mei ?? null,
  };
}

/** The plan that a model would have had: scoring depends on the maze and its conditions only. */
function planOf(row: PersonRow): CellPlan {
  return {
    format: 1,
    provider: "human",
    model: row.model,
    baseUrl: null,
    temperature: null,
    params: {},
    maxTokens: 0,
    promptVersion: "human",
    generator: row.generator,
    placement: row.placement,
    seed: row.seed,
    size: row.size,
    group: "A",
    mirage: row.mirage ?? true,
    language: row.language === "ko" ? "ko" : "en",
    confidence: row.confidence ?? false,
    repeat: 0,
    rehearsal: false,
  };
}

/** Only what is there in all of its numbers can be the same. */
function storedScores({ scores }: PersonRow): Parameters<typeof viewProfiles>[2] {
  const whole = Object.entries(scores).filter(([, one]) => one.sr !== null && one.mei !== null && one.score !== null);
  return Object.fromEntries(whole.map(([profile, one]) => [profile, one as ProfileScores]));
}
