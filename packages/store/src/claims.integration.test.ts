import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  cell,
  claim,
  done,
  exchange,
  finish,
  only,
  openStage,
  type Stage,
  submit,
  submitOne,
} from "../test/ledger-stage.ts";
import { maxLosses } from "./claims.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const endLeases = (trialId: string) =>
  stage.sql("UPDATE trials SET lease_until = now() - interval '1 second' WHERE id = $1", [trialId]);

describe("claim", () => {
  it("gives a trial to one of many workers in two processes, however they race", async () => {
    const { queued } = await submit(
      stage.store,
      "race",
      Array.from({ length: 20 }, (_, at) => cell(`race ${at}`)),
    );
    const other = await stage.openAnother();
    const attempts = queued.flatMap((trial) =>
      [stage.store, other, stage.store, other].map((store, at) =>
        store.claim({
          trialId: trial.trialId,
          generation: trial.generation,
          workerId: `host/${at}/1`,
          leaseMs: 60_000,
        }),
      ),
    );
    const results = await Promise.all(attempts);
    const winners = results.flatMap((result) => (result.kind === "claimed" ? [result.claim.trialId] : []));
    expect(winners.toSorted()).toEqual(queued.map((trial) => trial.trialId).toSorted());
    expect(results.filter((result) => result.kind === "later")).toHaveLength(60);
  });

  it("raises the fence with every claim and tells how long the delivery waited", async () => {
    const trial = await submitOne(stage.store, "fences");
    await stage.sql("UPDATE trials SET queued_at = now() - interval '3 seconds' WHERE id = $1", [trial.trialId]);
    const first = await claim(stage.store, trial);
    await stage.store.release(first.trialId, first.fence);
    const second = await claim(stage.store, trial);
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(first.queueMs).toBeGreaterThanOrEqual(3000);
    expect(second.queueMs).toBeLessThan(3000);
  });

  it("says how long to wait while another worker holds the lease", async () => {
    const trial = await submitOne(stage.store, "held");
    await claim(stage.store, trial, "host/1/1", 60_000);
    const result = await stage.store.claim({ ...trial, workerId: "host/2/1", leaseMs: 5000 });
    if (result.kind !== "later") throw new Error(result.kind);
    expect(result.afterMs).toBeGreaterThan(30_000);
    expect(result.afterMs).toBeLessThanOrEqual(60_000);
  });

  it("takes over by time alone when a lease has ended", async () => {
    const trial = await submitOne(stage.store, "ended lease");
    const lost = await claim(stage.store, trial);
    await endLeases(trial.trialId);
    const next = await claim(stage.store, trial, "host/2/1");
    expect(next.fence).toBeGreaterThan(lost.fence);
    expect(await stage.store.endTry(lost.trialId, lost.fence, done())).toBe("lost");
    expect(await stage.store.endTry(next.trialId, next.fence, done())).toBe("ended");
  });

  it("gives nothing for a finished trial, an older generation, an unknown id and no id at all", async () => {
    const trial = await submitOne(stage.store, "nothing to do");
    const asked = { generation: 0, workerId: "host/1/1", leaseMs: 1000 };
    expect(await stage.store.claim({ ...asked, trialId: trial.trialId, generation: 1 })).toEqual({ kind: "nothing" });
    await finish(stage.store, trial);
    for (const trialId of [trial.trialId, "00000000-0000-4000-8000-000000000000", "17", "'; --"]) {
      expect(await stage.store.claim({ ...asked, trialId })).toEqual({ kind: "nothing" });
    }
  });

  it("hands over what a lost run has recorded, by turn, and not what an ended try has used up", async () => {
    const trial = await submitOne(stage.store, "replay");
    const first = await claim(stage.store, trial);
    await stage.store.recordExchange(exchange(first, { text: "empty", turn: 0 }));
    await stage.store.endTry(trial.trialId, first.fence, {
      kind: "retry",
      outcome: "empty",
      message: "",
      afterMs: 0,
      spends: "empty",
    });
    const second = await claim(stage.store, trial);
    expect(second.recorded).toEqual([]);
    await stage.store.recordExchange(exchange(second, { turn: 1, text: "second", finishReason: "length" }));
    await stage.store.recordExchange(exchange(second, { turn: 0, text: "first\u0000", reasoning: "\ud800" }));
    await stage.store.recordExchange(exchange(second, { turn: 2, text: null, outcome: "timeout" }));
    await endLeases(trial.trialId);
    const third = await claim(stage.store, trial, "host/2/1");
    expect(third.recorded).toMatchObject([
      { turn: 0, text: "first\u0000", reasoning: "\ud800", finishReason: "stop" },
      { turn: 1, text: "second", reasoning: null, finishReason: "length" },
    ]);
    expect(third).toMatchObject({ tries: 0, emptyRetries: 1, waits: 0, maxTries: 4, maxEmptyRetries: 1 });
  });

  it("hands a reply over again when the scoring broke", async () => {
    const trial = await submitOne(stage.store, "broken scoring");
    const first = await claim(stage.store, trial);
    await stage.store.recordExchange(exchange(first, { text: "good" }));
    await stage.store.endTry(trial.trialId, first.fence, {
      kind: "retry",
      outcome: "internal",
      message: "a bug",
      afterMs: 0,
      spends: "try",
    });
    const second = await claim(stage.store, trial);
    expect(second.recorded).toMatchObject([{ turn: 0, text: "good" }]);
  });

  it("takes over the answer of another sweep that has come meanwhile", async () => {
    const mine = await submitOne(stage.store, "waiting twin", "twin");
    const theirs = await submitOne(stage.store, "quick twin", "twin");
    await finish(stage.store, theirs, 0.25);
    expect(await stage.store.claim({ ...mine, workerId: "host/1/1", leaseMs: 1000 })).toEqual({ kind: "nothing" });
    const sweep = await stage.store.findSweep("waiting twin");
    const progress = await stage.store.progress(sweep?.sweepId ?? "");
    expect(only(progress.models)).toMatchObject({
      states: { done: 1 },
      reused: 1,
      outcomes: { ok: 1 },
      finishedPerSecond: 0,
    });
  });

  it("leaves a cell that another sweep runs, and takes the answer over once it is there", async () => {
    const [first, second] = [
      await submitOne(stage.store, "buyer", "shared"),
      await submitOne(stage.store, "heir", "shared"),
    ];
    const held = await claim(stage.store, first);
    const asked = { ...second, workerId: "host/2/1", leaseMs: 1000 };
    const result = await stage.store.claim(asked);
    if (result.kind !== "later") throw new Error(result.kind);
    expect(result.afterMs).toBeGreaterThanOrEqual(1000);
    expect(result.afterMs).toBeLessThanOrEqual(1500);
    await stage.store.recordExchange(exchange(held));
    await stage.store.endTry(held.trialId, held.fence, done());
    expect(await stage.store.claim(asked)).toEqual({ kind: "nothing" });
    const sweep = await stage.store.findSweep("heir");
    expect(only((await stage.store.progress(sweep?.sweepId ?? "")).models)).toMatchObject({ reused: 1 });
  });

  it("runs a cell itself where the other sweep's lease has ended", async () => {
    const [first, second] = [
      await submitOne(stage.store, "gone", "left"),
      await submitOne(stage.store, "goes on", "left"),
    ];
    await claim(stage.store, first);
    await endLeases(first.trialId);
    expect((await claim(stage.store, second)).trialId).toBe(second.trialId);
    await stage.store.reclaimLost(() => false);
  });

  it("gives a cell of two sweeps to one of them only, in one batch or from two processes at once", async () => {
    const cells = Array.from({ length: 20 }, (_, at) => cell(`pair ${at}`));
    const one = await submit(stage.store, "pairs 1", cells);
    const two = await submit(stage.store, "pairs 2", cells);
    const other = await stage.openAnother();
    for (const [from, store] of [
      [0, stage.store],
      [10, other],
    ] as const) {
      const pairs = [
        ...one.queued
          .slice(from, from + 10)
          .map((trial) => stage.store.claim({ ...trial, workerId: "a", leaseMs: 60_000 })),
        ...two.queued.slice(from, from + 10).map((trial) => store.claim({ ...trial, workerId: "b", leaseMs: 60_000 })),
      ];
      await Promise.all(pairs);
    }
    const running = `SELECT count(*)::int AS trials, count(DISTINCT cell_id)::int AS cells
      FROM trials WHERE cell_id LIKE 'pair %' AND state = 'running'`;
    const raced = only(await stage.sql(running));
    expect(raced["trials"]).toBe(raced["cells"]);
    for (const trial of [...one.queued, ...two.queued])
      await stage.store.claim({ ...trial, workerId: "c", leaseMs: 60_000 });
    expect(await stage.sql(running)).toEqual([{ trials: 20, cells: 20 }]);
  });

  it("runs the cell itself where the sweep is fresh", async () => {
    await finish(stage.store, await submitOne(stage.store, "bought once", "bought"));
    const { queued } = await submit(stage.store, "bought again", [cell("bought")], { fresh: true });
    expect((await claim(stage.store, only(queued))).plan.model).toBe("dfs-honest");
  });
});

