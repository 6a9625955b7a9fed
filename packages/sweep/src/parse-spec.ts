import type { Json } from "@hallumaze/foundation";

import { checkSpec } from "./check-spec.ts";
import type { SolverRules } from "./read-models.ts";
import { redact } from "./secrets.ts";
import { writeSeeds } from "./seeds.ts";
import type { ModelSpec, SweepSpec } from "./spec.ts";
import { formatPath, type Problem, SpecError, type SpecIssue } from "./spec-error.ts";
import { readSpecText, type TextPlace } from "./spec-text.ts";

/** How a spec's text is read. */
export interface ParseOptions {
  /** Shown in messages; with format `auto` its ending decides: `.json` is JSON, all else YAML. */
  readonly fileName: string;
  readonly format?: "yaml" | "json" | "auto";
  /** The baseline solvers and their parameters; absent, neither is checked nor filled in. */
  readonly solvers?: SolverRules;
}

/** A spec that can run, and what its reader should know (repeats dropped and the like). */
export interface ParsedSpec {
  readonly spec: SweepSpec;
  readonly notes: readonly string[];
}

/** The most problems that one error lists. */
const MAX_ISSUES = 100;

/**
 * Reads a spec file: YAML 1.2 or JSON, checked, defaults filled in. Throws a SpecError with every problem, each with its
 * line, and no key-like text in it. Takes any text, up to 1,000,000 characters, in bounded time.
 */
export function parseSpec(text: string, options: ParseOptions): ParsedSpec {
  const { fileName } = options;
  const asked = options.format ?? "auto";
  const format = asked === "auto" ? (/\.json$/i.test(fileName) ? "json" : "yaml") : asked;
  const located = readSpecText(text, format);
  const read = located.problems.map((problem) => toIssue(problem, problem.place));
  if (located.value === null && read.length > 0) throw specError(fileName, read);
  const checked = checkSpec(located.value, { solvers: options.solvers });
  if (checked.spec !== null && read.length === 0) return { spec: checked.spec, notes: checked.notes };
  // Only what is shown is looked up: a hostile text may hold a problem a line.
  const shown = checked.problems.slice(0, MAX_ISSUES);
  const issues = shown.map((problem) => toIssue(problem, located.locate(problem.path, problem.atKey ?? false)));
  throw specError(fileName, [...read, ...issues], checked.problems.length - shown.length);
}

/** Checks a spec that was not read from a file; `nameOf` names a place in the reader's own words. */
export function parseSpecValue(
  value: Json,
  options: { readonly source: string; readonly solvers?: SolverRules; readonly nameOf?: (path: string) => string },
): ParsedSpec {
  const checked = checkSpec(value, { solvers: options.solvers });
  const issues = checked.problems.map((problem) => toIssue(problem, null, options.nameOf));
  if (checked.spec === null) throw specError(options.source, issues);
  return { spec: checked.spec, notes: checked.notes };
}

/** Writes a spec as JSON that `parseStoredSpec` and `parseSpec` read back to an equal spec. */
export function specToJson(spec: SweepSpec): string {
  const { models, seeds, deadline, budgetUsd, priority, weight, judge, exclude, ...others } = spec;
  return JSON.stringify({
    ...others,
    models: models.map(writeModel),
    seeds: writeSeeds(seeds),
    ...(deadline === null ? {} : { deadline }),
    ...(budgetUsd === null ? {} : { budgetUsd }),
    // Only where they say something: a worker of the release before refuses a key that it does not know.
    ...(priority === 0 ? {} : { priority }),
    ...(weight === 1 ? {} : { weight }),
    ...(judge === null ? {} : { judge }),
    exclude: exclude.map(({ seed, ...rule }) => (seed === undefined ? rule : { ...rule, seed: writeSeeds(seed) })),
  });
}

/** Reads a spec that `specToJson` wrote. Throws a SpecError. */
export function parseStoredSpec(json: string): SweepSpec {
  const source = "stored spec";
  let value: Json;
  try {
    value = JSON.parse(json) as Json;
  } catch {
    throw specError(source, [{ path: "", line: null, column: null, message: "not valid JSON", suggestion: null }]);
  }
  const checked = checkSpec(value, { solvers: undefined });
  if (checked.spec !== null) return checked.spec;
  throw specError(
    source,
    checked.problems.map((problem) => toIssue(problem, null)),
  );
}

function writeModel(model: ModelSpec): Json {
  const { maxTokens } = model;
  const plain = Object.keys(maxTokens.perSize).length === 0;
  return {
    model: `${model.provider}/${model.model}`,
    as: model.alias,
    params: model.params,
    maxTokens: plain ? maxTokens.default : { perSize: maxTokens.perSize, default: maxTokens.default },
    ...(model.temperatureExplicit ? { temperature: model.temperature } : {}),
    ...(model.baseUrl === null ? {} : { baseUrl: model.baseUrl }),
    ...(model.keyEnv === null ? {} : { keyEnv: model.keyEnv }),
    ...(model.laneOverride === null ? {} : { lane: model.laneOverride }),
    // Only where it says something, as above.
    ...(model.mode === "live" ? {} : { mode: model.mode }),
    ...(model.deadline === null ? {} : { deadline: model.deadline }),
  };
}

/** Gives a problem its place, its path in words, and takes key-like text out of it. */
export function toIssue(problem: Problem, place: TextPlace | null, nameOf?: (path: string) => string): SpecIssue {
  const path = formatPath(problem.path);
  return {
    path: nameOf === undefined ? path : nameOf(path),
    line: place?.line ?? null,
    column: place?.column ?? null,
    message: redact(problem.message),
    suggestion: problem.suggestion === undefined ? null : redact(problem.suggestion),
  };
}

/** An error with its problems in the text's order; beyond 100 problems the rest is counted. */
export function specError(fileName: string, issues: readonly SpecIssue[], unlisted = 0): SpecError {
  const sorted = [...issues].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
  const rest = unlisted + Math.max(0, sorted.length - MAX_ISSUES);
  if (rest === 0) return new SpecError(fileName, sorted);
  const more = { path: "", line: null, column: null, message: `and ${rest} more problems`, suggestion: null };
  return new SpecError(fileName, [...sorted.slice(0, MAX_ISSUES), more]);
}
