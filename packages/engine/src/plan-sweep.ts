import {
  askedLive,
  type Cell,
  type CellPlan,
  countCells,
  expandCells,
  expandConditions,
  judgeLane,
  type SweepSpec,
} from "@hallumaze/sweep";

import {
  addIntervals,
  type CellGroup,
  type ConditionTokens,
  type Interval,
  measureCondition,
  sampledMazes,
} from "./estimate-cells.ts";
import { type EstimatePorts, estimateSweep, type PlanEstimate } from "./estimate-sweep.ts";
import { inBatches } from "./grid-batches.ts";
import type { StorePort } from "./ports/store.ts";

const cellBatch = 5000;

/** What one model of a plan would do. */
export interface ModelPlan {
  readonly alias: string;
  readonly lane: string;
  readonly cells: number;
  /** Answered in this sweep already. */
  readonly done: number;
  /** Answered by another sweep of this database: taken over. */
  readonly reused: number;
  readonly toRun: number;
}

/** What a spec would do; nothing is written or spent. */
export interface SweepPlan {
  readonly name: string;
  readonly cells: number;
  readonly models: readonly ModelPlan[];
  /** What the cells to run are expected to take. */
  readonly estimate: PlanEstimate;
  readonly warnings: readonly string[];
  /** Whether a sweep of that name is stored. */
  readonly exists: boolean;
}

/**
 * Works out a plan in one pass over the grid; memory grows with the conditions, not with the cells. `store` null plans as
 * on an empty database; without `ports` no limit, price or history is known. `judged`: requests to the spec's judges that
 * have ended in this sweep; 0 unless told.
 */
export async function planSweep(
  store: Pick<StorePort, "findAnswered" | "findSweep"> | null,
  spec: SweepSpec,
  options: { readonly fresh: boolean; readonly rehearsal: boolean; readonly judged?: number },
  ports?: EstimatePorts,
): Promise<SweepPlan> {
  const models = new Map<string, ModelCount>();
  const groups: OpenGroup[] = [];
  const answeredGroups: OpenGroup[] = [];
  for (const cells of inBatches(expandCells(spec, { rehearsal: options.rehearsal }), cellBatch)) {
    const answered = await findAnswered(store, spec.name, cells);
    for (const cell of cells) {
      const model = countOf(models, cell);
      model.cells += 1;
      const isDone = answered.inSweep.has(cell.cellId);
      const isReused =
        !isDone && answered.elsewhere.has(cell.cellId) && !options.fresh && !answered.known.has(cell.cellId);
      if (isDone) model.done += 1;
      if (isReused) model.reused += 1;
      groupOf(isDone || isReused ? answeredGroups : groups, cell).cells += 1;
    }
  }
  const conditionOf = conditionMeasure(spec);
  return {
    name: spec.name,
    cells: countCells(spec),
    models: [...models.values()].map((model) => ({ ...model, toRun: model.cells - model.done - model.reused })),
    estimate: await estimateSweep(spec, groups, conditionOf, options, ports, {
      groups: answeredGroups,
      judged: options.judged ?? 0,
    }),
    warnings: tightLimits(groups, conditionOf),
    exists: store !== null && (await store.findSweep(spec.name)) !== null,
  };
}

interface ModelCount {
  readonly alias: string;
  readonly lane: string;
  cells: number;
  done: number;
  reused: number;
}

function countOf(models: Map<string, ModelCount>, cell: Cell): ModelCount {
  const known = models.get(cell.alias);
  if (known) return known;
  const fresh = { alias: cell.alias, lane: cell.lane, cells: 0, done: 0, reused: 0 };
  models.set(cell.alias, fresh);
  return fresh;
}

interface OpenGroup extends CellGroup {
  cells: number;
}

/** The group of a cell. The grid comes condition by condition, so a new group begins where a condition changes. */
function groupOf(groups: OpenGroup[], { alias, plan }: Cell): OpenGroup {
  const last = groups.at(-1);
  if (last?.alias === alias && isSameCondition(last.plan, plan)) return last;
  const fresh = { alias, plan, cells: 0 };
  groups.push(fresh);
  return fresh;
}

function isSameCondition(one: CellPlan, other: CellPlan): boolean {
  return (
    one.size === other.size &&
    one.group === other.group &&
    one.mirage === other.mirage &&
    one.language === other.language &&
    one.confidence === other.confidence
  );
}

async function findAnswered(
  store: Pick<StorePort, "findAnswered"> | null,
  sweepName: string,
  cells: readonly Cell[],
): Promise<Record<"inSweep" | "elsewhere" | "known", ReadonlySet<string>>> {
  if (store === null) return { inSweep: new Set(), elsewhere: new Set(), known: new Set() };
  const found = await store.findAnswered(
    sweepName,
    cells.map((cell) => cell.cellId),
  );
  return { inSweep: new Set(found.inSweep), elsewhere: new Set(found.elsewhere), known: new Set(found.known) };
}

