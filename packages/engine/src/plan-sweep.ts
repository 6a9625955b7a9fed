import type { Maze } from "@hallumaze/maze";
import { buildPrompt, estimateTokens, expectedLogTokens } from "@hallumaze/protocol";
import { type Cell, type CellPlan, countCells, expandCells, type SweepSpec } from "@hallumaze/sweep";

import { inBatches } from "./grid-batches.ts";
import type { StorePort } from "./ports/store.ts";
import { mazeOf } from "./prepare-trial.ts";

const cellBatch = 5000;
/** Mazes a condition whose prompts are measured; prompts of one condition differ by a few per cent only. */
const sampledMazes = 12;

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
  /** Estimated prompt tokens of the cells to run. */
  readonly promptTokens: number;
  /** Upper bound of reply tokens of the cells to run: the sum of their token limits. */
  readonly maxReplyTokens: number;
}

/** What a spec would do; nothing is written or spent. */
export interface SweepPlan {
  readonly name: string;
  readonly cells: number;
  readonly models: readonly ModelPlan[];
  readonly warnings: readonly string[];
  /** Rows of the stored sweep of that name that this spec no longer asks for. */
  readonly exists: boolean;
}

/** Works out a plan in one pass over the grid, with flat memory. `store` null plans as on an empty database. */
export async function planSweep(
  store: Pick<StorePort, "findAnswered" | "findSweep"> | null,
  spec: SweepSpec,
  options: { readonly fresh: boolean; readonly rehearsal: boolean },
): Promise<SweepPlan> {
  const models = new Map<string, ModelCount>();
  const estimate = promptEstimator(spec);
  const warnings = new Map<string, string>();
  for (const cells of inBatches(expandCells(spec, { rehearsal: options.rehearsal }), cellBatch)) {
    const answered = await findAnswered(store, spec.name, cells);
    for (const cell of cells) {
      const model = countOf(models, cell);
      model.cells += 1;
      if (answered.inSweep.has(cell.cellId)) model.done += 1;
      else if (answered.elsewhere.has(cell.cellId) && !options.fresh && !answered.known.has(cell.cellId))
        model.reused += 1;
      else {
        model.promptTokens += estimate(cell.plan, warnings);
        model.maxReplyTokens += cell.plan.maxTokens;
      }
    }
  }
  return {
    name: spec.name,
    cells: countCells(spec),
    models: [...models.values()].map((model) => ({
      ...model,
      toRun: model.cells - model.done - model.reused,
      promptTokens: Math.round(model.promptTokens),
    })),
    warnings: [...warnings.values()],
    exists: store !== null && (await store.findSweep(spec.name)) !== null,
  };
}

interface ModelCount {
  readonly alias: string;
  readonly lane: string;
  cells: number;
  done: number;
  reused: number;
  promptTokens: number;
  maxReplyTokens: number;
}

function countOf(models: Map<string, ModelCount>, cell: Cell): ModelCount {
  const known = models.get(cell.alias);
  if (known) return known;
  const fresh = {
    alias: cell.alias,
    lane: cell.lane,
    cells: 0,
    done: 0,
    reused: 0,
    promptTokens: 0,
    maxReplyTokens: 0,
  };
  models.set(cell.alias, fresh);
  return fresh;
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

/** Estimates prompt tokens from the spec's first few mazes in each condition, and warns where a log cannot fit. */
function promptEstimator(spec: SweepSpec): (plan: CellPlan, warnings: Map<string, string>) => number {
  const seeds = firstSeeds(spec, sampledMazes);
  const conditions = new Map<string, { readonly meanTokens: number; readonly longestLog: number }>();
  return (plan, warnings) => {
    const key = [plan.size, plan.generator, plan.placement, plan.mirage, plan.language, plan.confidence].join(" ");
    const condition = conditions.get(key) ?? measureCondition(plan, seeds);
    conditions.set(key, condition);
    const warning = `${plan.size} ${plan.language} ${plan.maxTokens}`;
    if (condition.longestLog > plan.maxTokens && !warnings.has(warning)) {
      warnings.set(warning, tightLimit(plan, condition.longestLog));
    }
    return condition.meanTokens;
  };
}

function firstSeeds(spec: SweepSpec, count: number): readonly number[] {
  const seeds: number[] = [];
  for (const { first, last } of spec.seeds) {
    for (let seed = first; seed <= last && seeds.length < count; seed += 1) seeds.push(seed);
  }
  return seeds;
}

function measureCondition(plan: CellPlan, seeds: readonly number[]): { meanTokens: number; longestLog: number } {
  let tokens = 0;
  let longestLog = 0;
  for (const seed of seeds) {
    const maze = mazeOf({ ...plan, seed });
    tokens += promptTokens(plan, maze);
    longestLog = Math.max(longestLog, expectedLogTokens(maze.solution.length, plan.language));
  }
  return { meanTokens: tokens / seeds.length, longestLog };
}

function promptTokens(plan: CellPlan, maze: Maze): number {
  const prompt = buildPrompt({ maze, mirage: plan.mirage, language: plan.language, confidence: plan.confidence });
  return estimateTokens(prompt.system) + estimateTokens(prompt.user);
}

function tightLimit(plan: CellPlan, longestLog: number): string {
  const size = `${plan.size}×${plan.size}`;
  return (
    `${size} (${plan.language}): a log of the solution alone takes about ${longestLog} tokens, maxTokens is ${plan.maxTokens}: ` +
    `replies will be cut. Raise it, for example maxTokens: { perSize: { ${plan.size}: ${Math.ceil((longestLog * 2) / 500) * 500} } }`
  );
}
