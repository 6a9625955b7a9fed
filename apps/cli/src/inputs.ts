import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

import type { StorePort, SweepRecord } from "@hallumaze/engine";
import { checkModel, findMissingKeys, missingPrices } from "@hallumaze/runtime";
import { solverNames, solverParameters } from "@hallumaze/solvers";
import { judgesOf, parseSpec, type SolverRules, type SweepSpec, tokenLimitFor } from "@hallumaze/sweep";
import { type Command, InvalidArgumentError, Option } from "commander";
import { closest } from "fastest-levenshtein";

import type { Console } from "./console.ts";
import { UsageError } from "./errors.ts";

/** Bytes that are read at most: no spec and no reply is longer. */
const readLimitBytes = 64 * 1024 * 1024;

/** The baseline solvers and their parameters, as a spec is checked against them. */
export const solverRules: SolverRules = new Map(
  solverNames.map((name) => [
    name,
    Object.fromEntries(solverParameters(name).map((parameter) => [parameter.name, parameter])),
  ]),
);

/** Reads and checks a spec file. Notes go to stderr; every problem is listed with its place. */
export async function readSpecFile(console: Console, path: string): Promise<SweepSpec> {
  const text = await readText(resolve(console.workingFolder, path), path);
  const { spec, notes } = parseSpec(text, { fileName: path, solvers: solverRules });
  for (const note of notes) console.err(`note: ${note}`);
  return applyModelRules(console, spec, path);
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

/** Reads a text file; a missing or unreadable one is a usage error that names it. */
export async function readText(absolutePath: string, shownPath: string): Promise<string> {
  try {
    // A pipe has no size to trust: read to the end.
    const bytes = await readFile(absolutePath);
    if (bytes.length > readLimitBytes) {
      throw new UsageError(`${shownPath} has ${bytes.length} bytes; at most ${readLimitBytes} are read.`);
    }
    return bytes.toString("utf8");
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    const reason = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : String(code);
    throw new UsageError(`cannot read ${shownPath}: ${reason}. Give the path of a file.`);
  }
}

/** Finds a sweep by name; an unknown name is a usage error that lists the nearest. */
export async function findSweep(
  store: Pick<StorePort, "findSweep" | "listSweeps">,
  name: string,
): Promise<SweepRecord> {
  const sweep = await store.findSweep(name);
  if (sweep) return sweep;
  const names = (await store.listSweeps()).map((known) => known.name);
  if (names.length === 0)
    throw new UsageError(
      `there is no sweep "${name}": this database holds none yet. Start one with hallumaze run SPEC; ` +
        "data of another folder is reached with HALLUMAZE_HOME.",
    );
  throw new UsageError(
    `there is no sweep "${name}"; the nearest is "${closest(name, names)}". hallumaze status lists all.`,
  );
}

/** Makes an option parser for an integer in [min, max]. */
export function integerBetween(min: number, max: number): (word: string) => number {
  return (word) => {
    const value = Number(word);
    if (!/^-?\d+$/.test(word) || value < min || value > max) {
      throw new InvalidArgumentError(`expected a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** Makes a collecting option parser: comma-separated and repeatable. */
export function list(word: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), ...word.split(",").map((part) => part.trim())].filter((part) => part !== "");
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
