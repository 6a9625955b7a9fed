import { type Interval, laneHours, type ModelEstimate, type PlanEstimate } from "@hallumaze/engine";
import { likeDeadline } from "@hallumaze/sweep";

import { hurryMs, neededMs } from "./turn-live.ts";

/** A model of a plan that is asked in batches as long as its deadline can be met. */
export interface PlannedAuto {
  readonly alias: string;
  readonly liveLane: string;
  /** ISO date and time with its offset. */
  readonly deadline: string;
}

/**
 * `meets`: also if no batch comes. `live`: too soon for batches, but live calls are in time at their slowest. `tight`: live
 * calls at once, in time as they are expected, late at their slowest. `misses`: late as they are expected.
 */
export type DeadlineRisk = "meets" | "live" | "tight" | "misses";

/** What one model of mode auto comes to: two prices, and what a batch that is late costs. */
export interface AutoModelPlan {
  readonly alias: string;
  /** ISO date and time with its offset. */
  readonly deadline: string;
  /** Expected US dollars where all lands from batches, and where all is asked live; null: unknown. */
  readonly batchUsd: number | null;
  readonly liveUsd: number | null;
  /** How long its live lane is busy if all that may go live there does. */
  readonly liveHours: Interval;
  /** What has not landed by then goes live, written as the deadline is; from now to the deadline. */
  readonly turnsLiveAt: string;
  readonly risk: DeadlineRisk;
}

/** What the models of mode auto come to, together. */
export interface AutoPlan {
  readonly batchUsd: number | null;
  readonly liveUsd: number | null;
  /** The worst of the models. */
  readonly risk: DeadlineRisk;
  readonly models: readonly AutoModelPlan[];
}

const risks = ["meets", "live", "tight", "misses"] as const;
const hourMs = 3_600_000;

/**
 * Joins the estimates of a spec's two ways: as if all batches landed, and as if all were asked live. The cost of a model
 * lies between them, and is expected where batches come in time; one that is asked live at once costs what that costs.
 * Models with nothing to run are left out; null where none is left.
 */
export function joinAuto(
  batch: PlanEstimate,
  live: PlanEstimate,
  { models: autos, nowMs }: { readonly models: readonly PlannedAuto[]; readonly nowMs: number },
): { readonly estimate: PlanEstimate; readonly auto: AutoPlan | null } {
  const plans: AutoModelPlan[] = [];
  const estimates = batch.models.map((model) => {
    const auto = autos.find(({ alias }) => alias === model.alias);
    const other = live.models.find(({ alias }) => alias === model.alias);
    if (auto === undefined || other === undefined || model.requests.high === 0) return model;
    const plan = planModel(auto, model, other, laneHours(live, auto.liveLane), nowMs);
    plans.push(plan);
    return joinModel(plan, model, other, nowMs);
  });
  if (plans.length === 0) return { estimate: batch, auto: null };
  const joined = new Map(plans.map(({ alias }, at) => [alias, at]));
  const hours = [
    ...batch.lanes.filter(({ aliases }) => !aliases.some((alias) => joined.has(alias))).map((lane) => lane.hours),
    ...estimates.filter(({ alias }) => joined.has(alias)).map((model) => model.hours),
  ];
  const costUsd = batch.costUsd === null ? null : sum(estimates.flatMap((model) => model.costUsd ?? []));
  const usdOf = (of: "batchUsd" | "liveUsd"): number | null =>
    plans.reduce<number | null>((total, { [of]: usd }) => (total === null || usd === null ? null : total + usd), 0);
  const exceeds = (bound: keyof Interval): boolean =>
    batch.budget !== null && batch.budget.spentUsd + (costUsd?.[bound] ?? 0) > batch.budget.usd;
  return {
    estimate: {
      ...batch,
      models: estimates,
      costUsd,
      hours: {
        low: Math.max(...hours.map(({ low }) => low)),
        expected: Math.max(...hours.map(({ expected }) => expected)),
        high: Math.max(...hours.map(({ high }) => high)),
      },
      budget: batch.budget && {
        ...batch.budget,
        expectedExceeds: exceeds("expected"),
        highExceeds: exceeds("high"),
      },
    },
    auto: {
      batchUsd: usdOf("batchUsd"),
      liveUsd: usdOf("liveUsd"),
      risk: risks.findLast((risk) => plans.some((plan) => plan.risk === risk)) ?? "meets",
      models: plans,
    },
  };
}

function planModel(
  { alias, deadline }: PlannedAuto,
  batch: ModelEstimate,
  live: ModelEstimate,
  liveHours: Interval,
  nowMs: number,
): AutoModelPlan {
  const deadlineMs = Date.parse(deadline);
  const leftMs = deadlineMs - nowMs;
  const needsMs = neededMs(liveHours.high);
  const atMs = deadlineMs - needsMs - hurryMs;
  return {
    alias,
    deadline,
    batchUsd: batch.costUsd?.expected ?? null,
    liveUsd: live.costUsd?.expected ?? null,
    liveHours,
    turnsLiveAt: likeDeadline(Math.max(nowMs, Math.min(atMs, deadlineMs)), deadline),
    risk:
      liveHours.expected * hourMs > leftMs ? "misses" : needsMs > leftMs ? "tight" : atMs <= nowMs ? "live" : "meets",
  };
}

function joinModel(plan: AutoModelPlan, batch: ModelEstimate, live: ModelEstimate, nowMs: number): ModelEstimate {
  if (plan.risk !== "meets") return { ...batch, costUsd: live.costUsd, hours: plan.liveHours, limit: live.limit };
  const leftHours = (Date.parse(plan.deadline) - nowMs) / hourMs;
  const [low, high] = [batch.costUsd, live.costUsd];
  return {
    ...batch,
    costUsd:
      low === null || high === null
        ? null
        : { low: low.low, expected: low.expected, high: Math.max(low.high, high.high) },
    hours: {
      low: Math.min(batch.hours.low, leftHours),
      expected: Math.min(batch.hours.expected, leftHours),
      high: leftHours,
    },
  };
}

function sum(intervals: readonly Interval[]): Interval {
  const of = (bound: keyof Interval): number => intervals.reduce((total, interval) => total + interval[bound], 0);
  return { low: of("low"), expected: of("expected"), high: of("high") };
}
