import { openBatchVendors } from "@hallumaze/batch-providers";
import type { BatchCounts, MockProvidersOptions } from "@hallumaze/mock-providers";
import { onTestFinished } from "vitest";

import { type BatchWorkerOptions, startBatchWorker } from "../src/batch-worker.ts";
import { startJudgeWorker } from "../src/judge-worker.ts";
import { openLogger } from "../src/logger.ts";
import type { SolveWorker } from "../src/worker.ts";
import { shortBatchTimes } from "./batch-times.ts";
import { openProviderStage, type ProviderStage } from "./provider-stage.ts";
import { shortTimes } from "./worker-replies.ts";
import type { AtEnd } from "./worker-stage.ts";

/** A model of each vendor that is asked in batches. */
export const batchModels = {
  anthropic: "anthropic/claude-haiku-4-5-20251001",
  openai: "openai/gpt-4o",
  google: "google/gemini-2.5-flash",
} as const;

/** The vendors' servers, a ledger, and workers that ask in batches. */
export interface BatchStage extends ProviderStage {
  readonly workBatches: (given?: Partial<BatchWorkerOptions>) => SolveWorker;
  /** Submits a sweep of `seeds` cells that is asked in batches. */
  readonly submitBatched: (
    seeds: number,
    given?: {
      readonly vendor?: keyof typeof batchModels;
      readonly tries?: number;
      readonly name?: string;
      readonly spec?: object;
    },
  ) => Promise<string>;
  /** A judge worker over the same servers: it asks for judgements, and makes the calls of those that are live. */
  readonly workJudges: () => SolveWorker;
  readonly accounts: (sweepId: string) => Promise<Accounts>;
  readonly judgements: (sweepId: string) => Promise<Judgements>;
  /** Batches that the vendor has made, oldest first. */
  readonly made: () => readonly BatchCounts[];
}

/** What came of a sweep's requests to judges. */
export interface Judgements {
  readonly states: Readonly<Record<string, number>>;
  /** Oldest first. */
  readonly rows: readonly {
    readonly seed: number;
    readonly decidedBy: string;
    readonly status: string;
    readonly level: number | null;
    readonly attempt: number;
    readonly batched: boolean;
    readonly late: boolean;
    readonly costUsd: number | null;
    readonly inputTokens: number | null;
    readonly outputTokens: number | null;
  }[];
}

/** What a sweep's books hold. */
export interface Accounts {
  readonly states: Readonly<Record<string, number>>;
  /** Exchanges by outcome; `reply` for an answer. */
  readonly exchanges: Readonly<Record<string, number>>;
  /** Exchanges that name no batch. */
  readonly live: number;
  readonly late: number;
  /** Trials with a reading and three profiles of scores. */
  readonly scored: number;
  readonly spentUsd: number;
  /** Sum of what the exchanges cost, or may have cost at most. */
  readonly costUsd: number;
  readonly reservedUsd: number;
  readonly open: number;
}

/** Opens the stage; all is closed when the test ends, or by `atEnd`. */
export async function openBatchStage(
  options: MockProvidersOptions = {},
  atEnd: AtEnd = onTestFinished,
): Promise<BatchStage> {
  const workers: SolveWorker[] = [];
  const stage = await openProviderStage(options, { atEnd });
  atEnd(async () => {
    await Promise.all(workers.map((worker) => worker.drain(500)));
  });
  return {
    ...stage,
    made: stage.mock.batches,
    workBatches: (given = {}) => {
      const worker = startBatchWorker({
        store: stage.store,
        queue: stage.queue,
        vendor: openBatchVendors(stage.providers),
        limiter: stage.limiter,
        logger: openLogger("silent"),
        lanes: null,
        rehearsal: false,
        repairs: true,
        times: shortTimes,
        batchTimes: shortBatchTimes,
        ...given,
      });
      workers.push(worker);
      return worker;
    },
    workJudges: () => {
      const worker = startJudgeWorker({
        store: stage.store,
        queue: stage.queue,
        provider: stage.providers,
        limiter: stage.limiter,
        logger: openLogger("silent"),
        concurrency: 4,
        rehearsal: false,
        times: shortTimes,
      });
      workers.push(worker);
      return worker;
    },
    judgements: async (sweepId) => {
      const states = await stage.sql<{ key: string; count: number }>(
        "SELECT state::text AS key, count(*)::int AS count FROM judge_requests WHERE sweep_id = $1 GROUP BY state",
        [sweepId],
      );
      const rows = await stage.sql<Judgements["rows"][number]>(
        `SELECT t.seed::int, j.decided_by AS "decidedBy", j.status, j.level::int, j.attempt,
           j.batch_id IS NOT NULL AS batched, j.late_duplicate AS late, j.cost_usd::float8 AS "costUsd",
           j.input_tokens AS "inputTokens", j.output_tokens AS "outputTokens"
         FROM judgements j JOIN results r ON r.id = j.result_id JOIN trials t ON t.id = r.trial_id
         WHERE t.sweep_id = $1 ORDER BY t.seed, j.created_at, j.id`,
        [sweepId],
      );
      return { states: Object.fromEntries(states.map(({ key, count }) => [key, count])), rows };
    },
    submitBatched: async (seeds, { vendor = "anthropic", tries = 4, name = "stage", spec = {} } = {}) => {
      const models = [{ model: batchModels[vendor], mode: "batch" }];
      return (await stage.submit(seeds, { models, tries, name, spec })).sweepId;
    },
    accounts: async (sweepId) => {
      const states = await stage.sql<{ key: string; count: number }>(
        "SELECT state::text AS key, count(*)::int AS count FROM trials WHERE sweep_id = $1 AND in_grid GROUP BY state",
        [sweepId],
      );
      const exchanges = await stage.sql<{ key: string; count: number }>(
        `SELECT coalesce(e.outcome, 'reply') AS key, count(*)::int AS count FROM exchanges e
         JOIN trials t ON t.id = e.trial_id WHERE t.sweep_id = $1 GROUP BY 1`,
        [sweepId],
      );
      const [sums] = await stage.sql<Omit<Accounts, "states" | "exchanges">>(
        `WITH mine AS (SELECT * FROM trials WHERE sweep_id = $1), asked AS (
           SELECT e.* FROM exchanges e JOIN mine ON mine.id = e.trial_id
         )
         SELECT (SELECT count(*)::int FROM asked WHERE batch_id IS NULL) AS live,
           (SELECT count(*)::int FROM asked WHERE late_duplicate) AS late,
           (SELECT count(*)::int FROM mine WHERE (SELECT count(*) FROM readings r WHERE r.trial_id = mine.id) = 1
             AND (SELECT count(*) FROM scores s WHERE s.trial_id = mine.id) = 3) AS scored,
           s.spent_usd::float8 AS "spentUsd", s.reserved_usd::float8 AS "reservedUsd",
           (SELECT coalesce(sum(coalesce(cost_usd, cost_bound_usd)), 0)::float8 FROM asked) AS "costUsd",
           (SELECT count(*)::int FROM open_requests o WHERE o.sweep_id = $1) AS open
         FROM sweeps s WHERE s.id = $1`,
        [sweepId],
      );
      if (sums === undefined) throw new Error("a sum without a row");
      const asRecord = (rows: readonly { key: string; count: number }[]): Record<string, number> =>
        Object.fromEntries(rows.map(({ key, count }) => [key, count]));
      return { states: asRecord(states), exchanges: asRecord(exchanges), ...sums };
    },
  };
}
