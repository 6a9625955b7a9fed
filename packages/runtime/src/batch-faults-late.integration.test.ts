// A batch worker killed, as by kill -9, over a batch that will miss its deadline; another takes up what it left.
import { describe, expect, it, vi } from "vitest";

import { openBatchStage } from "../test/batch-stage.ts";
import { killedAt } from "../test/killed-at.ts";

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
