import { type Json, type Random, sha256Hex } from "@hallumaze/foundation";
import { z } from "zod";

import { explainIssue } from "./explain-problems.ts";
import { type ParsedSpec, parseSpecValue, specError, toIssue } from "./parse-spec.ts";
import type { SolverRules } from "./read-models.ts";
import type { ProviderName } from "./spec.ts";
import type { Problem } from "./spec-error.ts";
import { DEFAULT_MAX_TOKENS, PROVIDERS } from "./spec-schema.ts";
import { readSpecText } from "./spec-text.ts";

/** The options of the seed's command line that decide what is run. SOURCE: seed section 12, with its defaults. */
export interface SeedOptions {
  /** `provider/model` each. */
  readonly models: readonly string[];
  /** Default 7. */
  readonly size?: number;
  /** 1 … 1,000, default 1: repeats of one maze where `seed` is given, else as many new mazes. */
  readonly runs?: number;
  readonly seed?: number;
  /** Default "A". */
  readonly group?: string;
  /** Default true, as is `confidence`. */
  readonly mirage?: boolean;
  readonly confidence?: boolean;
  /** Default 2500. */
  readonly maxTokens?: number;
  /** The sweep's name; by default it follows from the other options and the seeds drawn. */
  readonly name?: string;
}

/** A `config.json` of the seed. Keys stand apart, so that they never come near a spec. */
export interface SeedConfig {
  readonly options: Omit<SeedOptions, "models" | "seed" | "runs" | "name">;
  /** `model` null: the provider's default or its environment variable decides. */
  readonly providers: readonly { readonly provider: ProviderName; readonly model: string | null }[];
  /** Never log or store these. */
  readonly keys: readonly { readonly provider: ProviderName; readonly apiKey: string }[];
}

/** Mazes drawn for a run without `--seed` have seeds 0 … 2^31-2, as short as a person can type again. */
const DRAWN_SEEDS = 2_147_483_647;
const MAX_RUNS = 1000;

/** The option that each field of the spec comes from. */
const OPTIONS: Readonly<Record<string, string>> = {
  sizes: "--size",
  seeds: "--seed",
  repeats: "--runs",
  groups: "--group",
  mirage: "--no-mirage",
  confidence: "--no-confidence",
  maxTokens: "--max-tokens",
};

const provider = z.strictObject({
  provider: z.enum(PROVIDERS),
  api_key: z.string().max(1000).optional(),
  model: z.string().min(1).max(300).optional(),
});

const mazeConfig = z.strictObject({
  size: z.int().min(3).max(101).optional(),
  use_mirage: z.boolean().optional(),
  use_confidence: z.boolean().optional(),
  ariadne_mode: z.enum(["A", "B", "C"]).optional(),
  max_tokens: z.int().min(1).max(10_000_000).optional(),
});

const configSchema = z.strictObject({ maze: mazeConfig.optional(), providers: z.array(provider).max(100).optional() });

/**
 * Makes a sweep of the seed's command line. Without `seed`, `random` draws `runs` distinct mazes. Throws a SpecError
 * whose paths are the options.
 */
export function specFromSeedOptions(
  options: SeedOptions,
  tools: { readonly random: Random; readonly solvers?: SolverRules },
): ParsedSpec {
  const runs = options.runs ?? 1;
  const drawn = options.seed === undefined && Number.isInteger(runs) && runs >= 1 && runs <= MAX_RUNS;
  const grid = {
    models: options.models,
    seeds: drawn ? drawSeeds(runs, tools.random) : [options.seed ?? 0],
    sizes: [options.size ?? 7],
    groups: [options.group ?? "A"],
    mirage: options.mirage ?? true,
    confidence: options.confidence ?? true,
    maxTokens: options.maxTokens ?? DEFAULT_MAX_TOKENS,
    repeats: drawn ? 1 : runs,
  };
  const name = options.name ?? `cli-${sha256Hex(JSON.stringify(grid)).slice(0, 12)}`;
  return parseSpecValue(
    { name, ...grid },
    {
      source: "command line",
      nameOf: (path) => path.replace(/^(\w+)(?:\[0\])?$/, (whole, field: string) => OPTIONS[field] ?? whole),
      ...(tools.solvers === undefined ? {} : { solvers: tools.solvers }),
    },
  );
}

/** Reads a `config.json` of the seed. Throws a SpecError; neither it nor the options hold a key. */
export function parseSeedConfig(text: string, fileName: string): SeedConfig {
  const located = readSpecText(text, "json");
  if (located.problems.length > 0) {
    throw specError(
      fileName,
      located.problems.map((problem) => toIssue(problem, problem.place)),
    );
  }
  const read = configSchema.safeParse(located.value);
  if (!read.success) {
    const problems = read.error.issues.flatMap((issue) => explainIssue(issue, located.value, configKeys)).map(hideKey);
    throw specError(
      fileName,
      problems.map((problem) => toIssue(problem, located.locate(problem.path, problem.atKey ?? false))),
    );
  }
  const { maze = {}, providers = [] } = read.data;
  const given = {
    size: maze.size,
    mirage: maze.use_mirage,
    confidence: maze.use_confidence,
    group: maze.ariadne_mode,
    maxTokens: maze.max_tokens,
  };
  return {
    options: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    providers: providers.map(({ provider, model }) => ({ provider, model: model ?? null })),
    keys: providers.flatMap(({ provider, api_key }) => {
      const apiKey = api_key?.trim() ?? "";
      // A text with spaces is the example file's remark, no key.
      return apiKey === "" || /\s/.test(apiKey) ? [] : [{ provider, apiKey }];
    }),
  };
}

function drawSeeds(runs: number, random: Random): Json[] {
  const seeds = new Set<number>();
  while (seeds.size < runs) seeds.add(random.below(DRAWN_SEEDS));
  return [...seeds];
}

function configKeys(path: readonly (string | number)[]): readonly string[] {
  if (path.length === 0) return Object.keys(configSchema.shape);
  if (path[0] === "maze") return Object.keys(mazeConfig.shape);
  return path[0] === "providers" && path.length === 2 ? Object.keys(provider.shape) : [];
}

/** A key of any type or shape stays unseen. */
function hideKey(problem: Problem): Problem {
  if (problem.path.at(-1) !== "api_key") return problem;
  return { path: problem.path, message: "must be text of at most 1000 characters (the value is not shown)" };
}
