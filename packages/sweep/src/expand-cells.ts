import { canonicalJson, contentId, sha256Hex } from "@hallumaze/foundation";
import { hintVersion, type Language, promptVersion } from "@hallumaze/protocol";

import type { Cell, CellPlan, Group } from "./cell-plan.ts";
import { liveLane, rehearsalLane } from "./lanes.ts";
import { tokenLimitFor } from "./read-models.ts";
import { countSeeds, subtractSeeds } from "./seeds.ts";
import type { ExcludeRule, ModelSpec, SeedRange, SweepSpec } from "./spec.ts";

/** The most cells that one sweep may have, before `exclude`. */
export const MAX_CELLS = 10_000_000;

/** The parts of a spec that span its grid. */
export type GridSpec = Omit<SweepSpec, "limits" | "prices" | "budgetUsd" | "judge" | "retries">;

/** A condition of the grid: everything of a cell but its seed and repeat. */
interface Condition {
  readonly model: ModelSpec;
  readonly size: number;
  readonly group: Group;
  readonly mirage: boolean;
  readonly language: Language;
  readonly confidence: boolean;
  /** What `exclude` leaves of the seeds; never empty. */
  readonly seeds: readonly SeedRange[];
}

/**
 * Expands a spec to its cells, one at a time: memory does not grow with their number. Deterministic: model, size,
 * group, mirage, language, confidence, repeat, then seed, each in the spec's order. `rehearsal` as in `CellPlan`.
 */
export function* expandCells(spec: GridSpec, options: { readonly rehearsal: boolean }): Generator<Cell, void> {
  for (const condition of conditions(spec)) {
    for (let repeat = 0; repeat < spec.repeats; repeat++) {
      yield* cellsOf(spec, condition, repeat, options.rehearsal);
    }
  }
}

/** How many cells `expandCells` gives; the seeds are counted, not visited. */
export function countCells(spec: GridSpec): number {
  let seeds = 0;
  for (const condition of conditions(spec)) seeds += countSeeds(condition.seeds);
  return seeds * spec.repeats;
}

/** The conditions of a spec's grid in its order: a plan of each, with its first seed, and how many cells it has. */
export function* expandConditions(
  spec: GridSpec,
  options: { readonly rehearsal: boolean },
): Generator<{ readonly alias: string; readonly plan: CellPlan; readonly cells: number }, void> {
  for (const condition of conditions(spec)) {
    const plan = { ...planOf(spec, condition, 0, options.rehearsal), seed: condition.seeds[0]?.first ?? 0 };
    yield { alias: condition.model.alias, plan, cells: countSeeds(condition.seeds) * spec.repeats };
  }
}

/** Whether `exclude` leaves any cell. */
export function hasCells(spec: GridSpec): boolean {
  return conditions(spec).next().done !== true;
}

/** The canonical text of a plan, whose hash is the cell id: keys sorted, every field present, nothing else in it. */
export function canonicalPlan(plan: CellPlan): string {
  return canonicalJson(planFields(plan));
}

/** The cell id of a plan: its content id, 32 lower-case hexadecimal digits. */
export function cellId(plan: CellPlan): string {
  return contentId(planFields(plan));
}

/** The id of a trial, one cell in one sweep: 32 lower-case hexadecimal digits. */
export function trialId(sweepId: string, cell: string): string {
  return contentId([sweepId, cell]);
}

function* cellsOf(spec: GridSpec, condition: Condition, repeat: number, rehearsal: boolean): Generator<Cell, void> {
  const { model, seeds } = condition;
  const shared = planOf(spec, condition, repeat, rehearsal);
  const [before, after] = splitAtSeed(shared);
  const lane = rehearsal ? rehearsalLane(model.lane) : model.lane;
  const live = model.mode === "auto" ? liveLane(lane) : null;
  const sweepWord = Number.parseInt(sha256Hex(spec.name).slice(0, 8), 16);
  for (const { first, last } of seeds) {
    for (let seed = first; seed <= last; seed++) {
      const id = sha256Hex(`${before}${seed}${after}`).slice(0, 32);
      const ordinal = shuffle(Number.parseInt(id.slice(0, 8), 16) ^ sweepWord);
      yield {
        cellId: id,
        alias: model.alias,
        lane,
        liveLane: live,
        ordinal,
        plan: { ...shared, seed },
      };
    }
  }
}

