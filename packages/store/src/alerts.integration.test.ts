import type { Condition } from "@hallumaze/watching";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { openStage, type Stage } from "../test/ledger-stage.ts";
import type { Ledger } from "./open-store.ts";

let stage: Stage;
let workers: readonly Ledger[];
beforeAll(async () => {
  stage = await openStage();
  workers = [stage.store, await stage.openAnother(), await stage.openAnother()];
});
afterAll(() => stage.close());

const condition = (subject: string, change: Partial<Condition> = {}): Condition => ({
  kind: "done",
  subject,
  stands: true,
  marker: "1",
  facts: { sweep: "night \0", failed: 3 },
  ...change,
});
/** A reading that is newer than every change so far. */
const now = async () => (await stage.store.serverTimeMs()) + 5;
/** All workers see it at once and take what is to tell; gives the occurrences that were taken. */
async function seen(given: Condition): Promise<readonly number[]> {
  const readAtMs = await now();
  await Promise.all(workers.map((worker) => worker.settleAlerts([given], readAtMs)));
  const taken = await Promise.all(workers.map((worker) => worker.takeAlerts(60_000)));
  await stage.sql("SELECT pg_sleep(0.02)");
  return taken.flat().map(({ occurrence }) => occurrence);
}

describe("an occurrence", () => {
  it("is given to one of many workers, and once, however often it is seen", async () => {
    expect(await seen(condition("once"))).toEqual([1]);
    expect(await seen(condition("once"))).toEqual([]);
    const [row] = await stage.sql("SELECT facts_json AS facts FROM alerts WHERE subject = 'once'");
    expect(row?.["facts"]).toContain("night");
  });

  it("is a new one after it had gone, or where its marker tells that it had", async () => {
    expect(await seen(condition("again"))).toEqual([1]);
    expect(await seen(condition("again", { stands: false }))).toEqual([]);
    expect(await seen(condition("again"))).toEqual([2]);
    expect(await seen(condition("again", { marker: "2" }))).toEqual([3]);
  });

  it("is neither lowered nor raised by a reading that is older than the last change", async () => {
    const old = (await now()) - 10_000;
    expect(await seen(condition("stale"))).toEqual([1]);
    await stage.store.settleAlerts([condition("stale", { stands: false })], old);
    expect(await seen(condition("stale"))).toEqual([]);
    await seen(condition("stale", { stands: false }));
    await stage.store.settleAlerts([condition("stale")], old);
    expect(await stage.store.takeAlerts(60_000)).toEqual([]);
  });

  it("of a worker that died before it said so is given to another, and of one that said so to none", async () => {
    await stage.store.settleAlerts([condition("lost"), condition("told")], await now());
    for (const alert of await stage.store.takeAlerts(60_000)) {
      if (alert.subject === "told") await stage.store.markTold(alert);
    }
    await stage.sql(
      "UPDATE alerts SET claimed_until = clock_timestamp() - interval '1 second' WHERE subject IN ('lost', 'told')",
    );
    const again = await workers[1]?.takeAlerts(60_000);
    expect(again?.map(({ subject, facts }) => [subject, facts])).toEqual([["lost", { sweep: "night \0", failed: 3 }]]);
  });
});