describe("renew", () => {
  it("prolongs a held lease and names the claims that were lost", async () => {
    const { queued } = await submit(stage.store, "renewals", [cell("kept"), cell("lost", { ordinal: 1 })]);
    const [kept, lost] = await Promise.all(
      queued.map((trial, at) => claim(stage.store, trial, "host/1/1", at === 0 ? 50 : 60_000)),
    );
    if (kept === undefined || lost === undefined) throw new Error("two cells were submitted");
    const held = [kept, { trialId: lost.trialId, fence: lost.fence - 1 }, { trialId: "gone", fence: 1 }];
    expect(await stage.store.renew(held, 60_000)).toEqual([lost.trialId, "gone"]);
    const result = await stage.store.claim({
      trialId: kept.trialId,
      generation: 0,
      workerId: "host/2/1",
      leaseMs: 1000,
    });
    expect(result).toMatchObject({ kind: "later" });
    expect(await stage.store.renew([], 1000)).toEqual([]);
  });
});

describe("release", () => {
  it("gives the trial back unspent, at once, and only once", async () => {
    const trial = await submitOne(stage.store, "drained");
    const held = await claim(stage.store, trial);
    await stage.store.release(held.trialId, held.fence);
    const next = await claim(stage.store, trial, "host/2/1");
    await stage.store.release(held.trialId, held.fence);
    expect(next.tries).toBe(0);
    expect(await stage.store.endTry(next.trialId, next.fence, done())).toBe("ended");
  });
});

