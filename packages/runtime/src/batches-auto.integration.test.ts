// Mode auto on a clock that the test sets: batches as long as the deadline can be met, live calls for what is late or failed.
import { parseStoredSpec } from "@hallumaze/sweep";
import { describe, expect, it, vi } from "vitest";

import { type BatchStage, openBatchStage } from "../test/batch-stage.ts";

const hour = 3_600_000;
const tariff = { input: 1e-6, output: 5e-6 } as const;
const limits = { "anthropic/claude-haiku-4-5-20251001": { rpm: 100_000, inputTpm: 1e9, outputTpm: 1e9 } } as const;

/** Submits an auto sweep whose deadline is eight hours away by the stage's clock. */
async function submitAuto(stage: BatchStage, seeds: number, nowMs: number): Promise<string> {
  const models = [{ model: "anthropic/claude-haiku-4-5-20251001", mode: "auto" }];
  const deadline = new Date(nowMs + 8 * hour).toISOString();
  return (await stage.submit(seeds, { models, limits, spec: { deadline } })).sweepId;
}

/** What the vendor has on the bill: live calls at the list price, batches at half. */
function billed(stage: BatchStage): number {
  const live = stage.mock.counts();
  const inBatches = stage
    .made()
    .reduce((sum, batch) => sum + (batch.inputTokens * tariff.input + batch.outputTokens * tariff.output) / 2, 0);
  return live.inputTokens * tariff.input + live.outputTokens * tariff.output + inBatches;
}

