import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { type QueuePort, submitSweep, type SweepRecord } from "@hallumaze/engine";
import type { Counts, Rule } from "@hallumaze/mock-providers";
import { parseSpec } from "@hallumaze/sweep";
import { createRedis, findRedis } from "@hallumaze/testkit";
import { vi } from "vitest";

import type { FieldWorkerPlan } from "./field-worker.ts";
import { openProviderStage, type ProviderStage } from "./provider-stage.ts";

/** Every wire format, by the name that its model has in these sweeps. */
export const everyone = {
  anthropic: "anthropic/claude-haiku-4-5-20251001",
  openai: "openai/gpt-4o",
  responses: "openai/o1-pro",
  google: "google/gemini-2.5-flash",
  deepseek: "deepseek/deepseek-v4-pro",
  compatible: "openai/llama3.1:70b",
} as const;

/** One of them. */
export type ModelName = keyof typeof everyone;
/** Their names, in the order in which {@link FieldStage.fates} gives them. */
export const modelNames = (Object.keys(everyone) as ModelName[]).toSorted();

/** Its name at the vendor. */
export function modelOf(name: ModelName): string {
  return everyone[name].replace(/^[^/]*\//, "");
}

/** So wide that a case waits for nothing but what it is about; in the terms of the vendor's own limits. */
export function wideLimits(model: ModelName): object {
  const rpm = 1_000_000;
  const tokens = 1_000_000_000;
  return everyone[model].startsWith("openai") ? { rpm, tpm: tokens } : { rpm, inputTpm: tokens, outputTpm: tokens };
}

/** What became of a trial, and of each of its tries. */
export interface Fate {
  readonly alias: ModelName;
  readonly state: string;
  readonly outcome: string | null;
  readonly tries: number;
  readonly message: string | null;
  readonly scores: number;
  readonly exchanges: readonly FateExchange[];
}

/** One try as it was archived. */
export interface FateExchange {
  /** Null for a reply. */
  readonly outcome: string | null;
  readonly message: string | null;
  readonly native: string | null;
  readonly reasoning: string | null;
  readonly costUsd: number | null;
  readonly effective: string;
  /** Requests of the same try before the one that counted. */
  readonly side: readonly string[];
}

/** What a sweep of a case asks for beside its models. */
export interface FieldSweep {
  readonly models?: readonly ModelName[];
  readonly seeds?: number;
  readonly tries?: number;
  readonly repeats?: number;
  readonly maxTokens?: number;
  /** Of every model. */
  readonly params?: Readonly<Record<string, number | string | boolean>>;
  readonly limits?: Readonly<Record<string, object>>;
  /** A lane of its own, for cases that leave theirs stopped. */
  readonly lane?: string;
}

/** The vendors' servers, one worker and one ledger for many cases; each case has a sweep of its own. */
export interface FieldStage extends ProviderStage {
  /** Begins a case: the script is played from its start, and the server counts anew. */
  readonly play: (rules: readonly Rule[]) => void;
  /** Submits a sweep, to the stage's queue unless told. */
  readonly sweep: (name: string, asked?: FieldSweep, queue?: QueuePort) => Promise<SweepRecord>;
  /** Resolves once no trial of the sweep is open; gives them by alias and seed. */
  readonly fates: (sweep: SweepRecord, timeoutMs?: number) => Promise<readonly Fate[]>;
  /** Gives the same at once, whether or not they are open. */
  readonly fatesNow: (sweep: SweepRecord) => Promise<readonly Fate[]>;
  /** Requests that the server counted, by the model's name. */
  readonly requests: () => Readonly<Record<ModelName, number>>;
  /** Starts a worker in a process of its own; resolves when it works. It is killed with the stage at the latest. */
  readonly fork: (concurrency: number) => Promise<ChildProcess>;
  readonly close: () => Promise<void>;
}

/** Opens a stage that outlives a test, on Redis where there is one: `close` ends it. */
export async function openFieldStage(
  options: Parameters<typeof openProviderStage>[0] = {},
  given: Omit<NonNullable<Parameters<typeof openProviderStage>[1]>, "redisUrl" | "atEnd"> = {},
): Promise<FieldStage> {
  const closers: (() => Promise<void>)[] = [];
  const redis = findRedis().kind === "installed" ? await createRedis() : null;
  if (redis !== null) closers.push(redis.drop);
  const stage = await openProviderStage(options, {
    ...given,
    ...(redis === null ? {} : { redisUrl: redis.url }),
    atEnd: (close) => void closers.push(close),
  });
  const fatesNow = (sweep: SweepRecord) => stage.sql<Fate>(fatesQuery, [sweep.sweepId]);
  return {
    ...stage,
    play: (rules) => {
      stage.mock.script(rules);
      stage.mock.resetCounts();
    },
    sweep: (name, asked = {}, queue = stage.queue) => submit({ ...stage, queue }, name, asked),
    fatesNow,
    fates: async (sweep, timeout = 20_000) =>
      vi.waitFor(
        async () => {
          const fates = await fatesNow(sweep);
          const open = fates.filter(({ state }) => !["done", "failed", "blocked"].includes(state));
          if (open.length > 0 || fates.length === 0) throw new Error(`still open: ${JSON.stringify(open)}`);
          return fates;
        },
        { timeout, interval: 20 },
      ),
    requests: () => requestsByName(stage.mock.counts()),
    fork: async (concurrency) => {
      const child = forkWorker({
        databaseUrl: stage.databaseUrl,
        redisUrl: redis?.url ?? null,
        variables: stage.mock.environment(),
        minuteMs: given.minuteMs ?? 60_000,
        concurrency,
      });
      const gone = once(child, "exit");
      closers.push(async () => {
        child.kill("SIGKILL");
        await gone;
      });
      const died = gone.then(([code]) => {
        throw new Error(`the worker process ended with code ${String(code)} before it worked`);
      });
      if (child.stdout !== null) await Promise.race([once(child.stdout, "data"), died]);
      died.catch(() => undefined);
      return child;
    },
    close: async () => {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}

function forkWorker(plan: FieldWorkerPlan): ChildProcess {
  const script = fileURLToPath(new URL("./field-worker.ts", import.meta.url));
  const words = ["--import", "tsx", script, JSON.stringify(plan)];
  return spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
}

const fatesQuery = `SELECT t.alias, t.state::text, t.outcome, t.tries, t.message,
  (SELECT count(*)::int FROM scores s WHERE s.trial_id = t.id) AS scores,
  coalesce((SELECT json_agg(json_build_object('outcome', e.outcome, 'message', e.error_message,
    'native', e.native_finish_reason, 'reasoning', e.reasoning, 'costUsd', e.cost_usd, 'effective',
    e.effective_params_json, 'side', coalesce((SELECT json_agg(one->>'reason') FROM
      json_array_elements(e.side_requests_json::json) one), '[]')) ORDER BY e.sequence)
    FROM exchanges e WHERE e.trial_id = t.id), '[]') AS exchanges
  FROM trials t WHERE t.sweep_id = $1 ORDER BY t.alias, t.seed, t.repeat`;

async function submit(stage: ProviderStage, name: string, asked: FieldSweep): Promise<SweepRecord> {
  const { models = modelNames, seeds = 1, tries = 4, repeats = 1, maxTokens = 2500, params = {} } = asked;
  const lane = asked.lane === undefined ? {} : { lane: asked.lane };
  const text = JSON.stringify({
    name,
    models: models.map((alias) => ({
      model: everyone[alias],
      as: alias,
      params,
      ...lane,
      ...(alias === "compatible" ? { baseUrl: stage.mock.urls.compatibleBaseUrl } : {}),
    })),
    limits: asked.limits ?? Object.fromEntries(models.map((alias) => [alias, wideLimits(alias)])),
    seeds: [`1..${seeds}`],
    sizes: [5],
    groups: ["A"],
    mirage: true,
    repeats,
    maxTokens,
    retries: { tries },
  });
  const { spec } = parseSpec(text, { fileName: "field.json" });
  const provenance = { gitCommit: null, gitDirty: null, programVersion: "test", nodeVersion: process.version };
  const { signal } = new AbortController();
  return (await submitSweep(stage, spec, { provenance, fresh: true, rehearsal: false, signal })).sweep;
}

function requestsByName({ byModel }: Counts): Readonly<Record<ModelName, number>> {
  const counted = modelNames.map((name) => {
    const model = everyone[name];
    const vendor = name === "compatible" ? model.replace(/^openai/, "compatible") : model;
    return [name, byModel[vendor] ?? 0] as const;
  });
  return Object.fromEntries(counted) as Record<ModelName, number>;
}
