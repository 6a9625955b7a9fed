import type { Json } from "@hallumaze/foundation";

import { hasCells, MAX_CELLS } from "./expand-cells.ts";
import { explainIssue, suggestNearest } from "./explain-problems.ts";
import { batchProviders, hasBatches, limitNames, priceNames } from "./lanes.ts";
import { readModels, type SolverRules } from "./read-models.ts";
import { holdsSecret, isSecretName, redact } from "./secrets.ts";
import { countSeeds, dropRepeatedSeeds, MAX_SEEDS, readSeeds } from "./seeds.ts";
import type { ExcludeRule, JudgeModelSpec, JudgeSpec, ModelSpec, SweepSpec } from "./spec.ts";
import type { Problem, SpecPath } from "./spec-error.ts";
import { knownKeys, PROVIDERS, type SpecInput, specSchema } from "./spec-schema.ts";

/** What a spec is checked against. */
export interface CheckOptions {
  /** Undefined: solvers and their parameters are not checked. */
  readonly solvers: SolverRules | undefined;
}

/** A checked spec with what the reader should know; or every problem found. */
export interface CheckedSpec {
  readonly spec: SweepSpec | null;
  readonly problems: readonly Problem[];
  readonly notes: readonly string[];
}

/** Checks a spec read into plain values and fills in the defaults. Never throws. */
export function checkSpec(raw: Json, options: CheckOptions): CheckedSpec {
  if (raw === null || typeof raw !== "object" || Array.isArray(raw)) {
    return { spec: null, notes: [], problems: [{ path: [], message: "a spec is a list of `key: value` lines" }] };
  }
  const secrets = findSecrets(raw, []);
  const shape = specSchema.safeParse(raw);
  const problems = shape.success ? [] : shape.error.issues.flatMap((issue) => explainIssue(issue, raw, knownKeys));
  const notes: string[] = [];
  const spec = normalise(validParts(raw as Partial<SpecInput>, problems), options, problems, notes);
  const all = [...secrets, ...withoutSecretPlaces(problems, secrets)];
  return { spec: all.length === 0 ? spec : null, problems: all, notes: notes.map(redact) };
}

/** The fields without a finding; of the models, the entries without one. They have the schema's types. */
function validParts(
  raw: Partial<SpecInput>,
  problems: readonly Problem[],
): Partial<SpecInput> & { badModels: boolean; hasDeadline: boolean } {
  const badFields = new Set<unknown>();
  const badModels = new Set<unknown>();
  for (const { path } of problems) {
    if (path[0] === "models" && path.length > 1) badModels.add(path[1]);
    else badFields.add(path[0]);
  }
  const valid = Object.entries(raw).filter(([key]) => Object.hasOwn(specSchema.shape, key) && !badFields.has(key));
  const parts = Object.fromEntries(valid) as { -readonly [K in keyof SpecInput]?: SpecInput[K] };
  if (parts.models !== undefined && badModels.size > 0) {
    parts.models = parts.models.map((model, index) =>
      badModels.has(index) ? undefined : model,
    ) as SpecInput["models"];
  }
  return { ...parts, badModels: badModels.size > 0, hasDeadline: Object.hasOwn(raw, "deadline") };
}

