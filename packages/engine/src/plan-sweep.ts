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
  const estimate = promptEstimator();
  const warnings = new Map<string, string>();
  for (const cells of inBatches(expandCells(spec, { rehearsal: options.rehearsal }), cellBatch)) {
    const answered = await findAnswered(store, spec.name, cells);
    for (const cell of cells) {
      const model = countOf(models, cell);
      model.cells += 1;
      if (answered.inSweep.has(cell.cellId)) model.done += 1;
      else if (answered.elsewhere.has(cell.cellId) && !options.fresh && !answered.known.has(cell.cellId)) model.reused += 1;
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
  const fresh = { alias: cell.alias, lane: cell.lane, cells: 0, done: 0, reused: 0, promptTokens: 0, maxReplyTokens: 0 };
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

/** Estimates prompt tokens from the first few mazes of each condition, and warns where a log cannot fit. */
function promptEstimator(): (plan: CellPlan, warnings: Map<string, string>) => number {
  const conditions = new Map<string, { sum: number; seeds: Set<number>; longestLog: number; warned: Set<number> }>();
  return (plan, warnings) => {
    const key = [plan.size, plan.generator, plan.placement, plan.mirage, plan.language, plan.confidence].join(" ");
    const condition = conditions.get(key) ?? { sum: 0, seeds: new Set(), longestLog: 0, warned: new Set() };
    conditions.set(key, condition);
    if (condition.seeds.size < sampledMazes && !condition.seeds.has(plan.seed)) {
      const maze = mazeOf(plan);
      condition.seeds.add(plan.seed);
      condition.sum += promptTokens(plan, maze);
      condition.longestLog = Math.max(condition.longestLog, expectedLogTokens(maze.solution.length, plan.language));
    }
    if (condition.longestLog > plan.maxTokens && !condition.warned.has(plan.maxTokens)) {
      condition.warned.add(plan.maxTokens);
      warnings.set(`${plan.size} ${plan.language} ${plan.maxTokens}`, tightLimit(plan, condition.longestLog));
    }
    return condition.sum / condition.seeds.size;
  };
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
