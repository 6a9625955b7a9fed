import type { Generator, TrapPlacement } from "@hallumaze/maze";
import type { Language } from "@hallumaze/protocol";

import type { Group } from "./cell-plan.ts";

/** A provider whose name a spec may use; which of them run is told by `notBuiltYet`. */
export type ProviderName = "anthropic" | "openai" | "google" | "deepseek" | "sim";

/** How a model is asked: request by request, in the vendor's batches, or in batches as long as the deadline can be met. */
export type AskMode = "live" | "batch" | "auto";

/** Seeds first … last, both included: non-negative safe integers, first <= last. */
export interface SeedRange {
  readonly first: number;
  readonly last: number;
}

/** How many tokens a reply may have: `perSize` (key: the maze's size) where it names the size, else `default`. */
export interface TokenLimit {
  readonly default: number;
  readonly perSize: Readonly<Record<string, number>>;
}

/** One model of a sweep, with every default filled in. */
export interface ModelSpec {
  readonly provider: ProviderName;
  readonly model: string;
  /** Its name in this sweep: the spec's `as`, or `provider/model`. Unique in the sweep. */
  readonly alias: string;
  /** Queue lane, as in `Cell`. Models that name the same `lane` share one. */
  readonly lane: string;
  /** The lane that the spec names for it; null where the lane follows from provider, model and base URL. */
  readonly laneOverride: string | null;
  readonly baseUrl: string | null;
  /** Name of the environment variable that holds its key; null where the provider's own variable is meant. */
  readonly keyEnv: string | null;
  /** 0 … 2; null where the vendor's own default is meant. */
  readonly temperature: number | null;
  /** True where the spec asks for it: then a model that refuses the parameter is an error, else a warning. */
  readonly temperatureExplicit: boolean;
  /** Sampling or solver parameters, the solver's defaults filled in. */
  readonly params: Readonly<Record<string, number | string | boolean>>;
  readonly maxTokens: TokenLimit;
  /** How it is asked. No part of a cell: the same cell answered live or in a batch is one cell. */
  readonly mode: AskMode;
  /** Its own deadline, as the sweep's; null: the sweep's, or none. Set for mode auto alone. */
  readonly deadline: string | null;
}

/** Rate limits of a lane; an absent one keeps the provider's default. Positive integers, a minute where per time. */
export interface LaneLimits {
  readonly rpm?: number;
  readonly inputTpm?: number;
  readonly outputTpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
}

/** How trials are spoken to after their first answer (spec/benchmark.md section 7). */
export interface AriadneSpec {
  /** 1 … 10: most hints a trial of group B or C gets. */
  readonly hints: number;
  /** Whether a triggered trial of group A gets its neutral turn where group B is in the sweep; kept apart from its result. */
  readonly shadow: boolean;
}

/** US dollars for a million tokens, over the shipped table. `cached` absent: a cached token costs what any input does. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
}

/** How a judge is asked. A sweep with a deadline wants its verdicts too: there is no `auto`, it is live. */
export type JudgeMode = "live" | "batch";

/** A judge as a spec names it, where `provider/model` alone does not do. */
export interface JudgeModelSpec {
  readonly model: string;
  /** An OpenAI-compatible server. */
  readonly baseUrl?: string;
  readonly keyEnv?: string;
  readonly temperature?: number | null;
  readonly maxTokens?: number;
  readonly params?: Readonly<Record<string, number | string | boolean>>;
  /** As the sweep's, where that is `batch` and the vendor has batches; else live. */
  readonly mode?: JudgeMode;
}

/** Who judges: the first model judges, the second gives the second opinion. */
export interface JudgeSpec {
  readonly models: readonly (string | JudgeModelSpec)[];
  /** 0 … 1: the share of trials that is judged. */
  readonly share: number;
  /** 0 … 1: below this confidence the second opinion is asked. */
  readonly consensusBelow: number;
  readonly repeats: number;
}

/** Takes cells out of the grid: those that match every field that is given (one of its values). Never empty. */
export interface ExcludeRule {
  /** Aliases. */
  readonly model?: readonly string[];
  readonly size?: readonly number[];
  readonly group?: readonly Group[];
  readonly mirage?: readonly boolean[];
  readonly language?: readonly Language[];
  readonly confidence?: readonly boolean[];
  readonly seed?: readonly SeedRange[];
}

/** A sweep as asked for: checked, defaults filled in, repeats dropped. `specToJson` writes it, `parseStoredSpec` reads it. */
export interface SweepSpec {
  readonly name: string;
  readonly models: readonly ModelSpec[];
  /** In the order asked for, without repeats. */
  readonly seeds: readonly SeedRange[];
  /** 3 … 101. */
  readonly sizes: readonly number[];
  readonly groups: readonly Group[];
  readonly mirage: readonly boolean[];
  readonly confidence: readonly boolean[];
  readonly languages: readonly Language[];
  readonly generator: Generator;
  readonly placement: TrapPlacement;
  /** 1 … 1,000: how often each cell is run, each time as a cell of its own. */
  readonly repeats: number;
  /** By alias, `provider/model` or lane name. */
  readonly limits: Readonly<Record<string, LaneLimits>>;
  /** By alias or `provider/model`. */
  readonly prices: Readonly<Record<string, ModelPrice>>;
  readonly ariadne: AriadneSpec;
  /** When mode auto wants all answers: an ISO date and time, or `HH:MM` as written, which its submitter makes one; null: none. */
  readonly deadline: string | null;
  /** US dollars, above 0; null: no cap. */
  readonly budgetUsd: number | null;
  /** -10 … 10: sweeps of a higher one run first. */
  readonly priority: number;
  /** 0.01 … 100: the share of a lane beside other sweeps of the same priority. */
  readonly weight: number;
  readonly judge: JudgeSpec | null;
  /** `tries` a trial in all; `empty` further tries after an empty reply. */
  readonly retries: { readonly tries: number; readonly empty: number };
  readonly exclude: readonly ExcludeRule[];
}
