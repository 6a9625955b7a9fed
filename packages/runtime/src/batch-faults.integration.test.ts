// A batch worker killed, as by kill -9, before and after each step of its work; another takes up what it left.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import type { BatchProcessPlan } from "../test/batch-process.ts";
import { type BatchStage, openBatchStage } from "../test/batch-stage.ts";

/** Every call of a batch's way, in its order: gathering, submitting, looking, landing, scoring. */
const calls = [
  "claim",
  "openBatch",
  "addToBatch",
  "sealBatch",
  "takeBatch",
  "listRows",
  "beginSubmission",
  "submit",
  "bindBatch",
  "releaseBatch",
  "look",
  "results",
  "findRows",
  "recordExchange",
  "landRows",
  "finishBatch",
  "endTry",
] as const;
/** All of them with one vendor, and with the others those at which their protocols differ. */
const points = [
  ...calls.flatMap((call) => [["anthropic", "before", call] as const, ["anthropic", "after", call] as const]),
  ...(["openai", "google"] as const).flatMap((vendor) => [
    [vendor, "before", "submit"] as const,
    [vendor, "after", "submit"] as const,
    [vendor, "before", "bindBatch"] as const,
    [vendor, "after", "results"] as const,
  ]),
];
/** US dollars for a token in a batch. */
const tariffs = {
  anthropic: { input: 0.5e-6, output: 2.5e-6 },
  openai: { input: 1.25e-6, output: 5e-6 },
  google: { input: 0.15e-6, output: 1.25e-6 },
} as const;

describe("a batch worker killed", () => {
  const closers: (() => Promise<void>)[] = [];
  let stage: BatchStage;
  beforeAll(async () => {
    stage = await openBatchStage({}, (close) => closers.unshift(close));
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });

  it.each(points)(
    "(%s) %s %s leaves one batch in all, each row landed once, and exact books",
    async (vendor, when, call) => {
      const madeBefore = stage.made().length;
      const sweepId = await stage.submitBatched(4, { vendor, name: `killed ${when} ${call} ${vendor}` });
      await killedAt({ databaseUrl: stage.databaseUrl, variables: stage.mock.environment(), call, when });
      const heir = stage.workBatches();
      try {
        await vi.waitFor(async () => expect((await stage.accounts(sweepId)).states).toEqual({ done: 4 }), {
          timeout: 20_000,
          interval: 30,
        });
      } finally {
        await heir.drain(2000);
      }
      const made = stage.made().slice(madeBefore);
      expect(made.map(({ rows, ends }) => ({ rows, ends }))).toEqual([{ rows: 4, ends: { answered: 4 } }]);
      const { spentUsd, costUsd, ...books } = await stage.accounts(sweepId);
      expect(books).toEqual({
        states: { done: 4 },
        exchanges: { reply: 4 },
        live: 0,
        late: 0,
        scored: 4,
        reservedUsd: 0,
        open: 0,
      });
      const billed = made.reduce(
        (sum, { inputTokens, outputTokens }) =>
          sum + inputTokens * tariffs[vendor].input + outputTokens * tariffs[vendor].output,
        0,
      );
      expect(spentUsd).toBeCloseTo(billed, 12);
      expect(costUsd).toBeCloseTo(billed, 12);
    },
  );
});

/** What differs where the rows are requests to a judge, beside what a trial's batch goes through too. */
const judgeCalls = [
  "claimJudge",
  "openBatch",
  "addToBatch",
  "sealBatch",
  "takeBatch",
  "listRows",
  "beginSubmission",
  "submit",
  "bindBatch",
  "look",
  "results",
  "findRows",
  "findJudgeClaim",
  "recordJudgement",
  "requestJudgements",
  "endJudge",
  "landRows",
  "finishBatch",
] as const;
const judgePoints = judgeCalls.flatMap((call) => [["before", call] as const, ["after", call] as const]);

