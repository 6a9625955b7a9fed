import { createDatabase } from "@hallumaze/testkit";
import { openStore } from "@hallumaze/store";
import pg from "pg";

type Store = Awaited<ReturnType<typeof openStore>>;
type Cell = Parameters<Store["insertCells"]>[2][number];

/** A ledger with one sweep, in a database of its own. */
export interface FilledLedger {
  readonly url: string;
  readonly store: Store;
  readonly sweepId: string;
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;
  readonly drop: () => Promise<void>;
}

/** Any text that COPY, JSON and UTF-8 could trip over; the last line is the one that ends a COPY. */
export const awkwardText = 'tab\there, "quotes" \\ and \\N, 한국어 🧭, \u0000 and \ud800\r\n\\.\n';

/** Opens a ledger whose sweep has `done` answered trials, one failed, and one that was not asked. */
export async function fillLedger(done: number, text = awkwardText): Promise<FilledLedger> {
  const database = await createDatabase();
  const store = await openStore({ databaseUrl: database.url, poolSize: 4 });
  const sweepId = await addSweep(store, "care", done + 2);
  const trials = await store.listPlanned(sweepId, done + 2);
  await store.markQueued(trials.map(({ trialId }) => trialId));
  await Promise.all(trials.slice(0, done).map((trial) => answer(store, trial, text)));
  const failing = trials[done];
  if (failing !== undefined) await fail(store, failing);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return {
    url: database.url,
    store,
    sweepId,
    sql: async (statement, values = []) => (await client.query<Record<string, unknown>>(statement, [...values])).rows,
    drop: async () => {
      await client.end();
      await store.close();
      await database.drop();
    },
  };
}

/** Adds a sweep of `cells` cells; the same number makes the same cells. Gives its id. */
export async function addSweep(store: Store, name: string, cells: number): Promise<string> {
  const { sweepId } = await store.openSweep({
    name,
    specJson: "{}",
    provenance: { gitCommit: null, gitDirty: null, programVersion: "0.0.0", nodeVersion: "20" },
    maxTries: 4,
    maxEmptyRetries: 1,
    fresh: false,
  });
  const revision = await store.beginGrid(sweepId);
  await store.insertCells(
    sweepId,
    revision,
    Array.from({ length: cells }, (_, seed) => cell(seed + 1)),
  );
  await store.closeGrid(sweepId, revision);
  return sweepId;
}

type Trial = Awaited<ReturnType<Store["listPlanned"]>>[number];

async function claim(store: Store, { trialId, generation }: Trial) {
  const result = await store.claim({ trialId, generation, workerId: "host/1/1", leaseMs: 60_000 });
  if (result.kind !== "claimed") throw new Error(`not claimed: ${result.kind}`);
  return result.claim;
}

/** Runs one trial to its scored end. */
export async function answer(store: Store, trial: Trial, text: string): Promise<void> {
  const { trialId, fence } = await claim(store, trial);
  await store.recordExchange({ ...exchange, trialId, fence, text, rawBody: `{"raw":${JSON.stringify(text)}}` });
  const scores = {
    sr: 1,
    hc: 2,
    fhr: -1,
    bt: 1,
    lt: 0,
    hrr: 1,
    mei: 0.1 + 0.2,
    ce: null,
    brs: 0.5,
    score: 0.75,
  } as const;
  const profile = { version: "1", scores };
  const profiles = { seed: profile, published: profile, robust: profile };
  await store.endTry(trialId, fence, {
    kind: "done",
    scored: { outcome: "ok", readerVersion: "1", readingJson: '{"flags":[]}', profiles },
  });
}

async function fail(store: Store, trial: Trial): Promise<void> {
  const { trialId, fence } = await claim(store, trial);
  await store.recordExchange({
    ...exchange,
    trialId,
    fence,
    outcome: "timeout",
    errorMessage: "none came",
    rawBody: null,
  });
  await store.endTry(trialId, fence, { kind: "failed", outcome: "timeout", message: "none came" });
}

const exchange = {
  turn: 0,
  tryNumber: 1,
  workerId: "host/1/1",
  requestJson: `{"messages":["${"a long prompt ".repeat(50)}"]}`,
  rawBody: null,
  text: null,
  reasoning: "thinking",
  finishReason: "stop",
  outcome: null,
  errorMessage: null,
  servedModel: "dfs-honest",
  effectiveParamsJson: "{}",
  usage: { inputTokens: 900, outputTokens: 120, cachedTokens: null, reasoningTokens: null },
  queueMs: 4,
  limiterMs: 3,
  httpMs: 250,
  ttftMs: null,
  servedBy: null,
  nativeFinishReason: "end",
  sideRequestsJson: null,
  costUsd: "0.0125",
  priceDate: "2026-11-01",
  costBoundUsd: null,
} as const;

function cell(seed: number): Cell {
  return {
    cellId: `cell ${seed}`,
    alias: "dfs",
    lane: "sim.dfs",
    liveLane: null,
    ordinal: seed,
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
      seed,
      size: 5,
      group: "A",
      mirage: true,
      language: "ko",
      confidence: true,
      repeat: 0,
      rehearsal: false,
    },
  };
}
