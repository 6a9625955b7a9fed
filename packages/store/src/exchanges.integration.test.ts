import { sha256Hex } from "@hallumaze/foundation";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  cell,
  claim,
  collect,
  done,
  exchange,
  finish,
  only,
  openStage,
  type Stage,
  submit,
  submitOne,
} from "../test/ledger-stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const repliesOf = async (sweepId = ""): Promise<readonly string[]> =>
  (await collect(stage.store.streamReplies(sweepId, 10))).flatMap(({ replies }) => replies.map(({ text }) => text));

describe("recordExchange", () => {
  it("keeps NUL, lone surrogates and their written escapes, and the hash of the raw body", async () => {
    const trial = await submitOne(stage.store, "odd bytes");
    const held = await claim(stage.store, trial);
    const odd = 'a\u0000b \ud83d \udc00 \\u0000 \\ud800 "\\" 벽 🙂';
    const result = await stage.store.recordExchange(
      exchange(held, {
        rawBody: odd,
        text: odd,
        reasoning: odd,
        requestJson: JSON.stringify({ odd }),
        servedModel: odd,
        errorMessage: odd,
      }),
    );
    expect(result).toBe("recorded");
    await stage.store.endTry(held.trialId, held.fence, {
      kind: "done",
      scored: { ...done().scored, readingJson: odd },
    });
    const sweep = await stage.store.findSweep("odd bytes");
    const row = only(await collect(stage.store.streamTrials(sweep?.sweepId ?? "", 10)));
    expect(row).toMatchObject({ servedModel: odd, readingJson: odd });
    expect(await repliesOf(sweep?.sweepId)).toEqual([odd]);
    const stored = await stage.sql("SELECT raw_sha256 FROM exchanges WHERE trial_id = $1", [trial.trialId]);
    expect(only(stored)["raw_sha256"]).toBe(sha256Hex(odd));
  });

  it("archives the reply of a lost claim as a late duplicate, which is never accepted", async () => {
    const trial = await submitOne(stage.store, "late");
    const slow = await claim(stage.store, trial, "host/1/1");
    const [back] = await stage.store.reclaimLost(() => true);
    if (back === undefined) throw new Error("the trial was running");
    const quick = await claim(stage.store, back, "host/2/1");
    expect(quick.recorded).toEqual([]);
    expect(await stage.store.recordExchange(exchange(quick, { text: "accepted" }))).toBe("recorded");
    expect(await stage.store.recordExchange(exchange(slow, { text: "late" }))).toBe("late");
    expect(await stage.store.endTry(trial.trialId, quick.fence, done())).toBe("ended");
    expect(await stage.store.endTry(trial.trialId, slow.fence, done())).toBe("lost");
    const sweep = await stage.store.findSweep("late");
    expect((await stage.store.progress(sweep?.sweepId ?? "")).lateDuplicates).toBe(1);
    expect(await repliesOf(sweep?.sweepId)).toEqual(["accepted"]);
  });

  it("calls late what comes after the try has ended, though the fence is the newest", async () => {
    const trial = await submitOne(stage.store, "after the end");
    const held = await claim(stage.store, trial);
    await stage.store.endTry(held.trialId, held.fence, {
      kind: "retry",
      outcome: "timeout",
      message: "",
      afterMs: 0,
      spends: "try",
    });
    expect(await stage.store.recordExchange(exchange(held))).toBe("late");
  });

  it("keeps one row where the same exchange is written again", async () => {
    const trial = await submitOne(stage.store, "written twice");
    const held = await claim(stage.store, trial);
    const record = exchange(held);
    expect(await stage.store.recordExchange(record)).toBe("recorded");
    expect(await stage.store.recordExchange(record)).toBe("recorded");
    expect(await stage.store.recordExchange({ ...record })).toBe("recorded");
    const stored = await stage.sql("SELECT count(*)::int AS rows FROM exchanges WHERE trial_id = $1", [trial.trialId]);
    expect(only(stored)["rows"]).toBe(2);
  });

  it("fails one bad exchange of a batch and keeps its neighbours", async () => {
    const { queued } = await submit(stage.store, "neighbours", [cell("n1"), cell("n2"), cell("n3")]);
    const held = await Promise.all(queued.map((trial) => claim(stage.store, trial)));
    const usage = { inputTokens: 1e12, outputTokens: null, cachedTokens: null, reasoningTokens: null };
    const results = await Promise.allSettled(
      held.map((each, at) => stage.store.recordExchange(exchange(each, at === 1 ? { usage } : {}))),
    );
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(results[1]).toMatchObject({ reason: { code: "database-refused", retry: false } });
    await expect(stage.store.recordExchange(exchange({ trialId: "17", fence: 1 }))).rejects.toMatchObject({
      code: "database-refused",
    });
  });

  it("shares four connections among 64 jobs", async () => {
    const { sweep, queued } = await submit(
      stage.store,
      "many",
      Array.from({ length: 64 }, (_, at) => cell(`many ${at}`, { plan: { seed: at } })),
    );
    await Promise.all(queued.map((trial) => finish(stage.store, trial)));
    expect(only((await stage.store.progress(sweep.sweepId)).models).states.done).toBe(64);
  });
});