describe("reclaimLost", () => {
  it("puts back the trials of ended leases and of dead workers, and no others", async () => {
    const cells = ["alive", "expired", "dead"].map((name, ordinal) => cell(`reclaim ${name}`, { ordinal }));
    const { sweep, queued } = await submit(stage.store, "reclaim", cells);
    const [alive, expired, dead] = queued;
    if (alive === undefined || expired === undefined || dead === undefined)
      throw new Error("three cells were submitted");
    await claim(stage.store, alive, "host/1/1");
    await claim(stage.store, expired, "host/2/1");
    await endLeases(expired.trialId);
    const old = await claim(stage.store, dead, "host/3/\u0000");
    const back = await stage.store.reclaimLost((workerId) => workerId === "host/3/\u0000");
    expect(back).toEqual([expired, dead].map((trial) => ({ ...trial, generation: 1 })));
    expect(only((await stage.store.progress(sweep.sweepId)).models).states).toMatchObject({ running: 1, queued: 2 });
    expect(await stage.store.endTry(old.trialId, old.fence, done())).toBe("lost");
    expect(await stage.store.claim({ ...dead, workerId: "host/1/1", leaseMs: 1000 })).toEqual({ kind: "nothing" });
    expect(await stage.store.reclaimLost(() => false)).toEqual([]);
  });

  it("fails a trial that has taken its worker down too often", async () => {
    const trial = await submitOne(stage.store, "killer");
    await claim(stage.store, trial, "host/9/9");
    await stage.sql("UPDATE trials SET losses = $2 WHERE id = $1", [trial.trialId, maxLosses - 1]);
    expect(await stage.store.reclaimLost((workerId) => workerId === "host/9/9")).toEqual([]);
    const sweep = await stage.store.findSweep("killer");
    const progress = await stage.store.progress(sweep?.sweepId ?? "");
    expect(progress.failures).toMatchObject([{ outcome: "worker_lost", count: 1 }]);
  });

  it("leaves a trial alone that ended after its worker was found dead", async () => {
    const trial = await submitOne(stage.store, "just in time");
    const held = await claim(stage.store, trial, "host/7/7");
    const ended = stage.store.endTry(held.trialId, held.fence, done());
    const back = stage.store.reclaimLost((workerId) => workerId === "host/7/7");
    const outcomes = [await ended, (await back).length];
    expect([
      ["ended", 0],
      ["lost", 1],
    ]).toContainEqual(outcomes);
  });
});
