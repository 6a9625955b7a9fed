import {
  enqueueTrials,
  type LimiterPort,
  type QueuePort,
  type StorePort,
  type SweepRecord,
  type TrialState,
} from "@hallumaze/engine";
import { type JudgeStorePort, limiterLaneOf } from "@hallumaze/judging";
import { isJudgeLane, judgesOf, parseStoredSpec } from "@hallumaze/sweep";

import type { LaneControl, SteeringPort, TrialSelector } from "./ports.ts";
import { checkWord, SteeringError } from "./refusal.ts";
import { cancelSweep, type CancelReport, resumeSweep, retryTrials } from "./steer-sweep.ts";

/** What an operator's words on a sweep work on. */
export interface OperatorPorts {
  readonly store: Pick<
    SteeringPort,
    | "pauseSweep"
    | "unpauseSweep"
    | "putBackOpen"
    | "putBackJudges"
    | "cancelTrials"
    | "cancelJudges"
    | "requeue"
    | "rankSweep"
    | "laneControls"
    | "parkLane"
    | "unparkLane"
    | "limitLane"
  > &
    Pick<StorePort, "progress" | "unblockLane" | "unblockBudget" | "findSweep" | "listSweeps"> &
    Pick<JudgeStorePort, "unblockJudges">;
  readonly queue: Pick<QueuePort, "enqueue">;
  readonly limiter: Pick<LimiterPort, "park" | "resume">;
}

/** Refuses a model that the sweep does not have. */
async function checkModels(
  store: Pick<StorePort, "progress">,
  sweepId: string,
  names: readonly string[] | undefined,
): Promise<void> {
  if (names === undefined) return;
  const aliases = (await store.progress(sweepId)).models.map(({ alias }) => alias);
  const known = [...aliases, ...aliases.map((alias) => alias.slice(alias.indexOf("/") + 1))];
  for (const name of names) checkWord("model", name, known);
}

/** Lets nothing new of these models start (none named: of the whole sweep, its judges too); gives what is paused now. */
export async function pauseNamed(
  { store }: Pick<OperatorPorts, "store">,
  sweep: SweepRecord,
  names: readonly string[] | undefined,
): Promise<SweepRecord["paused"]> {
  await store.pauseSweep(sweep.sweepId, await namedAliases(store, sweep, names));
  return (await store.findSweep(sweep.name))?.paused ?? null;
}

/** What a resume did. */
export interface ResumeReport {
  /** Aliases whose pause ended; empty where all did, or none was paused. */
  readonly models: readonly string[];
  /** True where a pause ended, of the sweep or of a part of it. */
  readonly hasResumed: boolean;
  /** Lanes that go on, with how many trials each put back. */
  readonly lanes: readonly { readonly lane: string; readonly wasParked: boolean; readonly putBack: number }[];
  /** Trials and requests to judges that were put back or delivered again. */
  readonly trials: number;
  /** Lanes that an operator keeps parked. */
  readonly held: readonly LaneControl[];
}

/**
 * Ends a pause, lets lanes go on that a vendor stopped, and puts back what they blocked. With models only their pause ends;
 * with lanes only these go on. A lane that an operator parked stays so.
 */
export async function resumeNamed(
  ports: OperatorPorts,
  sweep: SweepRecord,
  wish: { readonly models?: readonly string[] | undefined; readonly lanes?: readonly string[] | undefined },
): Promise<ResumeReport> {
  const ended = wish.lanes === undefined ? await endPause(ports, sweep, wish.models) : noPause;
  const lanes = wish.models === undefined ? await resumeLanes(ports, sweep, wish.lanes) : noLanes;
  return { models: ended.models, hasResumed: ended.hasResumed, ...lanes, trials: ended.trials + lanes.trials };
}

const noPause = { models: [], hasResumed: false, trials: 0 } as const;
const noLanes = { lanes: [], trials: 0, held: [] } as const;

async function endPause(
  ports: OperatorPorts,
  sweep: SweepRecord,
  names: readonly string[] | undefined,
): Promise<Pick<ResumeReport, "models" | "hasResumed" | "trials">> {
  const { store } = ports;
  const resumed = await namedAliases(store, sweep, names);
  if (sweep.paused === null) return noPause;
  const all = resumed.length === 0 ? [] : (await store.progress(sweep.sweepId)).models.map(({ alias }) => alias);
  const paused = sweep.paused.models.length === 0 ? all : sweep.paused.models;
  const held = resumed.length === 0 ? [] : paused.filter((alias) => !resumed.includes(alias));
  const trials = await resumeSweep(ports, sweep.sweepId, { resumed, held });
  return { models: resumed, hasResumed: held.length < paused.length || paused.length === 0, trials };
}

