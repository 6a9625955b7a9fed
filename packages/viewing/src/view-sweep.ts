import type { LaneView, SweepSummary, SweepView } from "@hallumaze/contract";
import type { Finding } from "@hallumaze/detectors";
import type {
  LaneDepth,
  LaneLimits,
  LaneUse,
  ModelProgress,
  SweepProgress,
  SweepRecord,
  TrialState,
} from "@hallumaze/engine";
import type { JudgeProgress } from "@hallumaze/judging";
import type { LaneControl } from "@hallumaze/steering";
import { isJudgeLane } from "@hallumaze/sweep";

import type { SweepCounts } from "./ports.ts";

const noTrials: Readonly<Record<TrialState, number>> = {
  planned: 0,
  queued: 0,
  running: 0,
  done: 0,
  failed: 0,
  cancelled: 0,
  blocked: 0,
};

/** One sweep of a list. A sweep without counts has no trials. */
export function viewSummary(sweep: SweepRecord, counts: SweepCounts | null): SweepSummary {
  return {
    name: sweep.name,
    createdAtMs: sweep.createdAtMs,
    rehearsal: counts?.rehearsal ?? false,
    ...steeringOf(sweep),
    states: { ...noTrials, ...counts?.states },
    budgetUsd: counts?.budgetUsd ?? null,
    spentUsd: counts?.spentUsd ?? "0",
  };
}

/** What the queue holds of a lane, its limits, and an operator's word on it. */
export interface LaneState {
  readonly lane: string;
  readonly depth: LaneDepth;
  readonly limits: LaneLimits;
  readonly use: LaneUse | null;
  readonly control: LaneControl | null;
}

/** All that a sweep's page is made from. */
export interface SweepParts {
  readonly progress: SweepProgress;
  readonly lanes: readonly LaneState[];
  readonly judges: JudgeProgress;
  readonly findings: readonly Finding[];
  readonly findingsScope: string | null;
  /** The first failed trial of each group, by alias and outcome. */
  readonly firstFailures: readonly { readonly alias: string; readonly outcome: string; readonly trialId: string }[];
  readonly nowMs: number;
}

/** A sweep as `status --json` has it, with what it will take yet. */
export function viewSweep(parts: SweepParts): SweepView {
  const { progress, judges, findings, findingsScope, nowMs } = parts;
  const { sweep, models, failures, money, leftGrid, lateDuplicates } = progress;
  const lanes = parts.lanes.map((lane) => viewLane(lane, models));
  return {
    name: sweep.name,
    createdAtMs: sweep.createdAtMs,
    nowMs,
    rehearsal: models.some(({ lane }) => lane.startsWith("rehearsal.")),
    ...steeringOf(sweep),
    states: sumStates(models),
    etaMs: slowest(lanes),
    models: models.map((model) => ({
      ...model,
      states: { ...model.states },
      outcomes: { ...model.outcomes },
      etaMs: etaOf(openOf(model), model.finishedPerSecond),
    })),
    failures: failures.map((failure) => ({
      ...failure,
      firstTrialId:
        parts.firstFailures.find(({ alias, outcome }) => alias === failure.alias && outcome === failure.outcome)
          ?.trialId ?? null,
    })),
    money: { ...money, open: { ...money.open }, lost: { ...money.lost } },
    lanes,
    judges: {
      states: { ...judges.states },
      unscored: judges.unscored,
      failures: judges.failures.map((failure) => ({ ...failure })),
    },
    leftGrid,
    lateDuplicates,
    findings: findings.map((finding) => ({ ...finding, examples: [...finding.examples] })),
    findingsScope,
  };
}

function steeringOf({ paused, cancelledAtMs, priority, weight }: SweepRecord) {
  return {
    paused: paused === null ? null : { sinceMs: paused.sinceMs, models: [...paused.models] },
    cancelledAtMs,
    priority,
    weight,
  };
}

function sumStates(models: readonly ModelProgress[]): Record<TrialState, number> {
  const sums = { ...noTrials };
  for (const { states } of models) {
    for (const state of Object.keys(sums) as TrialState[]) sums[state] += states[state];
  }
  return sums;
}

function openOf({ states }: ModelProgress): number {
  return states.planned + states.queued + states.running;
}

/** Milliseconds until so many are finished at this speed; null where nothing moves. */
function etaOf(open: number, perSecond: number): number | null {
  if (open === 0) return 0;
  return perSecond > 0 ? Math.round((open / perSecond) * 1000) : null;
}

/** The slowest lane's time; null where one that has work does not move. */
function slowest(lanes: readonly LaneView[]): number | null {
  const times = lanes.filter(({ isJudge }) => !isJudge).map(({ etaMs }) => etaMs);
  return times.reduce((most: number | null, time) => (most === null || time === null ? null : Math.max(most, time)), 0);
}

function viewLane({ lane, depth, limits, use, control }: LaneState, models: readonly ModelProgress[]): LaneView {
  const own = models.filter((model) => model.lane === lane);
  const open = own.reduce((sum, model) => sum + openOf(model), 0);
  const finishedPerSecond = own.reduce((sum, model) => sum + model.finishedPerSecond, 0);
  return {
    lane,
    models: own.map(({ alias }) => alias),
    isJudge: isJudgeLane(lane),
    ...depth,
    open,
    finishedPerSecond,
    etaMs: etaOf(open, finishedPerSecond),
    limits: { ...limits },
    use: use === null ? null : viewUse(use),
    control:
      control === null
        ? null
        : { limits: { ...control.limits }, parked: control.parked === null ? null : { ...control.parked } },
  };
}

function viewUse({ limits, effective, inFlight, utilisation, binding, granted, limited, parked }: LaneUse) {
  return {
    limits: { ...limits },
    effective: { ...effective },
    inFlight,
    utilisation,
    binding,
    granted,
    limited,
    parked: parked === null ? null : { ...parked },
  };
}
