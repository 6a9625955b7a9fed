// Submissions whose answers were lost, at a vendor whose batches carry no name of ours: found again by what they hold.
import { setTimeout as sleep } from "node:timers/promises";

import { describe, expect, it, vi } from "vitest";

import { type BatchStage, openBatchStage } from "../test/batch-stage.ts";
import { shortBatchTimes } from "../test/batch-times.ts";

const models = {
  haiku: "anthropic/claude-haiku-4-5-20251001",
  sonnet: "anthropic/claude-sonnet-4-5-20250929",
} as const;

/** A batch of another program with the same key, of so many rows. */
async function submitStrange(stage: BatchStage, rows: number): Promise<void> {
  const params = { model: "claude-haiku-4-5-20251001", max_tokens: 5, messages: [{ role: "user", content: "hello" }] };
  const requests = Array.from({ length: rows }, (_, index) => ({ custom_id: `other-${index}`, params }));
  await fetch(`${stage.mock.urls.anthropicBaseUrl}/v1/messages/batches`, {
    method: "POST",
    headers: { "x-api-key": "rehearsal-key", "content-type": "application/json" },
    body: JSON.stringify({ requests }),
  });
}

/** Rows of each batch that was made, with how they ended. */
const made = (stage: BatchStage) => stage.made().map(({ rows, ends }) => ({ rows, ends }));
const submitOf = (stage: BatchStage, model: string, seeds: number) =>
  stage.submit(seeds, { models: [{ model, mode: "batch" }], name: model.replaceAll("/", " ") });

describe("a submission whose answer was lost", () => {
  it("is found by a list that lags behind it, and not made again", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, loseAnswer: true, listAfterMs: 600 }] });
    const sweepId = await stage.submitBatched(4);
    stage.workBatches({ batchTimes: { ...shortBatchTimes, settleMs: 100, lagMs: 60_000 } });
    await stage.reach("done", 4);
    expect(made(stage)).toEqual([{ rows: 4, ends: { answered: 4 } }]);
    expect(await stage.accounts(sweepId)).toMatchObject({ exchanges: { reply: 4 }, reservedUsd: 0, open: 0 });
  });

  it("is made again only when the list has had its time, or shows what was made long after", async () => {
    let aheadMs = 0;
    const stage = await openBatchStage({
      clock: () => Date.now() + aheadMs,
      batches: [{ nth: 1, refuse: "server_error" }],
    });
    await stage.submitBatched(4);
    stage.workBatches({ batchTimes: { ...shortBatchTimes, lagMs: 3_600_000 } });
    const submissions = () => stage.sql("SELECT state, submissions FROM batches");
    await vi.waitFor(async () => expect(await submissions()).toEqual([{ state: "submitting", submissions: 1 }]), {
      timeout: 10_000,
      interval: 30,
    });
    await sleep(800);
    expect(made(stage)).toEqual([]);
    // Something of another size, made ten minutes later by the vendor's clock: what came before it is in the list.
    aheadMs = 600_000;
    await submitStrange(stage, 7);
    await stage.reach("done", 4);
    expect(stage.made().map(({ rows }) => rows)).toEqual([7, 4]);
    expect(await submissions()).toEqual([{ state: "done", submissions: 2 }]);
  });

  it("of two workers' equal batches, both lost in one minute, is told from the other by its ids: each lands its own", async () => {
    const stage = await openBatchStage({ batches: [{ nth: [1, 2], loseAnswer: true, afterMs: 1500 }] });
    const sweeps = [await submitOf(stage, models.haiku, 3), await submitOf(stage, models.sonnet, 3)];
    stage.workBatches();
    stage.workBatches({ repairs: false });
    await stage.reach("done", 6);
    expect(made(stage)).toEqual([
      { rows: 3, ends: { answered: 3 } },
      { rows: 3, ends: { answered: 3 } },
    ]);
    for (const { sweepId } of sweeps) {
      expect(await stage.accounts(sweepId)).toMatchObject({
        exchanges: { reply: 3 },
        late: 0,
        reservedUsd: 0,
        open: 0,
      });
    }
    expect(await stage.sql("SELECT submissions, is_guess FROM batches")).toEqual([
      { submissions: 1, is_guess: false },
      { submissions: 1, is_guess: false },
    ]);
  });

  it("beside an equal one whose answer came leaves that one alone", async () => {
    const stage = await openBatchStage({
      batches: [
        { nth: 1, loseAnswer: true, afterMs: 800 },
        { nth: 2, afterMs: 2000 },
      ],
    });
    await submitOf(stage, models.haiku, 3);
    const first = stage.workBatches();
    await vi.waitFor(() => expect(stage.made()).toHaveLength(1), { timeout: 10_000, interval: 20 });
    await submitOf(stage, models.sonnet, 3);
    stage.workBatches({ repairs: false });
    await stage.reach("done", 6);
    await first.drain(1000);
    expect(made(stage)).toEqual([
      { rows: 3, ends: { answered: 3 } },
      { rows: 3, ends: { answered: 3 } },
    ]);
    expect(await stage.sql("SELECT DISTINCT submissions FROM batches")).toEqual([{ submissions: 1 }]);
  });

  it("whose results are gone when it is looked for charges each row at its bound: nobody can tell whose they were", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, loseAnswer: true, resultsGone: true }] });
    const sweepId = await stage.submitBatched(2);
    stage.workBatches();
    await stage.reach("done", 2);
    const { spentUsd, costUsd, ...books } = await stage.accounts(sweepId);
    expect(books).toMatchObject({ exchanges: { reply: 2, transport: 2 }, reservedUsd: 0, open: 0 });
    expect(spentUsd).toBeCloseTo(costUsd, 12);
    const [bounds] = await stage.sql<{ usd: number }>(
      "SELECT sum(cost_bound_usd)::float8 AS usd FROM exchanges WHERE outcome = 'transport'",
    );
    expect(bounds?.usd).toBeGreaterThan(0);
  });

  it("that was never made waits for a stranger's equal batch to show whose it is, and cancels nothing of it", async () => {
    const stage = await openBatchStage({
      batches: [
        { nth: 1, afterMs: 2500 },
        { nth: 2, refuse: "server_error" },
      ],
    });
    await submitStrange(stage, 2);
    const sweepId = await stage.submitBatched(2);
    stage.workBatches();
    await vi.waitFor(
      async () =>
        expect(await stage.sql("SELECT state, vendor_id, message FROM batches")).toEqual([
          { state: "submitting", vendor_id: null, message: expect.stringContaining("may be it runs") as string },
        ]),
      { timeout: 10_000, interval: 30 },
    );
    expect(stage.made()).toHaveLength(1);
    await stage.reach("done", 2);
    expect(made(stage)).toEqual([
      { rows: 2, ends: { answered: 2 } },
      { rows: 2, ends: { answered: 2 } },
    ]);
    expect(await stage.sql("SELECT cardinality(not_ours) AS others, submissions FROM batches")).toEqual([
      { others: 1, submissions: 2 },
    ]);
    expect(await stage.accounts(sweepId)).toMatchObject({ exchanges: { reply: 2 }, live: 0, open: 0 });
  });
});
