import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { cell, claim, collect, done, exchange, only, openStage, type Stage, submit } from "../test/ledger-stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const states = (lane: string) =>
  stage.sql("SELECT state::text, tries, count(*)::int AS trials FROM trials WHERE lane = $1 GROUP BY 1, 2 ORDER BY 1", [
    lane,
  ]);

describe("a lane that is stopped", () => {
  it("blocks what waits and what was asked, without a try, and nothing of other lanes; goes on with all of it", async () => {
    const lanes = ["openai.gpt-4o", "google.gemini"] as const;
    const { queued } = await submit(
      stage.store,
      "stopped",
      lanes.flatMap((lane) => [1, 2, 3].map((at) => cell(`${lane} ${at}`, { lane, ordinal: at }))),
    );
    const [first, second, third] = queued.filter(({ lane }) => lane === lanes[0]);
    const held = await claim(stage.store, first ?? only([]));
    const other = await claim(stage.store, second ?? only([]));
    expect(await stage.store.blockLane(lanes[0], "auth", "no\u0000 such key")).toBe(1);
    const end = { kind: "blocked", outcome: "auth", message: "no such key" } as const;
    expect(await stage.store.endTry(held.trialId, held.fence, end)).toBe("ended");
    expect(await stage.store.endTry(other.trialId, other.fence, done())).toBe("ended");
    expect(await states(lanes[0])).toEqual([
      { state: "blocked", tries: 0, trials: 2 },
      { state: "done", tries: 1, trials: 1 },
    ]);
    expect(await states(lanes[1])).toEqual([{ state: "queued", tries: 0, trials: 3 }]);
    expect(await stage.store.listBlockedLanes()).toEqual([lanes[0]]);
    // A delivery that was under way when the lane stopped finds nothing to do.
    const late = {
      trialId: third?.trialId ?? "",
      generation: third?.generation ?? 0,
      workerId: "host/3/1",
      leaseMs: 1000,
    };
    expect(await stage.store.claim(late)).toEqual({ kind: "nothing" });

    const back = await stage.store.unblockLane(lanes[0]);
    expect(back.map(({ trialId }) => trialId).toSorted()).toEqual([held.trialId, third?.trialId].toSorted());
    expect(await stage.store.unblockLane(lanes[0])).toEqual([]);
    expect(await stage.store.listBlockedLanes()).toEqual([]);
    expect((await stage.store.claim(late)).kind).toBe("nothing");
    for (const trial of back) expect((await claim(stage.store, trial)).tries).toBe(0);
  });

  it("leaves alone what a budget has blocked, and what left the grid", async () => {
    const lane = "openai.budget";
    const cells = [1, 2].map((at) => cell(`budget ${at}`, { lane, ordinal: at }));
    const { queued } = await submit(stage.store, "budget", cells);
    const held = await claim(stage.store, queued[0] ?? only([]));
    await stage.store.endTry(held.trialId, held.fence, { kind: "failed", outcome: "budget_blocked", message: "spent" });
    await submit(stage.store, "budget", cells.slice(0, 1));
    expect(await stage.store.blockLane(lane, "auth", "no")).toBe(0);
    expect(await stage.store.listBlockedLanes()).toEqual([]);
    expect(await stage.store.unblockLane(lane)).toEqual([]);
  });
});

describe("the cost of a trial", () => {
  it("is the exact sum over all its requests, and what is not known is counted, never taken for 0", async () => {
    const lane = "openai.costs";
    const cells = [1, 2].map((at) => cell(`cost ${at}`, { lane, ordinal: at }));
    const { sweep, queued } = await submit(stage.store, "costs", cells);
    const held = await claim(stage.store, queued[0] ?? only([]));
    for (const costUsd of ["0.1000000001", "0.2", null]) {
      const priceDate = costUsd === null ? null : "2026-11-29";
      await stage.store.recordExchange(
        exchange(held, { costUsd, priceDate, servedBy: "fp_1", sideRequestsJson: "[]" }),
      );
    }
    const unknown = await claim(stage.store, queued[1] ?? only([]));
    await stage.store.recordExchange(exchange(unknown));
    const { models } = await stage.store.progress(sweep.sweepId);
    expect(only(models)).toMatchObject({ costUsd: "0.3000000001", costUnknown: 2 });
    const rows = await collect(stage.store.streamTrials(sweep.sweepId, 10));
    expect(rows.map(({ trialId, costUsd }) => [trialId, costUsd])).toEqual(
      expect.arrayContaining([
        [held.trialId, "0.3000000001"],
        [unknown.trialId, null],
      ]),
    );
    expect(
      await stage.sql(
        "SELECT DISTINCT price_date::text AS day, served_by AS host, native_finish_reason AS word FROM exchanges WHERE trial_id = $1 AND cost_usd IS NOT NULL",
        [held.trialId],
      ),
    ).toEqual([{ day: "2026-11-29", host: "fp_1", word: "end" }]);
  });
});
