import type { AutoPlan } from "@hallumaze/batching";
import { type Console, integerBetween, readText, UsageError } from "@hallumaze/console";
import { checkModel, findMissingKeys, missingPrices } from "@hallumaze/runtime";
import { solverNames, solverParameters } from "@hallumaze/solvers";
import {
  judgesOf,
  parseSpec,
  type SolverRules,
  type SweepSpec,
  tokenLimitFor,
  withAbsoluteDeadlines,
} from "@hallumaze/sweep";
import { type Command, Option } from "commander";

/** The baseline solvers and their parameters, as a spec is checked against them. */
export const solverRules: SolverRules = new Map(
  solverNames.map((name) => [
    name,
    Object.fromEntries(solverParameters(name).map((parameter) => [parameter.name, parameter])),
  ]),
);

/**
 * Reads and checks a spec file; its deadlines become dates and times of this process' clock and time zone. Notes go to
 * stderr; every problem is listed with its place.
 */
export async function readSpecFile(console: Console, path: string): Promise<SweepSpec> {
  const text = await readText(console, path);
  const { spec, notes } = parseSpec(text, { fileName: path, solvers: solverRules });
  for (const note of notes) console.err(`note: ${note}`);
  return applyModelRules(console, dateDeadlines(console, spec, path), path);
}

function dateDeadlines(console: Pick<Console, "err" | "now">, spec: SweepSpec, source: string): SweepSpec {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const clocks = [spec, ...spec.models].map((one) => one.deadline);
  try {
    const dated = withAbsoluteDeadlines(spec, { nowMs: console.now(), zone });
    const said = [dated, ...dated.models].map(({ deadline }, at) => ({ clock: clocks[at], deadline }));
    for (const { clock, deadline } of new Map(said.map((one) => [one.clock, one])).values()) {
      if (deadline !== clock) console.err(`note: deadline: the next ${clock} in ${zone} is ${deadline}`);
    }
    return dated;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(`${source}: deadline: ${error.message}`);
  }
}

/** Refuses to begin a sweep whose deadline has passed: a slip in its date would buy everything at the dearer price. */
export function refusePastDeadlines(
  plan: { readonly name: string; readonly exists: boolean; readonly auto: AutoPlan | null },
  nowMs: number,
): void {
  const past = plan.auto?.models.find(({ deadline }) => Date.parse(deadline) <= nowMs);
  if (plan.exists || past === undefined) return;
  throw new UsageError(
    `${plan.name}: ${past.alias}: the deadline ${past.deadline} has passed. Take a later one, or mode: live. Nothing was sent.`,
  );
}

/**
 * Holds a spec's models to their families' rules before anything is spent: what a model refuses is an error where the
 * spec asks for it, and dropped with a warning where it is a default.
 */
export function applyModelRules(console: Pick<Console, "err" | "now">, spec: SweepSpec, source: string): SweepSpec {
  const today = new Date(console.now()).toISOString().slice(0, 10);
  const errors: string[] = [];
  const models = spec.models.map((model) => {
    const limits = [...new Set(spec.sizes.map((size) => tokenLimitFor(model.maxTokens, size)))];
    const checks = limits.map((maxTokens) => checkModel({ ...model, maxTokens }, today));
    const issues = new Map(checks.flatMap((check) => check.issues).map((issue) => [issue.message, issue]));
    for (const issue of issues.values()) {
      if (issue.severity === "error") errors.push(`${source}: ${model.alias}: ${issue.message}`);
      else console.err(`warning: ${model.alias}: ${issue.message}`);
    }
    return { ...model, temperature: checks[0]?.temperature ?? null };
  });
  if (spec.budgetUsd !== null) {
    // A budget over requests of unknown cost would hold nothing.
    const paid = [...spec.models, ...judgesOf(spec)];
    errors.push(
      ...missingPrices({ models: paid, prices: spec.prices }).map(({ message }) => `${source}: budgetUsd: ${message}`),
    );
  }
  if (errors.length > 0) throw new UsageError(errors.join("\n"));
  return { ...spec, models };
}

/** Refuses to start where a model's key is missing, naming every variable at once. */
export function requireKeys(
  console: Pick<Console, "variables">,
  spec: { readonly models: Parameters<typeof findMissingKeys>[0]; readonly judge?: SweepSpec["judge"] },
): void {
  const missing = findMissingKeys([...spec.models, ...judgesOf({ judge: spec.judge ?? null })], console.variables);
  if (missing.length === 0) return;
  throw new UsageError(`keys are missing: set ${missing.join(", ")} in the environment. Nothing was sent.`);
}

/** Adds the options that name one maze. */
export function addMazeOptions(command: Command): Command {
  return command
    .requiredOption("--size <n>", "rows and columns, 3 to 101", integerBetween(3, 101))
    .requiredOption("--seed <n>", "seed of the maze, 0 or more", integerBetween(0, Number.MAX_SAFE_INTEGER))
    .addOption(
      new Option("--generator <name>", "how walls are chosen")
        .choices(["dfs", "kruskal", "wilson", "prim"])
        .default("dfs"),
    )
    .addOption(
      new Option("--placement <name>", "where traps are put").choices(["path-order", "sampled"]).default("path-order"),
    );
}