describe("a batch worker killed over a judge's batch", () => {
  const judge = "anthropic/claude-haiku-4-5-judge";
  const closers: (() => Promise<void>)[] = [];
  let stage: BatchStage;
  beforeAll(async () => {
    stage = await openBatchStage({}, (close) => closers.unshift(close));
    stage.workPaced();
    stage.workJudges();
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });

  it.each(judgePoints)(
    "%s %s leaves each result judged once, as often asked as due, and exact books",
    async (when, call) => {
      const madeBefore = stage.made().length;
      // Where a further opinion is asked, its batch is a second one.
      const opinions = call === "requestJudgements" ? 2 : 1;
      const { sweepId } = await stage.submit(3, {
        models: ["sim/dfs-honest"],
        name: `judged ${when} ${call}`,
        spec: {
          judge: { models: [{ model: judge, mode: "batch" }], consensusBelow: opinions === 2 ? 1 : 0 },
          prices: { [judge]: { input: 1, output: 5 } },
        },
      });
      await vi.waitFor(async () => expect((await stage.judgements(sweepId)).states).toEqual({ queued: 3 }), {
        timeout: 20_000,
        interval: 30,
      });
      await killedAt({ databaseUrl: stage.databaseUrl, variables: stage.mock.environment(), call, when });
      const heir = stage.workBatches();
      try {
        await vi.waitFor(async () => expect((await stage.judgements(sweepId)).states).toEqual({ done: 3 * opinions }), {
          timeout: 20_000,
          interval: 30,
        });
      } finally {
        await heir.drain(2000);
      }
      const made = stage.made().slice(madeBefore);
      expect(made.reduce((sum, { rows }) => sum + rows, 0)).toBe(3 * opinions);
      expect(made[0]?.rows).toBe(3);
      const { rows } = await stage.judgements(sweepId);
      expect(rows.map(({ decidedBy, status, batched, late }) => ({ decidedBy, status, batched, late }))).toEqual(
        Array.from({ length: 3 * opinions }, () => ({
          decidedBy: "judge",
          status: "verdict",
          batched: true,
          late: false,
        })),
      );
      const billed = made.reduce(
        (sum, { inputTokens, outputTokens }) => sum + inputTokens * 0.5e-6 + outputTokens * 2.5e-6,
        0,
      );
      const { spentUsd, reservedUsd, open } = await stage.accounts(sweepId);
      expect(spentUsd).toBeCloseTo(billed, 12);
      expect(rows.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0)).toBeCloseTo(billed, 12);
      expect({ reservedUsd, open }).toEqual({ reservedUsd: 0, open: 0 });
    },
  );
});

/** What a worker does with a batch that will miss its deadline. */
const latePoints = (["moveLive", "cancel", "returnRows", "finishBatch"] as const).flatMap((call) => [
  ["before", call] as const,
  ["after", call] as const,
]);

describe("a batch worker killed over a late batch", () => {
  it.each(latePoints)("%s %s leaves each row asked live once, and exact books", async (when, call) => {
    const hour = 3_600_000;
    const stage = await openBatchStage({ batches: [{ afterMs: 20 * hour }] });
    const model = "anthropic/claude-haiku-4-5-20251001";
    const spec = { deadline: new Date(Date.now() + 8 * hour).toISOString() };
    const { sweepId } = await stage.submit(4, { models: [{ model, mode: "auto" }], spec });
    const first = stage.workBatches();
    await vi.waitFor(() => expect(stage.made()).toHaveLength(1), { timeout: 10_000, interval: 20 });
    await first.drain(5000);
    const aheadMs = 7.9 * hour;
    await killedAt({ databaseUrl: stage.databaseUrl, variables: stage.mock.environment(), call, when, aheadMs });
    stage.workPaced();
    stage.workBatches({ clock: () => Date.now() + aheadMs, repairs: false });
    await stage.reach("done", 4);
    expect(stage.made().map(({ ends }) => ends)).toEqual([{ canceled: 4 }]);
    const { spentUsd, costUsd, ...books } = await stage.accounts(sweepId);
    expect(books).toMatchObject({
      states: { done: 4 },
      exchanges: { reply: 4 },
      live: 4,
      late: 0,
      reservedUsd: 0,
      open: 0,
    });
    const { completed, inputTokens, outputTokens } = stage.mock.counts();
    expect(completed).toBe(4);
    expect(spentUsd).toBeCloseTo(inputTokens * 1e-6 + outputTokens * 5e-6, 12);
    expect(costUsd).toBeCloseTo(spentUsd, 12);
  });
});

/** Resolves when a batch worker has died at that point; rejects where it lives on. */
async function killedAt(plan: BatchProcessPlan): Promise<void> {
  const script = fileURLToPath(new URL("../test/batch-process.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", script, JSON.stringify(plan)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const timer = setTimeout(() => child.kill("SIGTERM"), 25_000);
  const [, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  if (signal !== "SIGKILL") throw new Error(`it did not come to ${plan.when} ${plan.call}`);
}
