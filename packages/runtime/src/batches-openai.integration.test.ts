// OpenAI's batches with their own ends: files of answers and of errors, whole refusals, partial expiry.
import { describe, expect, it } from "vitest";

import { openBatchStage } from "../test/batch-stage.ts";
import { shortBatchTimes } from "../test/batch-times.ts";

const vendor = "openai";
const sound = { live: 0, late: 0, reservedUsd: 0, open: 0 } as const;

describe("a sweep in OpenAI's batches", () => {
  it("goes as a file, lands from the file of answers, and costs half", async () => {
    const stage = await openBatchStage();
    const sweepId = await stage.submitBatched(6, { vendor });
    stage.workBatches();
    await stage.reach("done", 6);
    const [batch] = stage.made();
    if (batch === undefined) throw new Error("no batch");
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({ ...sound, states: { done: 6 }, exchanges: { reply: 6 }, scored: 6 });
    expect(books.spentUsd).toBeCloseTo(batch.inputTokens * 1.25e-6 + batch.outputTokens * 5e-6, 12);
    expect(books.costUsd).toBeCloseTo(books.spentUsd, 12);
  });

  it("that expires in part keeps its answers, and asks again for the others alone", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, rows: [{ nth: [1, 3], end: "expired" }] }] });
    const sweepId = await stage.submitBatched(5, { vendor });
    // Longer than the jitter of a first retry: what comes again goes together.
    stage.workBatches({ batchTimes: { ...shortBatchTimes, quietMs: 1500, longestMs: 10_000 } });
    await stage.reach("done", 5);
    expect(stage.made().map(({ rows }) => rows)).toEqual([5, 2]);
    expect(await stage.accounts(sweepId)).toMatchObject({ ...sound, exchanges: { reply: 5, overloaded: 2 } });
  });

  it("that completes with a file of errors alone gives each row its own end", async () => {
    const rows = [
      { nth: 1, end: "errored", error: "bad_request" },
      { end: "errored", error: "server_error" },
    ] as const;
    const stage = await openBatchStage({ batches: [{ nth: 1, rows: [...rows] }] });
    const sweepId = await stage.submitBatched(3, { vendor });
    stage.workBatches();
    await stage.reach("done", 2);
    await stage.reach("failed", 1);
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({ ...sound, exchanges: { bad_request: 1, transient_server: 2, reply: 2 } });
    expect(books.spentUsd).toBeCloseTo(books.costUsd, 12);
  });

  it("that is refused whole for two of its lines fails those, and asks the others in another batch", async () => {
    const failed = [2, 4].map((line) => ({ code: "invalid_request", message: "bad line", line }));
    const stage = await openBatchStage({ batches: [{ nth: 1, failed }] });
    const sweepId = await stage.submitBatched(5, { vendor });
    stage.workBatches();
    await stage.reach("done", 3);
    await stage.reach("failed", 2);
    expect(stage.made().map(({ rows }) => rows)).toEqual([5, 3]);
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({ ...sound, exchanges: { bad_request: 2, reply: 3 } });
    expect(books.spentUsd).toBeCloseTo(books.costUsd, 12);
  });

  it("that finds the organisation's queue full is submitted again, whole", async () => {
    const failed = [{ code: "token_limit_exceeded", message: "Enqueued token limit reached" }];
    const stage = await openBatchStage({ batches: [{ nth: 1, failed }] });
    const sweepId = await stage.submitBatched(4, { vendor });
    stage.workBatches();
    await stage.reach("done", 4);
    expect(stage.made().map(({ rows }) => rows)).toEqual([4, 4]);
    expect(await stage.accounts(sweepId)).toMatchObject({ ...sound, exchanges: { reply: 4 } });
  });

  it("whose answer was lost is found by its metadata, and no second one is made", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, loseAnswer: true }] });
    const sweepId = await stage.submitBatched(3, { vendor });
    stage.workBatches();
    await stage.reach("done", 3);
    expect(stage.made()).toHaveLength(1);
    expect(await stage.accounts(sweepId)).toMatchObject({ ...sound, exchanges: { reply: 3 } });
  });

  it("whose files are gone charges each row at its bound, and asks again", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, resultsGone: true }] });
    const sweepId = await stage.submitBatched(2, { vendor });
    stage.workBatches();
    await stage.reach("done", 2);
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({ ...sound, exchanges: { reply: 2, transport: 2 } });
    expect(books.spentUsd).toBeCloseTo(books.costUsd, 12);
  });
});