function normalise(
  input: ReturnType<typeof validParts>,
  options: CheckOptions,
  problems: Problem[],
  notes: string[],
): SweepSpec | null {
  const { temperature, maxTokens, mode } = input;
  const read = readModels(input.models ?? [], { temperature, maxTokens, mode, solvers: options.solvers });
  problems.push(...read.problems);
  const auto = read.models.filter((model) => model.mode === "auto");
  const undated = auto.filter(({ deadline }) => deadline === null);
  // A deadline that cannot be read is told by itself.
  if (undated.length > 0 && !input.hasDeadline) {
    const whose = undated.length === auto.length ? "" : ` (${undated.map(({ alias }) => alias).join(", ")})`;
    problems.push({ path: ["mode"], message: `auto needs a deadline, such as deadline: "08:00"${whose}` });
  }
  if (input.deadline !== undefined && !input.badModels && auto.every(({ deadline }) => deadline !== null)) {
    notes.push(
      `deadline: ${auto.length === 0 ? "no model is of mode auto" : "each model has its own"}; it changes nothing`,
    );
  }
  if (mode === "batch" || mode === "auto") {
    const live = read.models.filter((model) => model.mode === "live").map(({ alias }) => alias);
    if (live.length > 0) notes.push(`mode: ${live.join(", ")} asked live: no batch interface`);
  }
  const listed = readSeeds(input.seeds ?? [], ["seeds"]);
  problems.push(...listed.problems);
  const seeds = countSeeds(listed.ranges) > MAX_SEEDS ? null : dropRepeatedSeeds(listed.ranges);
  if (seeds !== null && seeds.first !== null) {
    notes.push(`seeds: ${count(seeds.dropped, "repeat")} dropped, the first of seed ${seeds.first}`);
  }
  const modelsKnown = input.models !== undefined && !input.badModels && read.problems.length === 0;
  const exclude = readExclude(input.exclude ?? [], modelsKnown ? read.models : null, problems);
  if (modelsKnown) {
    const judges = judgeNames(input.judge?.models ?? [], problems);
    if (mode === "batch") notes.push(...liveJudges(input.judge?.models ?? []));
    checkLimits(input.limits ?? {}, read.models, judges, problems);
    checkNames(
      "prices",
      Object.keys(input.prices ?? {}),
      read.models,
      [...read.models.flatMap(priceNames), ...judges],
      problems,
    );
  }
  const { name, sizes } = input;
  if (problems.length > 0 || name === undefined || sizes === undefined || seeds === null) return null;
  const unique = <Value>(key: string, values: readonly Value[]): readonly Value[] => withoutRepeats(key, values, notes);
  const flags = (key: "mirage" | "confidence"): readonly boolean[] => unique(key, [input[key] ?? true].flat());
  const spec: SweepSpec = {
    name,
    models: read.models,
    seeds: seeds.ranges,
    sizes: unique("sizes", sizes),
    groups: unique("groups", input.groups ?? ["A"]),
    mirage: flags("mirage"),
    confidence: flags("confidence"),
    languages: unique("languages", input.languages ?? ["ko"]),
    generator: input.generator ?? "dfs",
    placement: input.placement ?? "path-order",
    repeats: input.repeats ?? 1,
    limits: input.limits ?? {},
    prices: input.prices ?? {},
    ariadne: { hints: 1, shadow: true, ...input.ariadne },
    deadline: input.deadline ?? null,
    budgetUsd: input.budgetUsd ?? null,
    priority: input.priority ?? 0,
    weight: input.weight ?? 1,
    judge: readJudge(input.judge, mode),
    retries: { tries: 4, empty: 1, ...input.retries },
    exclude,
  };
  checkGrid(spec, problems, notes);
  return spec;
}

/** Reads the rules of `exclude`; an alias is checked only where every model is known. */
function readExclude(
  entries: NonNullable<SpecInput["exclude"]>,
  models: readonly ModelSpec[] | null,
  problems: Problem[],
): readonly ExcludeRule[] {
  return entries.map((entry, index) => {
    const path = ["exclude", index];
    if (Object.keys(entry).length === 0) {
      problems.push({ path, message: "an empty entry would exclude every cell", suggestion: "name a size, group, …" });
    }
    const { seed, ...others } = entry;
    const rule = Object.fromEntries(Object.entries(others).map(([key, value]) => [key, [value].flat()])) as ExcludeRule;
    for (const alias of models === null ? [] : (rule.model ?? [])) {
      const known = models?.map((model) => model.alias) ?? [];
      if (known.includes(alias)) continue;
      problems.push({
        path: [...path, "model"],
        message: "no such model here",
        ...suggestNearest(alias, known, "models"),
      });
    }
    if (seed === undefined) return rule;
    const seeds = readSeeds([seed].flat(), [...path, "seed"]);
    problems.push(...seeds.problems);
    return { ...rule, seed: seeds.ranges };
  });
}

function checkLimits(
  limits: NonNullable<SpecInput["limits"]>,
  models: readonly ModelSpec[],
  judges: readonly string[],
  problems: Problem[],
): void {
  checkNames("limits", Object.keys(limits), models, [...models.flatMap(limitNames), ...judges], problems);
  for (const [name, { tpm, inputTpm, outputTpm }] of Object.entries(limits)) {
    if (tpm !== undefined && (inputTpm ?? outputTpm) !== undefined) {
      const message = "tpm counts input and output together and excludes inputTpm and outputTpm";
      problems.push({ path: ["limits", name, "tpm"], message });
    }
  }
}

/** Checks the judges' names, which are `provider/model`; gives those that are right. */
function judgeNames(models: JudgeSpec["models"], problems: Problem[]): readonly string[] {
  return models.flatMap((entry, index) => {
    const { model: name, baseUrl = null, mode } = typeof entry === "string" ? { model: entry } : entry;
    const provider = name.slice(0, Math.max(0, name.indexOf("/")));
    const isKnown = PROVIDERS.some((known) => known === provider) && name.length > provider.length + 1;
    const path = ["judge", "models", index];
    if (!isKnown) {
      problems.push({ path, message: `"${name}" is no provider/model; providers are ${PROVIDERS.join(", ")}` });
      return [];
    }
    if (baseUrl !== null && provider !== "openai") {
      problems.push({ path, message: "baseUrl is for OpenAI-compatible servers: the model's provider is openai" });
    }
    if (mode === "batch" && !hasBatches(provider, baseUrl)) {
      const message = `${name} is not asked in batches by this version; providers are ${batchProviders.join(", ")}`;
      problems.push({ path: [...path, "mode"], message });
    }
    return [name];
  });
}

