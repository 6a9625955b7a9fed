import { type Detectable, planDetectable, publishedMeiSd } from "@hallumaze/analysis";
import { type AutoPlan, joinAuto } from "@hallumaze/batching";
import { type AddCommand, type Console, exitCodes, integerBetween } from "@hallumaze/console";
import {
  type ActualUse,
  comparePlan,
  type EstimatePorts,
  type PlanEstimate,
  planSweep,
  type StorePort,
  type SweepPlan,
} from "@hallumaze/engine";
import { planOutcomeLine, planSummary, planTable } from "@hallumaze/reports";
import {
  findCapabilities,
  findDefaultLimits,
  findPrice,
  type House,
  missingPrices,
  openHouse,
  readThinking,
} from "@hallumaze/runtime";
import { InvalidArgumentError } from "commander";
import {
  countSeeds,
  deadlineMs,
  liveLane,
  type ModelSpec,
  specJsonSchema,
  type SweepSpec,
  withAbsoluteDeadline,
} from "@hallumaze/sweep";

import { readSpecFile } from "../inputs.ts";

interface PlanOptions {
  readonly fresh?: boolean;
  readonly json?: boolean;
  readonly concurrency: number;
  readonly detect?: number;
  readonly sd: number;
}

/** `plan SPEC`: what a spec would do; writes and spends nothing. */
export const addPlanCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("plan")
    .description(
      "show what a spec would do: cells, reuse, tokens, money, hours, what binds; nothing is written or spent",
    )
    .argument("<spec>", "spec file, YAML or JSON")
    .option("--fresh", "plan as if cells answered by other sweeps were run again")
    .option("--concurrency <n>", "plan for so many trials at once in each lane", integerBetween(1, 1000), defaultSlots)
    .option("--detect <difference>", "say how many seeds find this difference of MEI", shareOfOne)
    .option(
      "--sd <deviation>",
      "standard deviation of MEI over mazes, as your models have it",
      shareOfOne,
      publishedMeiSd,
    )
    .option("--json", "print the plan as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze plan examples/baselines.yaml\n");
  register(command, async (path: string, options: PlanOptions) => {
    const spec = await readSpecFile(console, path);
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const plan = await planInHouse(house, spec, { ...options, fresh: options.fresh === true, rehearsal: false });
    const past = plan.exists ? await findPast(house.store, spec.name) : null;
    for (const { message } of missingPrices(spec)) console.err(`warning: ${message}`);
    const grid = { seeds: countSeeds(spec.seeds), sizes: spec.sizes.length };
    const detectable = planDetectable(grid, { sd: options.sd, wished: options.detect ?? null });
    if (options.json) {
      const error = past === null ? null : comparePlan(past.estimate, past.actual);
      console.out(JSON.stringify({ ...plan, detectable, past: past === null ? null : { ...past, error } }));
    } else {
      printPlan(console, plan, past);
      for (const line of detectableLines(detectable, options)) console.out(line);
    }
    return exitCodes.ok;
  });
};

/** What the grid can tell apart, for a person. */
function detectableLines(found: Detectable, { sd, detect }: Pick<PlanOptions, "sd" | "detect">): readonly string[] {
  const { mazes, difference, seedsNeeded } = found;
  const told =
    difference === null
      ? `${mazes} mazes are too few to tell any difference`
      : `${mazes} mazes tell MEI differences from ${difference.toFixed(3)} on apart`;
  const basis = `(paired, 5 %, power 0.8, sd of one model's MEI over mazes ${sd.toFixed(2)}, of a difference ${found.sdOfDifference.toFixed(2)})`;
  return [
    `${told} ${basis}`,
    ...(seedsNeeded === null ? [] : [`a difference of ${detect} takes ${seedsNeeded} seeds a size ${basis}`]),
  ];
}

function shareOfOne(word: string): number {
  const value = Number(word);
  if (!(value > 0 && value <= 1)) throw new InvalidArgumentError("expected a number above 0, up to 1.");
  return value;
}

/** Trials at once in each lane, as `run` and `worker` take them unless told. */
export const defaultSlots = 16;

/** Plans a spec on what the house's ledger knows: what is answered, what like replies took, what was spent. */
export async function planInHouse(
  house: Pick<House, "store">,
  spec: SweepSpec,
  options: { readonly fresh: boolean; readonly rehearsal: boolean; readonly concurrency: number },
): Promise<SweepPlan & { readonly auto: AutoPlan | null }> {
  const { store } = house;
  const nowMs = Date.now();
  const moment = deadlineMs(withAbsoluteDeadline(spec, nowMs));
  const sweep = await store.findSweep(spec.name);
  const spentUsd = sweep === null ? 0 : Number((await store.progress(sweep.sweepId)).money.spentUsd);
  const ports = planPorts(spec, { slots: options.concurrency, history: store.replyHistory, spentUsd });
  const plan = await planSweep(store, spec, options, ports);
  if (moment === null || spec.models.every(({ mode }) => mode !== "auto")) return { ...plan, auto: null };
  const live = await planSweep(store, askedLive(spec), options, ports);
  const { estimate, auto } = joinAuto(plan.estimate, live.estimate, { deadlineMs: moment, nowMs });
  return { ...plan, estimate, auto, warnings: [...plan.warnings, ...deadlineWarnings(auto, nowMs)] };
}