describe("mode auto", () => {
  it("asks in batches at half the price where they come in time: nothing goes live", async () => {
    const nowMs = Date.now();
    const stage = await openBatchStage({ clock: () => nowMs });
    const sweepId = await submitAuto(stage, 6, nowMs);
    stage.workPaced();
    stage.workBatches({ clock: () => nowMs, repairs: false });
    await stage.reach("done", 6);
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({ exchanges: { reply: 6 }, live: 0, late: 0, reservedUsd: 0, open: 0 });
    expect(books.spentUsd).toBeCloseTo(billed(stage), 12);
    // Their replies tell how long an answer is; the hours of a batch would say nothing of how long a live call takes.
    const stored = (await stage.store.listSweeps()).find((sweep) => sweep.sweepId === sweepId);
    const [first] = parseStoredSpec(stored?.specJson ?? "").models;
    const known = first === undefined ? [] : await stage.store.replyHistory(first, { rehearsal: false });
    expect(known).toMatchObject([{ n: 6, httpMsMean: null }]);
    expect(known[0]?.outputTokensMean).toBeGreaterThan(0);
  });

  it("that waits too long cancels its batch and asks its rows live, once, before the deadline (T46)", async () => {
    let nowMs = Date.now();
    const stage = await openBatchStage({ clock: () => nowMs, batches: [{ afterMs: 20 * hour }] });
    const sweepId = await submitAuto(stage, 6, nowMs);
    stage.workPaced();
    stage.workBatches({ clock: () => nowMs, repairs: false });
    await vi.waitFor(() => expect(stage.made()).toHaveLength(1), { timeout: 10_000, interval: 20 });
    nowMs += 7.5 * hour;
    // It is still not too late: nothing is paid twice for impatience.
    expect((await stage.accounts(sweepId)).exchanges).toEqual({});
    nowMs += 0.35 * hour;
    await stage.reach("done", 6);
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({ exchanges: { reply: 6 }, live: 6, late: 0, reservedUsd: 0, open: 0, scored: 6 });
    expect(stage.made().map(({ ends }) => ends)).toEqual([{ canceled: 6 }]);
    expect(books.spentUsd).toBeCloseTo(billed(stage), 12);
  });

  it("that has no time for batches asks live at once", async () => {
    const nowMs = Date.now();
    const stage = await openBatchStage();
    const sweepId = await submitAuto(stage, 3, nowMs);
    stage.workPaced();
    stage.workBatches({ clock: () => nowMs + 7.9 * hour, repairs: false });
    await stage.reach("done", 3);
    expect(stage.made()).toEqual([]);
    expect(await stage.accounts(sweepId)).toMatchObject({ live: 3, exchanges: { reply: 3 } });
  });

  it("asks live, and not in another batch, what a batch expired, failed or lost; the rest of it stands", async () => {
    const nowMs = Date.now();
    const rows = [
      { nth: 1, end: "expired" },
      { nth: 2, end: "errored", error: "server_error" },
      { nth: 3, end: "missing" },
    ] as const;
    const stage = await openBatchStage({ clock: () => nowMs, batches: [{ rows: [...rows] }] });
    const sweepId = await submitAuto(stage, 8, nowMs);
    stage.workPaced();
    stage.workBatches({ clock: () => nowMs, repairs: false });
    await stage.reach("done", 8);
    expect(stage.made()).toHaveLength(1);
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({
      exchanges: { reply: 8, overloaded: 1, transient_server: 1, transport: 1 },
      live: 3,
      reservedUsd: 0,
      open: 0,
    });
    expect(books.spentUsd).toBeCloseTo(books.costUsd, 12);
  });

  it("asks live what was refused as a batch", async () => {
    const nowMs = Date.now();
    const stage = await openBatchStage({ clock: () => nowMs, batches: [{ refuse: "bad_request" }] });
    const sweepId = await submitAuto(stage, 4, nowMs);
    stage.workPaced();
    stage.workBatches({ clock: () => nowMs, repairs: false });
    await stage.reach("done", 4);
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({ exchanges: { reply: 4 }, live: 4, reservedUsd: 0, open: 0 });
    expect(books.spentUsd).toBeCloseTo(billed(stage), 12);
  });

  it("keeps live, where its sweep is submitted again, what went live once; what stands in a batch lands", async () => {
    const nowMs = Date.now();
    const stage = await openBatchStage({ clock: () => nowMs });
    const sweepId = await submitAuto(stage, 6, nowMs);
    const lanes = () =>
      stage.sql(
        "SELECT lane, went_live AS live, state::text, count(*)::int AS n FROM trials GROUP BY 1, 2, 3 ORDER BY 1",
      );
    const liveLane = "anthropic.claude-haiku-4-5-20251001";
    const live = [{ lane: liveLane, live: true, state: "queued", n: 6 }];
    // Too late for batches by this worker's clock; nobody answers live yet.
    const early = stage.workBatches({ clock: () => nowMs + 7.9 * hour });
    await vi.waitFor(async () => expect(await lanes()).toEqual(live), { timeout: 10_000, interval: 20 });
    await early.drain(1000);
    // With a later deadline too: what has moved once does not move back.
    expect(await submitAuto(stage, 6, nowMs)).toBe(sweepId);
    expect(await lanes()).toEqual(live);
    const later = stage.workBatches({ clock: () => nowMs });
    stage.workPaced();
    await stage.reach("done", 6);
    await later.drain(1000);
    expect(stage.made()).toEqual([]);
    expect(await stage.accounts(sweepId)).toMatchObject({ exchanges: { reply: 6 }, live: 6, late: 0 });
    // A wish for batches is another word: what is not answered follows it.
    await submitAuto(stage, 7, nowMs);
    await stage.submitBatched(7);
    expect(await lanes()).toEqual([
      { lane: `batch.${liveLane}`, live: false, state: "done", n: 6 },
      { lane: `batch.${liveLane}`, live: false, state: "queued", n: 1 },
    ]);
  });

  it("goes by each model's own deadline: one goes live while the other waits for its batch", async () => {
    let nowMs = Date.now();
    const stage = await openBatchStage({ clock: () => nowMs, batches: [{ afterMs: 20 * hour }] });
    const { provider, model } = { provider: "anthropic", model: "claude-haiku-4-5-20251001" };
    const at = (hours: number) => new Date(nowMs + hours * hour).toISOString();
    const models = [
      { model: `${provider}/${model}`, as: "early", mode: "auto", deadline: at(2) },
      { model: `${provider}/${model}`, as: "late", mode: "auto", temperature: 0.5 },
    ];
    await stage.submit(3, {
      models,
      limits: { early: { rpm: 100_000, inputTpm: 1e9, outputTpm: 1e9 } },
      spec: { deadline: at(8) },
    });
    stage.workPaced();
    stage.workBatches({ clock: () => nowMs, repairs: false });
    await vi.waitFor(() => expect(stage.made()).toHaveLength(2), { timeout: 10_000, interval: 20 });
    nowMs += 1.8 * hour;
    await stage.reach("done", 3);
    expect(stage.made().map(({ rows, ends }) => [rows, ends])).toEqual(
      expect.arrayContaining([
        [3, { canceled: 3 }],
        [3, {}],
      ]),
    );
    const done = () =>
      stage.sql("SELECT alias, count(*)::int AS n FROM trials WHERE state = 'done' GROUP BY 1 ORDER BY 1");
    expect(await done()).toEqual([{ alias: "early", n: 3 }]);
    nowMs += 6 * hour;
    await stage.reach("done", 6);
    expect(await done()).toEqual([
      { alias: "early", n: 3 },
      { alias: "late", n: 3 },
    ]);
    expect(stage.made().map(({ ends }) => ends)).toEqual([{ canceled: 3 }, { canceled: 3 }]);
  });

  it("is not what a sweep becomes by being submitted again: a delivery of a trial that is now for batches asks nobody", async () => {
    const stage = await openBatchStage();
    const model = "anthropic/claude-haiku-4-5-20251001";
    await stage.submit(4, { models: [model], limits });
    const sweepId = await stage.submitBatched(4);
    stage.workPaced();
    stage.workBatches({ repairs: false });
    await stage.reach("done", 4);
    expect(await stage.accounts(sweepId)).toMatchObject({ exchanges: { reply: 4 }, live: 0 });
    expect(stage.mock.counts().completed).toBe(0);
  });
});