describe("endTry", () => {
  it("counts what a retry spends: a try, an empty reply or a wait", async () => {
    const trial = await submitOne(stage.store, "spending");
    for (const spends of ["try", "empty", "wait", "wait"] as const) {
      const held = await claim(stage.store, trial);
      await stage.store.endTry(trial.trialId, held.fence, {
        kind: "retry",
        outcome: "overloaded",
        message: "x",
        afterMs: 0,
        spends,
      });
    }
    const held = await claim(stage.store, trial);
    expect(held).toMatchObject({ tries: 1, emptyRetries: 1, waits: 2 });
    await stage.store.endTry(trial.trialId, held.fence, done());
    const sweep = await stage.store.findSweep("spending");
    expect(only(await collect(stage.store.streamTrials(sweep?.sweepId ?? "", 10)))).toMatchObject({
      state: "done",
      tries: 3,
    });
  });

  it("holds a retry back for as long as it says, by the server's clock", async () => {
    const trial = await submitOne(stage.store, "held back");
    const held = await claim(stage.store, trial);
    await stage.store.endTry(trial.trialId, held.fence, {
      kind: "retry",
      outcome: "rate_limited",
      message: "429",
      afterMs: 9000,
      spends: "wait",
    });
    const result = await stage.store.claim({ ...trial, workerId: "host/1/1", leaseMs: 1000 });
    if (result.kind !== "later") throw new Error(result.kind);
    expect(result.afterMs).toBeGreaterThan(7000);
    expect(result.afterMs).toBeLessThanOrEqual(9000);
  });

  it("keeps a failure's message whatever its characters, and the state that its outcome asks for", async () => {
    const outcomes = ["bad_request", "cancelled", "budget_blocked"] as const;
    const { sweep, queued } = await submit(
      stage.store,
      "failures",
      outcomes.map((name) => cell(`failure ${name}`)),
    );
    for (const [at, outcome] of outcomes.entries()) {
      const held = await claim(stage.store, queued[at] ?? only([]));
      await stage.store.endTry(held.trialId, held.fence, { kind: "failed", outcome, message: "no\u0000\udfff" });
    }
    const progress = await stage.store.progress(sweep.sweepId);
    expect(only(progress.models).states).toMatchObject({ failed: 1, cancelled: 1, blocked: 1 });
    const group = { alias: "dfs", count: 1, firstMessage: "no\u0000\udfff" };
    expect(progress.failures).toHaveLength(2);
    expect(progress.failures).toEqual(
      expect.arrayContaining([
        { ...group, outcome: "bad_request" },
        { ...group, outcome: "budget_blocked" },
      ]),
    );
  });

  it("changes nothing for an old fence or an unknown trial", async () => {
    const trial = await submitOne(stage.store, "old fence");
    const held = await claim(stage.store, trial);
    expect(await stage.store.endTry(trial.trialId, held.fence - 1, done())).toBe("lost");
    expect(await stage.store.endTry("17", 1, done())).toBe("lost");
    const written = await stage.sql("SELECT 1 FROM readings WHERE trial_id = $1", [trial.trialId]);
    expect(written).toEqual([]);
  });

  it("writes state, reading and scores together or not at all", async () => {
    const trial = await submitOne(stage.store, "all or nothing");
    const held = await claim(stage.store, trial);
    const broken = done();
    const profile = { version: "1", scores: { ...broken.scored.profiles.seed.scores, sr: 70_000 as 1 } };
    const scored = { ...broken.scored, profiles: { ...broken.scored.profiles, robust: profile } };
    await expect(stage.store.endTry(trial.trialId, held.fence, { kind: "done", scored })).rejects.toMatchObject({
      code: "database-refused",
    });
    expect(await stage.sql("SELECT state::text FROM trials WHERE id = $1", [trial.trialId])).toEqual([
      { state: "running" },
    ]);
    expect(await stage.sql("SELECT 1 FROM readings WHERE trial_id = $1", [trial.trialId])).toEqual([]);
    expect(await stage.store.endTry(trial.trialId, held.fence, done())).toBe("ended");
  });
});