async function resumeLanes(
  { store, queue, limiter }: OperatorPorts,
  sweep: SweepRecord,
  only: readonly string[] | undefined,
): Promise<Pick<ResumeReport, "lanes" | "trials" | "held">> {
  const { models } = await store.progress(sweep.sweepId);
  const judged = judgesOf(parseStoredSpec(sweep.specJson)).map(({ lane }) => lane);
  const lanes = [...new Set([...models.map(({ lane }) => lane), ...judged])];
  for (const lane of only ?? []) checkWord("lane", lane, lanes);
  const controls = (await store.laneControls()).filter(({ parked }) => parked !== null);
  const isHeld = (lane: string): boolean =>
    controls.some((one) => one.lane === limiterLaneOf(lane) || one.lane === lane);
  const resumed: { lane: string; wasParked: boolean; putBack: number }[] = [];
  for (const lane of lanes.filter((one) => only?.includes(one) ?? true)) {
    if (isHeld(lane)) continue;
    const wasParked = await limiter.resume(limiterLaneOf(lane));
    const back = isJudgeLane(lane) ? await store.unblockJudges({ lane }) : await store.unblockLane(lane);
    await enqueueTrials(queue, back);
    if (wasParked || back.length > 0) resumed.push({ lane, wasParked, putBack: back.length });
  }
  const affordable = await store.unblockBudget(sweep.sweepId);
  await enqueueTrials(queue, affordable);
  const held = controls.filter((one) => lanes.some((lane) => one.lane === limiterLaneOf(lane) || one.lane === lane));
  const trials = resumed.reduce((sum, { putBack }) => sum + putBack, affordable.length);
  return { lanes: resumed, trials, held };
}

/** Cancels the selected open trials of a sweep that has the selector's models; without a selector all of it. */
export async function cancelNamed(
  { store }: Pick<OperatorPorts, "store">,
  sweep: SweepRecord,
  selector: TrialSelector,
  options: { readonly now: boolean },
): Promise<CancelReport> {
  await checkModels(store, sweep.sweepId, selector.models);
  return cancelSweep(store, sweep.sweepId, selector, options);
}

/** What a retry put back. */
export interface RetryReport {
  readonly trials: number;
  readonly judgements: number;
  /** The states that were looked through. */
  readonly states: readonly TrialState[];
}

/**
 * Puts failed trials back with a full new budget of tries; cancelled ones where the selector names that outcome. Answers are
 * results and never bought again. Judges' requests come back only where nothing narrows the choice: they have no size or seed.
 */
export async function retryNamed(
  { store, queue }: Pick<OperatorPorts, "store" | "queue">,
  sweep: SweepRecord,
  selector: TrialSelector,
  isFailed: boolean,
): Promise<RetryReport> {
  checkRetry(selector, isFailed);
  await checkModels(store, sweep.sweepId, selector.models);
  const states: readonly TrialState[] = selector.outcomes?.includes("cancelled") ? ["failed", "cancelled"] : ["failed"];
  const trials = await retryTrials({ store, queue }, sweep.sweepId, { ...selector, states });
  const { outcomes = [], ...narrower } = selector;
  const isWhole = Object.keys(narrower).length === 0 && outcomes.every((outcome) => outcome === "cancelled");
  const judged = outcomes.length === 0 ? (["failed"] as const) : (["cancelled"] as const);
  const judges = isWhole ? await store.unblockJudges({ sweepId: sweep.sweepId, states: judged }) : [];
  await enqueueTrials(queue, judges);
  return { trials, judgements: judges.length, states };
}

/** Refuses a retry that names neither the failed trials nor outcomes: all trials are not meant. */
export function checkRetry(selector: TrialSelector, isFailed: boolean): void {
  if (isFailed || selector.outcomes !== undefined) return;
  throw new SteeringError("say which trials: --failed, or --outcome with the kinds to retry.");
}

/** The aliases that these words name; an unknown one is refused. None for no words. */
async function namedAliases(
  store: Pick<StorePort, "progress">,
  sweep: SweepRecord,
  names: readonly string[] | undefined,
): Promise<readonly string[]> {
  await checkModels(store, sweep.sweepId, names);
  if (names === undefined) return [];
  const aliases = (await store.progress(sweep.sweepId)).models.map(({ alias }) => alias);
  return aliases.filter((alias) => names.includes(alias) || names.includes(alias.slice(alias.indexOf("/") + 1)));
}
