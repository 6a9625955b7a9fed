import { type Detectable, planDetectable, publishedMeiSd } from "@hallumaze/analysis";
import type { AutoModelPlan, AutoPlan } from "@hallumaze/batching";
import { type AddCommand, type Console, exitCodes, integerBetween } from "@hallumaze/console";
import { type ActualUse, comparePlan, type PlanEstimate, type StorePort, type SweepPlan } from "@hallumaze/engine";
import { planOutcomeLine, planSummary, planTable } from "@hallumaze/reports";
import { defaultSlots, type HousePlan, missingPrices, openHouse, planInHouse } from "@hallumaze/runtime";
import { InvalidArgumentError } from "commander";
import { countSeeds, specJsonSchema } from "@hallumaze/sweep";

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
    const nowMs = console.now();
    const plan = await planInHouse(house, spec, { ...options, fresh: options.fresh === true, rehearsal: false, nowMs });
    const past = plan.exists ? await findPast(house.store, spec.name) : null;
    for (const { message } of missingPrices(spec)) console.err(`warning: ${message}`);
    for (const warning of deadlineWarnings(plan, nowMs)) console.err(`warning: ${warning}`);
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

/** What threatens the deadlines of mode auto, for a person. */
export function deadlineWarnings(
  { auto, exists }: Pick<HousePlan, "auto" | "exists">,
  nowMs: number,
): readonly string[] {
  return (auto?.models ?? []).flatMap(({ alias, deadline, risk, liveHours }) => {
    const leftHours = (Date.parse(deadline) - nowMs) / 3_600_000;
    const left = `${Math.max(0, leftHours).toFixed(1)} are left`;
    const mend = "Raise the limits, take a later deadline, or fewer cells.";
    if (risk === "tight") {
      const takes = `${liveHours.expected.toFixed(1)} to ${liveHours.high.toFixed(1)} hours`;
      return [`${alias}: the deadline ${deadline} may be missed: live calls alone take ${takes}, and ${left}. ${mend}`];
    }
    if (risk !== "misses") return [];
    if (leftHours <= 0) {
      const then = exists ? "all is asked live at once" : "run will refuse it. Take a later one, or mode: live";
      return [`${alias}: the deadline ${deadline} has passed: ${then}.`];
    }
    const takes = `${liveHours.expected.toFixed(1)} hours`;
    return [`${alias}: the deadline ${deadline} cannot be met: live calls alone take ${takes}, and ${left}. ${mend}`];
  });
}

/** Both prices of mode auto, and what a late batch means, for a person: in one line where the models agree. */
export function autoLines(auto: AutoPlan | null | undefined): readonly string[] {
  const [first, ...others] = auto?.models ?? [];
  if (!auto || first === undefined) return [];
  const agree = others.every(({ deadline, risk }) => deadline === first.deadline && risk === first.risk);
  // ISO dates with one offset sort as their moments do.
  const turnsLiveAt = auto.models.map((model) => model.turnsLiveAt).toSorted()[0] ?? first.turnsLiveAt;
  if (agree) return [`auto: ${bothPrices(auto)}; ${outlook({ ...first, turnsLiveAt })}`];
  const models = auto.models.map((model) => `  ${model.alias}: ${bothPrices(model)}; ${outlook(model)}`);
  return [`auto: ${bothPrices(auto)}; by model:`, ...models];
}

function bothPrices({ batchUsd, liveUsd }: Pick<AutoPlan, "batchUsd" | "liveUsd">): string {
  const usd = (figure: number | null): string => (figure === null ? "unknown" : `$${figure.toFixed(2)}`);
  return `${usd(batchUsd)} in batches, ${usd(liveUsd)} live`;
}

function outlook({ risk, turnsLiveAt, deadline }: Pick<AutoModelPlan, "risk" | "turnsLiveAt" | "deadline">): string {
  switch (risk) {
    case "meets":
      return `what has not landed by ${turnsLiveAt} goes live, to be done by ${deadline} also if no batch comes`;
    case "live":
      return `${deadline} is too soon for batches: all is asked live, in time`;
    case "tight":
      return `${deadline} is too soon for batches: all is asked live, and some of it may be late`;
    case "misses":
      return `${deadline} is missed even live: all is asked live at once`;
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
  for (const line of autoLines(plan.auto)) console.out(line);
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