/** The spec as if what may go live all went live. */
function askedLive(spec: SweepSpec): SweepSpec {
  const models = spec.models.map((model) =>
    model.mode === "auto" ? { ...model, mode: "live" as const, lane: liveLane(model.lane) } : model,
  );
  return { ...spec, models };
}

function deadlineWarnings({ risk, deadline, liveHours }: AutoPlan, nowMs: number): readonly string[] {
  if (risk !== "misses") return [];
  const left = Math.max(0, (Date.parse(deadline) - nowMs) / 3_600_000);
  return [
    `the deadline ${deadline} cannot be met: live calls alone take ${liveHours.toFixed(1)} hours, and ${left.toFixed(1)} are left. ` +
      "Raise the limits, take a later deadline, or fewer cells.",
  ];
}

/** Both prices of mode auto and what a late batch means, for a person. */
function autoLine({ batchUsd, liveUsd, risk, turnsLiveAt, deadline }: AutoPlan): string {
  const usd = (figure: number | null): string => (figure === null ? "unknown" : `$${figure.toFixed(2)}`);
  const prices = `${usd(batchUsd)} in batches, ${usd(liveUsd)} live`;
  switch (risk) {
    case "meets":
      return `auto: ${prices}; what has not landed by ${turnsLiveAt} goes live, to be done by ${deadline}`;
    case "live":
      return `auto: ${prices}; ${deadline} is too soon for batches: all is asked live`;
    case "misses":
      return `auto: ${prices}; ${deadline} is missed even live`;
  }
}

/** What the last submission with anything to run was expected to take, and what it took so far; null where unknown. */
export async function findPast(
  store: Pick<StorePort, "findSweep" | "tally">,
  name: string,
): Promise<{ readonly estimate: PlanEstimate; readonly actual: ActualUse } | null> {
  const sweep = await store.findSweep(name);
  if (sweep === null || sweep.estimate === null) return null;
  const tally = await store.tally(sweep.sweepId, sweep.estimate.sinceMs);
  if (tally.requests === 0) return null;
  return {
    estimate: JSON.parse(sweep.estimate.json) as PlanEstimate,
    actual: {
      requests: tally.requests,
      inputTokens: tally.inputTokens,
      outputTokens: tally.outputTokens,
      costUsd: tally.costUnknown > 0 || tally.costUsd === null ? null : Number(tally.costUsd),
      hours: tally.elapsedMs === null ? null : tally.elapsedMs / 3_600_000,
    },
  };
}

/** The plan's estimate as a submission keeps it; null where there is nothing to run. */
export function estimateToKeep(plan: SweepPlan): string | null {
  return plan.models.some(({ toRun }) => toRun > 0) ? JSON.stringify(plan.estimate) : null;
}

/** What an estimate asks of the providers, and of the ledger where it is given. */
export function planPorts(
  spec: SweepSpec,
  known: Partial<Pick<EstimatePorts, "slots" | "history" | "spentUsd">> = {},
): EstimatePorts {
  return {
    limitsOf: (model) => findDefaultLimits(model)?.limits ?? null,
    priceOf: (model) => findPrice(model, spec.prices),
    thinks,
    slots: known.slots ?? defaultSlots,
    history: known.history ?? null,
    spentUsd: known.spentUsd ?? 0,
  };
}

/** A family's habit, unless the spec's parameters turn thinking on or off. */
function thinks(model: ModelSpec): boolean {
  const { budget, effort, mode } = readThinking(model.params);
  const told = [budget, effort, mode].filter((word) => word !== undefined);
  if (told.length === 0) return findCapabilities(model).thinksByDefault;
  return !told.some((word) => word === 0 || word === false || word === "none" || word === "disabled");
}

/** Prints a plan for a person; `past` adds how an earlier estimate of the same sweep turned out. */
export function printPlan(
  console: Pick<Console, "out" | "err" | "columns">,
  plan: SweepPlan & { readonly auto?: AutoPlan | null },
  past: { readonly estimate: PlanEstimate; readonly actual: ActualUse } | null = null,
): void {
  const { estimate, models } = plan;
  const sum = (figure: (model: SweepPlan["models"][number]) => number): number =>
    models.reduce((total, model) => total + figure(model), 0);
  const rows = estimate.models.map((model) => {
    const counts = models.find(({ alias }) => alias === model.alias);
    return { ...model, cells: counts?.cells ?? 0, toRun: counts?.toRun ?? 0 };
  });
  console.out(planTable(rows, console.columns()));
  console.out(
    planSummary({
      ...estimate,
      cells: plan.cells,
      done: sum(({ done }) => done),
      reused: sum(({ reused }) => reused),
      toRun: sum(({ toRun }) => toRun),
      hasUnpriced: estimate.unpriced.length > 0,
    }),
  );
  if (plan.auto) console.out(autoLine(plan.auto));
  if (past !== null && past.estimate.requests.high > 0 && (past.estimate.costUsd?.high ?? 1) > 0)
    console.out(planOutcomeLine(comparePlan(past.estimate, past.actual)));
  for (const warning of plan.warnings) console.err(`warning: ${warning}`);
}

/** `schema`: the JSON Schema of spec files, for editors. */
export const addSchemaCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("schema")
    .description("print the JSON Schema of spec files, for editors")
    .option("--json", "print JSON (the default)")
    .addHelpText("after", "\nExample:\n  $ hallumaze schema > sweep.schema.json\n");
  register(command, async () => {
    console.out(JSON.stringify(specJsonSchema(), null, 2));
    return exitCodes.ok;
  });
};