/**
 * Spreads a 32-bit word over 0 … 2^31-1. A cell id is random enough by itself; mixing the sweep's word in gives each sweep
 * an order of its own without a second hash a cell. SOURCE: MurmurHash3's 32-bit finaliser.
 */
function shuffle(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 1;
}

function planOf(spec: GridSpec, condition: Condition, repeat: number, rehearsal: boolean): CellPlan {
  const { model, size, group, mirage, language, confidence } = condition;
  return {
    format: 1,
    provider: model.provider,
    model: model.model,
    baseUrl: model.baseUrl,
    temperature: model.temperature,
    params: model.params,
    maxTokens: tokenLimitFor(model.maxTokens, size),
    promptVersion: promptVersion(language),
    generator: spec.generator,
    placement: spec.placement,
    seed: 0,
    size,
    group,
    ...(group === "A" ? {} : { ariadne: { hints: spec.ariadne.hints, version: hintVersion } }),
    mirage,
    language,
    confidence,
    repeat,
    rehearsal,
  };
}

/**
 * The canonical text around the seed: cells that differ in the seed alone share the rest. The last match is the right
 * one, since only numbers stand behind the seed in a plan.
 */
function splitAtSeed(plan: CellPlan): readonly [before: string, after: string] {
  const text = canonicalPlan({ ...plan, seed: 0 });
  const at = text.lastIndexOf(',"seed":0,') + ',"seed":'.length;
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Picked by name, so that a further property of the object can never change an id. */
function planFields(plan: CellPlan): { readonly [K in keyof CellPlan]: CellPlan[K] } {
  return {
    format: plan.format,
    provider: plan.provider,
    model: plan.model,
    baseUrl: plan.baseUrl,
    temperature: plan.temperature,
    params: plan.params,
    maxTokens: plan.maxTokens,
    promptVersion: plan.promptVersion,
    generator: plan.generator,
    placement: plan.placement,
    seed: plan.seed,
    size: plan.size,
    group: plan.group,
    ...(plan.ariadne === undefined ? {} : { ariadne: { hints: plan.ariadne.hints, version: plan.ariadne.version } }),
    mirage: plan.mirage,
    language: plan.language,
    confidence: plan.confidence,
    repeat: plan.repeat,
    rehearsal: plan.rehearsal,
  };
}

function* conditions(spec: GridSpec): Generator<Condition, void> {
  const seedsLeft = new Map<string, readonly SeedRange[]>();
  const leftOf = (rules: readonly ExcludeRule[]): readonly SeedRange[] => {
    const id = rules.map((rule) => spec.exclude.indexOf(rule)).join();
    const known = seedsLeft.get(id);
    if (known !== undefined) return known;
    const excluded = rules.flatMap(({ seed }) => seed ?? []);
    const left = rules.some(({ seed }) => seed === undefined) ? [] : subtractSeeds(spec.seeds, excluded);
    seedsLeft.set(id, left);
    return left;
  };
  for (const model of spec.models) {
    const ofModel = spec.exclude.filter((rule) => rule.model?.includes(model.alias) ?? true);
    for (const size of spec.sizes) {
      const ofSize = ofModel.filter((rule) => rule.size?.includes(size) ?? true);
      for (const group of spec.groups) {
        for (const mirage of spec.mirage) {
          for (const language of spec.languages) {
            for (const confidence of spec.confidence) {
              const rules = ofSize.filter(
                (rule) =>
                  (rule.group?.includes(group) ?? true) &&
                  (rule.mirage?.includes(mirage) ?? true) &&
                  (rule.language?.includes(language) ?? true) &&
                  (rule.confidence?.includes(confidence) ?? true),
              );
              const seeds = leftOf(rules);
              if (seeds.length > 0) yield { model, size, group, mirage, language, confidence, seeds };
            }
          }
        }
      }
    }
  }
}
