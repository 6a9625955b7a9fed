// Google's batches with their own ends: they expire and fail whole, and their answers stand in the operation.
import { describe, expect, it } from "vitest";

import { openBatchStage } from "../test/batch-stage.ts";

const vendor = "google";
const sound = { live: 0, late: 0, reservedUsd: 0, open: 0 } as const;

describe("a sweep in Google's batches", () => {
  it("goes and lands in the operation, and costs half", async () => {
    const stage = await openBatchStage();
    const sweepId = await stage.submitBatched(5, { vendor });
    stage.workBatches();
    await stage.reach("done", 5);
    const [batch] = stage.made();
    if (batch === undefined) throw new Error("no batch");
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({ ...sound, states: { done: 5 }, exchanges: { reply: 5 }, scored: 5 });
    expect(books.spentUsd).toBeCloseTo(batch.inputTokens * 0.15e-6 + batch.outputTokens * 1.25e-6, 12);
    expect(books.costUsd).toBeCloseTo(books.spentUsd, 12);
  });

  it("that expires whole is not billed, and each row goes again", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, rows: [{ end: "expired" }] }] });
    const sweepId = await stage.submitBatched(3, { vendor });
    stage.workBatches();
    await stage.reach("done", 3);
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({ ...sound, exchanges: { reply: 3, overloaded: 3 } });
    const billed = stage
      .made()
      .reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens * 0.15e-6 + outputTokens * 1.25e-6, 0);
    expect(books.spentUsd).toBeCloseTo(billed, 12);
  });

  it("that fails whole for a moment's reason is submitted again, and for its content halved and failed", async () => {
    const moment = await openBatchStage({ batches: [{ nth: 1, failed: [{ code: "13", message: "internal" }] }] });
    const sweepId = await moment.submitBatched(2, { vendor });
    moment.workBatches();
    await moment.reach("done", 2);
    expect(moment.made().map(({ rows }) => rows)).toEqual([2, 2]);
    expect(await moment.accounts(sweepId)).toMatchObject({ ...sound, exchanges: { reply: 2 } });

    const content = await openBatchStage({ batches: [{ failed: [{ code: "3", message: "invalid argument" }] }] });
    const refusedId = await content.submitBatched(2, { vendor });
    content.workBatches();
    await content.reach("failed", 2);
    expect(content.made().map(({ rows }) => rows)).toEqual([2, 1, 1]);
    expect(await content.accounts(refusedId)).toMatchObject({ ...sound, exchanges: { bad_request: 2 }, spentUsd: 0 });
  });

  it("whose answer was lost is found by its name, and no second one is made", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, loseAnswer: true }] });
    const sweepId = await stage.submitBatched(3, { vendor });
    stage.workBatches();
    await stage.reach("done", 3);
    expect(stage.made()).toHaveLength(1);
    expect(await stage.accounts(sweepId)).toMatchObject({ ...sound, exchanges: { reply: 3 } });
  });
});
