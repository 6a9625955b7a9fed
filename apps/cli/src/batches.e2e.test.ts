// The commands over sweeps in batches: what `status` says of them, and judges in batches.
import { startMockProviders } from "@hallumaze/mock-providers";
import { createDatabase } from "@hallumaze/testkit";
import { afterEach, expect, it, vi } from "vitest";

import { openLedger, openStage } from "../test/program-stage.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const judge = "anthropic/claude-haiku-4-5-judge";
const hour = 3_600_000;

it("status tells how a sweep's batches stand; run and judge wait for its judges' batches", async () => {
  let aheadMs = 0;
  const mock = await startMockProviders({ clock: () => Date.now() + aheadMs, batches: [{ afterMs: hour }] });
  const { url: DATABASE_URL, drop } = await createDatabase();
  const stage = openStage({ DATABASE_URL, ...mock.environment() });
  const ledger = await openLedger(DATABASE_URL);
  closing.push(
    () => mock.close(),
    drop,
    () => stage.clear(),
    async () => ledger[Symbol.asyncDispose](),
  );
  const spec = stage.spec("night", {
    models: ["anthropic/claude-haiku-4-5-20251001"],
    seeds: ["1..3"],
    mode: "batch",
    judge: { models: [judge], consensusBelow: 0 },
    prices: { [judge]: { input: 1, output: 5 } },
  });
  const startedMs = Date.now();
  const run = stage.start(["run", spec]);
  const batches = () => mock.batches().map(({ rows, hasEnded }) => ({ rows, hasEnded }));
  await vi.waitFor(() => expect(batches()).toEqual([{ rows: 3, hasEnded: false }]), { timeout: 40_000, interval: 100 });
  const seen = await stage.run(["status", "night", "--json"]);
  const { batches: standings } = JSON.parse(seen.out) as { batches: Record<string, unknown>[] };
  expect(standings).toMatchObject([{ provider: "anthropic", underWay: 1, rows: 3, waiting: 0 }]);
  const expiresAtMs = Number(standings[0]?.["expiresAtMs"]);
  expect(expiresAtMs - startedMs).toBeGreaterThan(24 * hour);
  expect(expiresAtMs - Date.now()).toBeLessThanOrEqual(24 * hour);
  const told = await stage.run(["status", "night"]);
  expect(told.out).toMatch(
    /batches \(anthropic\): 1 under way with 3 rows, the oldest for .*, over by \d{4}-.*Z at the latest; 0 wait to be gathered/,
  );

  // The vendor's hour passes for the trials' batch, and then for the judges'.
  aheadMs = hour;
  await vi.waitFor(() => expect(batches()).toHaveLength(2), { timeout: 60_000, interval: 100 });
  aheadMs = 2 * hour;
  expect(await run.ended).toMatchObject({ code: 0 });
  const judged = () =>
    ledger.sql<{ batched: boolean; count: number }>(
      "SELECT batch_id IS NOT NULL AS batched, count(*)::int AS count FROM judgements WHERE decided_by = 'judge' GROUP BY 1",
    );
  expect(await judged()).toEqual([{ batched: true, count: 3 }]);

  const again = stage.start(["judge", "night", "--again", "1"]);
  await vi.waitFor(() => expect(batches()).toHaveLength(3), { timeout: 40_000, interval: 100 });
  aheadMs = 3 * hour;
  expect(await again.ended).toMatchObject({ code: 0 });
  expect(await judged()).toEqual([{ batched: true, count: 6 }]);
  expect(mock.counts().completed).toBe(0);
  const after = await stage.run(["status", "night"]);
  expect(after.out).not.toContain("batches (");
}, 240_000);