/** A judge with its defaults. Of a sweep in batches the judges are in batches too, unless they say otherwise. */
function readJudge(judge: SpecInput["judge"], mode: SpecInput["mode"]): JudgeSpec | null {
  if (judge === undefined) return null;
  const models = judge.models.map((entry) => {
    const given = typeof entry === "string" ? { model: entry } : entry;
    if (mode !== "batch" || given.mode !== undefined || !isBatchedJudge(given)) return entry;
    return { ...given, mode };
  });
  return { share: 1, consensusBelow: 0.6, repeats: 1, ...judge, models };
}

function isBatchedJudge({ model, baseUrl }: JudgeModelSpec): boolean {
  return hasBatches(model.slice(0, Math.max(0, model.indexOf("/"))), baseUrl ?? null);
}

function liveJudges(models: JudgeSpec["models"]): readonly string[] {
  const given = models.map((entry) => (typeof entry === "string" ? { model: entry } : entry));
  const live = given.filter((judge) => judge.mode === undefined && !isBatchedJudge(judge)).map(({ model }) => model);
  return live.length === 0 ? [] : [`mode: judge ${live.join(", ")} asked live: no batch interface`];
}

/** Each of `names` must call a model or a judge of the spec, which `known` lists. */
function checkNames(
  key: string,
  names: readonly string[],
  models: readonly ModelSpec[],
  allowed: readonly string[],
  problems: Problem[],
): void {
  const known = new Set(allowed);
  const aliases = models.map((model) => model.alias);
  for (const name of names.filter((one) => !known.has(one))) {
    const suggestion = suggestNearest(name, aliases, "models");
    problems.push({ path: [key, name], atKey: true, message: "no model of this spec has this name", ...suggestion });
  }
}

function checkGrid(spec: SweepSpec, problems: Problem[], notes: string[]): void {
  const { models, sizes, groups, mirage, confidence, languages, repeats } = spec;
  const conditions = [models, sizes, groups, mirage, confidence, languages].reduce((n, { length }) => n * length, 1);
  const cells = conditions * countSeeds(spec.seeds) * repeats;
  if (cells > MAX_CELLS) {
    const [asked, most] = [cells, MAX_CELLS].map((number) => number.toLocaleString("en-US"));
    problems.push({ path: [], message: `the grid has ${asked} cells; at most ${most} fit in one sweep` });
  } else if (!hasCells(spec)) {
    problems.push({ path: ["exclude"], message: "the grid is empty: exclude takes out every cell" });
  }
  for (const { alias, maxTokens } of models) {
    const named = Object.keys(maxTokens.perSize);
    const missing = sizes.filter((size) => named.length > 0 && !named.includes(String(size)));
    const unused = named.filter((size) => !sizes.includes(Number(size)));
    if (missing.length > 0) notes.push(`${alias}: sizes ${missing.join(", ")} take maxTokens ${maxTokens.default}`);
    if (unused.length > 0)
      notes.push(`${alias}: maxTokens.perSize names sizes that the sweep has not: ${unused.join(", ")}`);
  }
}

function withoutRepeats<Value>(key: string, values: readonly Value[], notes: string[]): readonly Value[] {
  const unique = [...new Set(values)];
  if (unique.length < values.length) notes.push(`${key}: ${count(values.length - unique.length, "repeat")} dropped`);
  return unique;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Finds keys that name secrets and texts shaped like one; their values are never shown. */
function findSecrets(value: Json, path: SpecPath): Problem[] {
  if (typeof value === "string") {
    if (!holdsSecret(value)) return [];
    const message = "this looks like an API key; a spec never holds keys (the value is not shown)";
    return [
      { path, message, suggestion: "remove it, revoke it if the file was shared, and set the provider's variable" },
    ];
  }
  if (value === null || typeof value !== "object") return [];
  if (Array.isArray(value)) return value.flatMap((item: Json, index) => findSecrets(item, [...path, index]));
  return Object.entries(value).flatMap(([key, member]: [string, Json]) => {
    const at = [...path, key];
    if (isSecretName(key) || holdsSecret(key)) {
      const message = "a spec never holds keys (the value is not shown)";
      return [
        {
          path: at,
          atKey: true,
          message,
          suggestion: 'set the key in the environment, or name its variable with "keyEnv"',
        },
      ];
    }
    return findSecrets(member, at);
  });
}

/** Drops other findings at or under the place of a secret: they could show it, and one is enough. */
function withoutSecretPlaces(problems: readonly Problem[], secrets: readonly Problem[]): readonly Problem[] {
  const places = new Set(secrets.map(({ path }) => JSON.stringify(path)));
  if (places.size === 0) return problems;
  return problems.filter(({ path }) => !path.some((_, index) => places.has(JSON.stringify(path.slice(0, index + 1)))));
}
