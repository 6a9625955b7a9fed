import type { Claim, ExchangeRecord, OpenTrial, ScoredTrial, StorePort, SweepRecord } from "@hallumaze/engine";
import { createDatabase } from "@hallumaze/testkit";
import pg from "pg";

import { type Ledger, openStore, type OpenStoreOptions } from "../src/open-store.ts";

/** A cell as the port takes it. */
export type Cell = Parameters<StorePort["insertCells"]>[2][number];

/** A ledger in a database of its own. */
export interface Stage {
  readonly url: string;
  readonly store: Ledger;
  /** A second process' view of the same ledger. */
  readonly openAnother: (options?: Partial<OpenStoreOptions>) => Promise<Ledger>;
  /** Looks at, or spoils, what is stored; gives rows. */
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;
  readonly close: () => Promise<void>;
}

/** Opens an empty ledger. */
export async function openStage(): Promise<Stage> {
  const database = await createDatabase();
  const store = await openStore({ databaseUrl: database.url, poolSize: 4 });
  const others: StorePort[] = [];
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return {
    url: database.url,
    store,
    openAnother: async (options = {}) => {
      const other = await openStore({ databaseUrl: database.url, poolSize: 2, ...options });
      others.push(other);
      return other;
    },
    sql: async (text, values = []) => (await client.query<Record<string, unknown>>(text, [...values])).rows,
    close: async () => {
      await client.end();
      await Promise.all([store, ...others].map((each) => each.close()));
      await database.drop();
    },
  };
}

/** A cell of the lane `sim.dfs`, different from others by its id and what `changes` says. */
export function cell(
  cellId: string,
  changes: Partial<Omit<Cell, "plan">> & { readonly plan?: Partial<Cell["plan"]> } = {},
): Cell {
  const { plan, ...rest } = changes;
  return {
    cellId,
    alias: "dfs",
    lane: "sim.dfs",
    liveLane: null,
    ordinal: 0,
    ...rest,
    plan: {
      format: 1,
      provider: "sim",
      model: "dfs-honest",
      baseUrl: null,
      temperature: null,
      params: {},
      maxTokens: 2500,
      promptVersion: "v1",
      generator: "dfs",
      placement: "path-order",
      seed: 1001,
      size: 5,
      group: "A",
      mirage: true,
      language: "ko",
      confidence: true,
      repeat: 0,
      rehearsal: false,
      ...plan,
    },
  };
}

/** Opens the sweep, makes `cells` its whole grid, and gives all to the queue. */
export async function submit(
  store: StorePort,
  name: string,
  cells: readonly Cell[],
  changes: Partial<Parameters<StorePort["openSweep"]>[0]> = {},
): Promise<{ readonly sweep: SweepRecord; readonly queued: readonly OpenTrial[] }> {
  const sweep = await store.openSweep({
    name,
    specJson: "{}",
    provenance: { gitCommit: null, gitDirty: null, programVersion: "0.1.0", nodeVersion: "20" },
    maxTries: 4,
    maxEmptyRetries: 1,
    fresh: false,
    ...changes,
  });
  const revision = await store.beginGrid(sweep.sweepId);
  await store.insertCells(sweep.sweepId, revision, cells);
  await store.closeGrid(sweep.sweepId, revision);
  const queued = await store.listPlanned(sweep.sweepId, 1000);
  await store.markQueued(queued.map((trial) => trial.trialId));
  return { sweep, queued };
}

/** Submits a sweep of one cell. */
export async function submitOne(store: StorePort, name: string, cellId = `cell of ${name}`): Promise<OpenTrial> {
  const { queued } = await submit(store, name, [cell(cellId)]);
  return only(queued);
}

/** Claims a trial and fails where it cannot. */
export async function claim(
  store: StorePort,
  trial: OpenTrial,
  workerId = "host/1/1",
  leaseMs = 60_000,
): Promise<Claim> {
  const result = await store.claim({ trialId: trial.trialId, generation: trial.generation, workerId, leaseMs });
  if (result.kind !== "claimed") throw new Error(`not claimed: ${JSON.stringify(result)}`);
  return result.claim;
}

/** A reply to keep, in the right of a claim. */
export function exchange(
  held: Pick<Claim, "trialId" | "fence">,
  changes: Partial<ExchangeRecord> = {},
): ExchangeRecord {
  return {
    trialId: held.trialId,
    fence: held.fence,
    turn: 0,
    tryNumber: 1,
    workerId: "host/1/1",
    requestJson: '{"model":"dfs-honest"}',
    rawBody: '{"text":"FINAL_PATH: (0,0)"}',
    text: "FINAL_PATH: (0,0)",
    reasoning: null,
    finishReason: "stop",
    outcome: null,
    errorMessage: null,
    servedModel: "dfs-honest",
    effectiveParamsJson: "{}",
    usage: { inputTokens: 900, outputTokens: 120, cachedTokens: null, reasoningTokens: null },
    queueMs: 4,
    limiterMs: 0,
    httpMs: 250,
    ttftMs: null,
    servedBy: null,
    nativeFinishReason: "end",
    sideRequestsJson: null,
    costUsd: null,
    priceDate: null,
    costBoundUsd: null,
    ...changes,
  };
}

/** The end of a try whose reply escaped in the way that `score` says. */
export function done(score = 0.75, readerVersion = "1"): { readonly kind: "done"; readonly scored: ScoredTrial } {
  const scores = { sr: 1, hc: 2, fhr: -1, bt: 1, lt: 0, hrr: 1, mei: 0.5, ce: null, brs: 0.5, score } as const;
  const profile = { version: "1", scores };
  return {
    kind: "done",
    scored: {
      outcome: "ok",
      readerVersion,
      readingJson: '{"flags":[]}',
      profiles: { seed: profile, published: profile, robust: profile },
    },
  };
}

/** Runs one trial to its end. */
export async function finish(store: StorePort, trial: OpenTrial, score = 0.75): Promise<void> {
  const held = await claim(store, trial);
  await store.recordExchange(exchange(held));
  await store.endTry(held.trialId, held.fence, done(score));
}

/** The one member of a list; fails where there is none or more. */
export function only<T>(list: readonly T[]): T {
  const [first, ...rest] = list;
  if (first === undefined || rest.length > 0) throw new Error(`expected one, got ${list.length}`);
  return first;
}

/** All pages in one list. */
export async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}
