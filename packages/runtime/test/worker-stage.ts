import {
  type ChatRequest,
  type ChatResult,
  defaultRetryPolicy,
  type ProviderPort,
  type QueuePort,
  submitSweep,
  type SweepRecord,
  type TrialPorts,
} from "@hallumaze/engine";
import { openProviders } from "@hallumaze/providers";
import { openQueue, type QueueTarget } from "@hallumaze/queue";
import { type Ledger, openStore } from "@hallumaze/store";
import { parseSpec } from "@hallumaze/sweep";
import { createDatabase } from "@hallumaze/testkit";
import pg from "pg";
import { onTestFinished, vi } from "vitest";

import { openLogger } from "../src/logger.ts";
import { type SolveWorker, startSolveWorker, type WorkerOptions } from "../src/worker.ts";
import { noLimits, shortTimes } from "./worker-replies.ts";

/** A ledger and a queue of a test's own. */
export interface WorkerStage {
  readonly databaseUrl: string;
  readonly store: Ledger;
  readonly queue: QueuePort;
  readonly sql: <Row extends object>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;
  /** Submits a sweep of `seeds` cells of size 5 for each solver. */
  readonly submit: (
    seeds: number,
    given?: {
      readonly tries?: number;
      readonly models?: readonly (string | object)[];
      readonly limits?: object;
      readonly rehearsal?: boolean;
      readonly name?: string;
      /** Further keys of the spec. */
      readonly spec?: object;
    },
  ) => Promise<SweepRecord>;
  readonly work: (given: Partial<WorkerOptions>) => SolveWorker;
  /** Resolves once as many trials are in the state. */
  readonly reach: (state: string, count: number, timeoutMs?: number) => Promise<void>;
  readonly books: () => Promise<Books>;
}

/** What the ledger holds, in figures. */
export interface Books {
  readonly states: Readonly<Record<string, number>>;
  readonly accepted: number;
  readonly exchanges: number;
  readonly lateDuplicates: number;
}

/** Takes what is to be closed in the end. */
export type AtEnd = (close: () => Promise<void>) => void;

/** Opens a stage; without a Redis the queue lives in the database. All is closed when the test ends, or by `atEnd`. */
export async function openWorkerStage(redisUrl?: string, atEnd: AtEnd = onTestFinished): Promise<WorkerStage> {
  const { url: databaseUrl, drop } = await createDatabase();
  const store = await openStore({ databaseUrl, poolSize: 4 });
  const target: QueueTarget = redisUrl === undefined ? { databaseUrl } : { redisUrl };
  const queue = await openQueue(target, {
    ledger: store.ledgerId,
    onError: () => undefined,
    settings: { lockMs: 2000, stalledCheckMs: 500 },
  });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const workers: SolveWorker[] = [];
  atEnd(async () => {
    await Promise.all(workers.map((worker) => worker.drain(500)));
    await queue.close();
    await store.close();
    await client.end();
    await drop();
  });
  const sql: WorkerStage["sql"] = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await client.query<Row>(text, [...values])).rows;
  const counts = async (): Promise<Readonly<Record<string, number>>> => {
    const rows = await sql<{ state: string; count: number }>(
      "SELECT state::text, count(*)::int AS count FROM trials GROUP BY state ORDER BY state",
    );
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  };
  return {
    databaseUrl,
    store,
    queue,
    sql,
    submit: async (seeds, given = {}) => {
      const {
        tries = 4,
        models = ["sim/oracle"],
        limits = {},
        rehearsal = false,
        name = "stage",
        spec: more = {},
      } = given;
      const text = JSON.stringify({
        name,
        models,
        limits,
        seeds: [`1..${seeds}`],
        sizes: [5],
        groups: ["A"],
        mirage: true,
        retries: { tries },
        ...more,
      });
      const { spec } = parseSpec(text, { fileName: "stage.json" });
      const provenance = { gitCommit: null, gitDirty: null, programVersion: "test", nodeVersion: process.version };
      const { signal } = new AbortController();
      return (await submitSweep({ store, queue }, spec, { provenance, fresh: true, rehearsal, signal })).sweep;
    },
    work: (given) => {
      const worker = startSolveWorker({
        store,
        queue,
        provider: openProviders(),
        logger: openLogger("silent"),
        limiter: noLimits,
        rehearsal: false,
        concurrency: 4,
        lanes: null,
        times: shortTimes,
        ...given,
      });
      workers.push(worker);
      return worker;
    },
    reach: (state, count, timeout = 30_000) =>
      vi.waitFor(
        async () => {
          const found = await counts();
          if ((found[state] ?? 0) < count) throw new Error(`${count} ${state} wanted, got ${JSON.stringify(found)}`);
        },
        { timeout, interval: 20 },
      ),
    books: async () => {
      const [row] = await sql<Omit<Books, "states">>(
        `SELECT (SELECT count(*)::int FROM trials t JOIN exchanges e ON e.id = t.accepted_exchange_id AND e.trial_id = t.id) AS accepted,
           (SELECT count(*)::int FROM exchanges) AS exchanges,
           (SELECT count(*)::int FROM exchanges WHERE late_duplicate) AS "lateDuplicates"`,
      );
      if (row === undefined) throw new Error("a sum without a row");
      return { states: await counts(), ...row };
    },
  };
}

/** A provider of a test's own: every call is counted, and answered by `answer`. */
export function scriptedProvider(
  answer: (request: ChatRequest, call: number, signal: AbortSignal) => Promise<ChatResult> | ChatResult,
): ProviderPort & { readonly calls: () => number; readonly reachCalls: (count: number) => Promise<void> } {
  let calls = 0;
  return {
    complete: async (request, signal) => {
      calls += 1;
      return answer(request, calls, signal);
    },
    calls: () => calls,
    reachCalls: (count) =>
      vi.waitFor(
        () => {
          if (calls < count) throw new Error(`${count} calls wanted, got ${calls}`);
        },
        { timeout: 20_000, interval: 5 },
      ),
  };
}

/** A door that calls wait at. */
export function createGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** What one worker runs a trial with, without the loops of a process around it. */
export function trialPorts(store: TrialPorts["store"], provider: ProviderPort, workerId: string): TrialPorts {
  return {
    store,
    provider,
    workerId,
    limiterOf: () => null,
    mayStart: async () => "go",
    settingsOf: async () => ({
      keyEnv: null,
      tenant: "stage",
      weight: 1,
      expectedOutputTokens: 1000,
      shadow: false,
      costOf: () => null,
      boundOf: () => "0",
    }),
    patienceMs: 10_000,
    now: Date.now,
    fraction: () => 0,
    sleep: async () => undefined,
    leaseMs: 60_000,
    callTimeoutMs: 10_000,
    archivePatienceMs: 10_000,
    retry: { ...defaultRetryPolicy, baseDelayMs: 1 },
    observe: {
      claimed: () => undefined,
      reserved: () => undefined,
      released: () => undefined,
      called: () => undefined,
      parked: () => undefined,
      ended: () => undefined,
      late: () => undefined,
      archiveTrouble: () => undefined,
    },
  };
}
