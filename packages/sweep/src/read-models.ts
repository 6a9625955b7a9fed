import { canonicalJson } from "@hallumaze/foundation";

import { suggestNearest } from "./explain-problems.ts";
import { batchLane, batchProviders, hasBatches, laneName } from "./lanes.ts";
import type { Problem, SpecPath } from "./spec-error.ts";
import type { AskMode, ModelSpec, ProviderName, TokenLimit } from "./spec.ts";
import { DEFAULT_MAX_TOKENS, PROVIDERS, type SpecInput } from "./spec-schema.ts";

/** What a number given to a baseline solver may be, both bounds included; `default` is used where it is absent. */
export interface ParameterRange {
  readonly min: number;
  readonly max: number;
  readonly default: number;
  readonly integer?: boolean;
}

/** The baseline solvers behind provider `sim` by name, each with the parameters that it takes. */
export type SolverRules = ReadonlyMap<string, Readonly<Record<string, ParameterRange>>>;

type ModelEntry = SpecInput["models"][number];
type ModelObject = Exclude<ModelEntry, string>;

/** What the models of a spec are read with. */
export interface ModelDefaults {
  readonly temperature: number | null | undefined;
  readonly maxTokens: SpecInput["maxTokens"];
  readonly mode?: AskMode | undefined;
  /** Undefined where solvers and their parameters are not to be checked. */
  readonly solvers: SolverRules | undefined;
}

/** Reads the models of a spec, defaults filled in; an entry with a problem is left out. Undefined entries are skipped. */
export function readModels(
  entries: readonly (ModelEntry | undefined)[],
  defaults: ModelDefaults,
): { models: readonly ModelSpec[]; problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const models: ModelSpec[] = [];
  const aliases = new Map<string, number>();
  const identities = new Map<string, number>();
  entries.forEach((entry, index) => {
    if (entry === undefined) return;
    const object = typeof entry === "string" ? { model: entry } : entry;
    const path = ["models", index];
    const read = readModel(object, path, typeof entry === "string" ? path : [...path, "model"], defaults);
    problems.push(...read.problems);
    if (read.model === null) return;
    const twin = sameModel(read.model, index, aliases, identities);
    if (twin !== null) problems.push({ path: object.as === undefined ? path : [...path, "as"], ...twin });
    models.push(read.model);
  });
  return { models, problems };
}

/** The token limit of a maze size. */
export function tokenLimitFor(limit: TokenLimit, size: number): number {
  return limit.perSize[String(size)] ?? limit.default;
}

function readModel(
  object: ModelObject,
  path: SpecPath,
  modelPath: SpecPath,
  defaults: ModelDefaults,
): { model: ModelSpec | null; problems: readonly Problem[] } {
  const name = splitName(object.model, modelPath, defaults.solvers);
  if ("message" in name) return { model: null, problems: [name] };
  const { provider, model } = name;
  const problems: Problem[] = [];
  const given = object.params ?? {};
  let params = { ...given };
  if (provider === "sim") {
    for (const key of ["baseUrl", "keyEnv"] as const) {
      if (object[key] === undefined) continue;
      problems.push({ path: [...path, key], message: "provider sim runs in this process and takes no server or key" });
    }
    if (defaults.solvers !== undefined) {
      const solver = readSolverParams(model, given, path, modelPath, defaults.solvers);
      problems.push(...solver.problems);
      params = { ...solver.params };
    }
  }
  const baseUrl = object.baseUrl === undefined ? null : canonicalUrl(object.baseUrl);
  const laneOverride = object.lane ?? null;
  const temperature = object.temperature !== undefined ? object.temperature : defaults.temperature;
  const mode = object.mode ?? (hasBatches(provider, baseUrl) ? defaults.mode : undefined) ?? "live";
  const problem = deadlineProblem(object, mode);
  if (problem !== null) problems.push({ path: [...path, "deadline"], ...problem });
  if (mode !== "live" && !hasBatches(provider, baseUrl)) {
    const whose = baseUrl === null ? `provider ${provider}` : "a server of one's own";
    const message = `${whose} is not asked in batches by this version; providers are ${batchProviders.join(", ")}`;
    problems.push({ path: [...path, "mode"], message });
  }
  const lane = laneName({ provider, model, baseUrl, laneOverride });
  const read: ModelSpec = {
    provider,
    model,
    alias: object.as ?? `${provider}/${model}`,
    lane: mode === "live" ? lane : batchLane(lane),
    laneOverride,
    baseUrl,
    keyEnv: object.keyEnv ?? null,
    temperature: temperature === undefined ? 0 : plainZero(temperature),
    temperatureExplicit: temperature !== undefined,
    params: mapValues(params, plainZero),
    maxTokens: readTokenLimit(object.maxTokens, defaults.maxTokens),
    mode,
    deadline: object.deadline ?? null,
  };
  return { model: problems.length === 0 ? read : null, problems };
}