/** Measures each condition once, over the spec's first few mazes. */
function conditionMeasure(spec: SweepSpec): (group: CellGroup) => ConditionTokens {
  const seeds = firstSeeds(spec, sampledMazes);
  const conditions = new Map<string, ConditionTokens>();
  return ({ plan }) => {
    const key = [plan.size, plan.mirage, plan.language, plan.confidence].join(" ");
    const condition = conditions.get(key) ?? measureCondition(plan, seeds);
    conditions.set(key, condition);
    return condition;
  };
}

/**
 * Opens the estimate of what asking a sweep's open trials live takes, as `planSweep` estimates a whole grid: from how many
 * are open of each alias, taken to be spread over its conditions as the grid is. Conditions are measured once.
 */
export function openLiveEstimator(
  spec: SweepSpec,
  options: { readonly rehearsal: boolean },
): (open: ReadonlyMap<string, number>, ports: EstimatePorts) => Promise<PlanEstimate> {
  const live = askedLive(spec);
  const conditions = [...expandConditions(spec, options)];
  const cellsOf = new Map<string, number>();
  for (const { alias, cells } of conditions) cellsOf.set(alias, (cellsOf.get(alias) ?? 0) + cells);
  const conditionOf = conditionMeasure(spec);
  return async (open, ports) => {
    const groups = conditions.map(({ alias, plan, cells }) => ({
      alias,
      plan,
      cells: (cells * (open.get(alias) ?? 0)) / (cellsOf.get(alias) ?? 1),
    }));
    return estimateSweep(live, groups, conditionOf, options, ports);
  };
}

/**
 * How long a lane is busy by an estimate, in hours: with its trials, and with the judges that share its limits. `lane` is
 * none of a rehearsal's: an estimate names the real ones.
 */
export function laneHours({ lanes, models }: Pick<PlanEstimate, "lanes" | "models">, lane: string): Interval {
  return addIntervals([
    ...lanes.filter((one) => one.lane === lane).map(({ hours }) => hours),
    ...models.filter((one) => one.lane === judgeLane(lane)).map(({ hours }) => hours),
  ]);
}

function firstSeeds(spec: SweepSpec, count: number): readonly number[] {
  const seeds: number[] = [];
  for (const { first, last } of spec.seeds) {
    for (let seed = first; seed <= last && seeds.length < count; seed += 1) seeds.push(seed);
  }
  return seeds;
}

/** Warns, once for each size, language and limit, where the log of a solution cannot fit. */
function tightLimits(
  groups: readonly CellGroup[],
  conditionOf: (group: CellGroup) => ConditionTokens,
): readonly string[] {
  const warnings = groups.flatMap((group) => {
    const { longestLog } = conditionOf(group);
    return longestLog > group.plan.maxTokens ? [tightLimit(group.plan, longestLog)] : [];
  });
  return [...new Set(warnings)];
}

function tightLimit(plan: CellPlan, longestLog: number): string {
  const size = `${plan.size}×${plan.size}`;
  return (
    `${size} (${plan.language}): a log of the solution alone takes about ${longestLog} tokens, maxTokens is ${plan.maxTokens}: ` +
    `replies will be cut. Raise it, for example maxTokens: { perSize: { ${plan.size}: ${Math.ceil((longestLog * 2) / 500) * 500} } }`
  );
}

/** What a sweep took, as far as it is known. */
export interface ActualUse {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  readonly hours: number | null;
}

/** How an estimate turned out. Ratios are actual over expected: null where either is unknown, or nothing was expected and something came. */
export interface PlanError {
  readonly requestsRatio: number | null;
  readonly inputTokensRatio: number | null;
  readonly outputTokensRatio: number | null;
  readonly costRatio: number | null;
  readonly hoursRatio: number | null;
  /** What `within` is about: the money, or the reply tokens where the money is unknown. */
  readonly judgedBy: "costUsd" | "outputTokens";
  readonly planned: Interval;
  readonly actual: number;
  /** Whether the actual figure lies within the interval. */
  readonly within: boolean;
}

/** Holds an estimate against what the same cells took. A part without a price makes the money unknown: no part is compared to a whole. */
export function comparePlan(estimate: PlanEstimate, actual: ActualUse): PlanError {
  const planned = estimate.unpriced.length === 0 ? estimate.costUsd : null;
  const byCost = planned !== null && actual.costUsd !== null;
  const interval = byCost ? planned : estimate.outputTokens;
  const figure = byCost && actual.costUsd !== null ? actual.costUsd : actual.outputTokens;
  return {
    requestsRatio: ratio(actual.requests, estimate.requests),
    inputTokensRatio: ratio(actual.inputTokens, estimate.inputTokens),
    outputTokensRatio: ratio(actual.outputTokens, estimate.outputTokens),
    costRatio: ratio(actual.costUsd, planned),
    hoursRatio: ratio(actual.hours, estimate.hours),
    judgedBy: byCost ? "costUsd" : "outputTokens",
    planned: interval,
    actual: figure,
    within: interval.low <= figure && figure <= interval.high,
  };
}

function ratio(actual: number | null, planned: Interval | null): number | null {
  if (actual === null || planned === null) return null;
  if (planned.expected === 0) return actual === 0 ? 1 : null;
  return actual / planned.expected;
}