/** A deadline decides when a model of mode auto goes live: for another mode it decides nothing. */
function deadlineProblem({ deadline, mode: own }: ModelObject, mode: AskMode): Omit<Problem, "path"> | null {
  if (deadline === undefined || mode === "auto") return null;
  if (mode === "batch") {
    const message = "a model of mode batch waits for its batches however long they take, so it keeps no deadline";
    return { message, suggestion: "set mode: auto, or remove the deadline" };
  }
  const why = own === "live" ? "mode live asks at once" : "this model is asked live, at once";
  return { message: `${why}: a deadline changes nothing`, suggestion: "set mode: auto, or remove the deadline" };
}

/** Splits at the first slash: a model's own name may hold slashes and colons. */
function splitName(
  text: string,
  path: SpecPath,
  solvers: SolverRules | undefined,
): { provider: ProviderName; model: string } | Problem {
  const slash = text.indexOf("/");
  if (slash < 1 || slash === text.length - 1) {
    const message = "a model is written provider/model, such as sim/dfs-honest";
    return solvers?.has(text) === true
      ? { path, message, suggestion: `did you mean "sim/${text}"?` }
      : { path, message };
  }
  const provider = PROVIDERS.find((known) => known === text.slice(0, slash));
  if (provider === undefined) {
    const message = `unknown provider ${JSON.stringify(text.slice(0, slash).slice(0, 40))}`;
    return { path, message, ...suggestNearest(text.slice(0, slash), PROVIDERS, "providers") };
  }
  const model = text.slice(slash + 1);
  if (/[\s\p{Cc}]/u.test(model)) return { path, message: "a model's name holds no spaces or control characters" };
  return { provider, model };
}

function readSolverParams(
  solver: string,
  given: Readonly<Record<string, number | string | boolean>>,
  path: SpecPath,
  modelPath: SpecPath,
  solvers: SolverRules,
): { params: Readonly<Record<string, number | string | boolean>>; problems: readonly Problem[] } {
  const ranges = solvers.get(solver);
  if (ranges === undefined) {
    const message = `unknown solver ${JSON.stringify(solver.slice(0, 60))}`;
    const problem = { path: modelPath, message, ...suggestNearest(solver, [...solvers.keys()], "solvers") };
    return { params: {}, problems: [problem] };
  }
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(given)) {
    const at = [...path, "params", name];
    const range = Object.hasOwn(ranges, name) ? ranges[name] : undefined;
    if (range === undefined) {
      const message = `solver ${solver} has no such parameter`;
      problems.push({ path: at, atKey: true, message, ...suggestNearest(name, Object.keys(ranges), "its parameters") });
    } else if (!fits(value, range)) {
      const kind = range.integer === true ? "a whole number" : "a number";
      const got = typeof value === "string" ? "a text" : String(value);
      problems.push({ path: at, message: `must be ${kind} from ${range.min} to ${range.max}, got ${got}` });
    }
  }
  return { params: { ...mapValues(ranges, (range) => range.default), ...given }, problems };
}

function fits(value: number | string | boolean, { min, max, integer }: ParameterRange): boolean {
  if (typeof value !== "number" || value < min || value > max) return false;
  return integer !== true || Number.isInteger(value);
}

/** Finds an earlier model with the same name, or with another name but the same cells. */
function sameModel(
  model: ModelSpec,
  index: number,
  aliases: Map<string, number>,
  identities: Map<string, number>,
): Omit<Problem, "path"> | null {
  const { provider, model: name, baseUrl, temperature, params, maxTokens } = model;
  const perSize = { ...maxTokens.perSize };
  const identity = canonicalJson([provider, name, baseUrl, temperature, params, maxTokens.default, perSize]);
  const named = aliases.get(model.alias);
  const twin = identities.get(identity);
  if (named === undefined) aliases.set(model.alias, index);
  if (twin === undefined) identities.set(identity, index);
  if (twin !== undefined) {
    const message = `the same model with the same parameters as models[${twin}]: its cells would be the same`;
    return { message, suggestion: "remove one of them; for several runs of each maze set repeats" };
  }
  if (named === undefined) return null;
  const message = `models[${named}] has this name already: ${JSON.stringify(model.alias)}`;
  return { message, suggestion: 'give one of them another name with "as"' };
}

function readTokenLimit(own: SpecInput["maxTokens"], general: SpecInput["maxTokens"]): TokenLimit {
  const written = own ?? general ?? DEFAULT_MAX_TOKENS;
  if (typeof written === "number") return { default: written, perSize: {} };
  const fallback = typeof general === "number" ? general : (general?.default ?? DEFAULT_MAX_TOKENS);
  return { default: written.default ?? fallback, perSize: { ...written.perSize } };
}

/** One spelling a server: scheme and host in lower case, no slash at the end. */
function canonicalUrl(url: string): string {
  return url.replace(/^https?:\/\/[^/]+/i, (origin) => origin.toLowerCase()).replace(/\/+$/, "");
}

/** Turns -0 into 0; all other values stay. */
function plainZero<Value>(value: Value): Value | number {
  return typeof value === "number" ? value + 0 : value;
}

function mapValues<Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
