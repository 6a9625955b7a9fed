import { rescoreSweep } from "@hallumaze/engine";
import { retryTrials } from "@hallumaze/steering";
import type { Rule } from "@hallumaze/mock-providers";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import {
  ariadneOf,
  type ConversationStage,
  type Conversations,
  openConversationStage,
  rowsOf,
  type Talk,
  turnsAsked,
} from "../test/conversation-stage.ts";
import { modelOf } from "../test/field-stage.ts";

// Conversations that lose a request, a worker, their money or their lane: what was bought stays, and only the rest is
// asked for again.

let stage: ConversationStage;
beforeAll(async () => {
  stage = await openConversationStage();
});
afterAll(() => stage.close());
afterEach(() => stage.between(null));

const never = new AbortController().signal;
const model = modelOf("compatible");
const secondTurn = { turns: 2 } as const;

const outcomes = ({ exchanges }: Talk) => exchanges.map(({ turn, outcome }) => [turn, outcome]);
const asked = () => turnsAsked(stage.bodies(model));

/** Scores and reading of the sweep's one trial, which the database keeps bit for bit. */
async function resultOf(sweep: Awaited<ReturnType<ConversationStage["converse"]>>) {
  const [row, ...others] = await rowsOf(stage.store, sweep);
  if (row === undefined || others.length > 0) throw new Error("one trial wanted");
  return { outcome: row.outcome, scores: row.scores, readingJson: row.readingJson };
}

/** Cases with their names first, for the tests' titles. */
function named<Case extends { readonly is: string }>(cases: readonly Case[]) {
  return cases.map((one) => [one.is, one] as const);
}

/** The same conversation without a fault. */
async function undisturbed(given: Conversations = {}) {
  stage.play([]);
  const sweep = await stage.converse("undisturbed", given);
  await stage.talks(sweep);
  return resultOf(sweep);
}

describe("a second turn that fails", () => {
  const cases: readonly {
    readonly is: string;
    readonly rule: Rule;
    readonly outcome: string;
    readonly tries: number;
    readonly waits: number;
  }[] = [
    {
      is: "because the vendor is overloaded, spends a try",
      rule: { when: secondTurn, nth: 1, fail: "overloaded" },
      outcome: "overloaded",
      tries: 2,
      waits: 0,
    },
    {
      is: "because of a limit, waits and spends none",
      rule: { when: secondTurn, nth: 1, fail: { kind: "rate_limited", retryAfterMs: 300 } },
      outcome: "rate_limited",
      tries: 1,
      waits: 1,
    },
    {
      is: "because nothing ever comes, spends a try",
      rule: { when: secondTurn, nth: 1, delivery: { blackHole: true } },
      outcome: "timeout",
      tries: 2,
      waits: 0,
    },
  ];

  it.each(named(cases))("%s; that turn alone is asked again, the scores are an undisturbed run's", async (_is, one) => {
    const expected = await undisturbed();
    stage.play([one.rule]);
    const sweep = await stage.converse(`fails with ${one.outcome}`);
    const [talk] = await stage.talks(sweep);
    expect(talk).toMatchObject({ state: "done", outcome: "ok", tries: one.tries, waits: one.waits });
    expect(asked()).toEqual([0, 1, 1]);
    expect(talk && outcomes(talk)).toEqual([
      [0, null],
      [1, one.outcome],
      [1, null],
    ]);
    expect(await resultOf(sweep)).toEqual(expected);
  });

  it("until the tries are spent ends the trial with its outcome; `retry` asks for that turn alone", async () => {
    const expected = await undisturbed();
    stage.play([{ when: secondTurn, fail: "overloaded" }]);
    const sweep = await stage.converse("spent", { retries: { tries: 2 } });
    const [failed] = await stage.talks(sweep);
    expect(failed).toMatchObject({ state: "failed", outcome: "overloaded", tries: 2 });
    expect(asked()).toEqual([0, 1, 1]);
    stage.play([]);
    expect(await retryTrials(stage, sweep.sweepId, { states: ["failed"] })).toBe(1);
    const [done] = await stage.talks(sweep, ["done"]);
    expect(done).toMatchObject({ state: "done", outcome: "ok", tries: 1 });
    expect(asked()).toEqual([1]);
    expect(await resultOf(sweep)).toEqual(expected);
  });

  it("and would fail again the same way is not asked again, and keeps the first answer", async () => {
    stage.play([{ when: secondTurn, fail: "context_too_long" }]);
    const sweep = await stage.converse("too long");
    const [failed] = await stage.talks(sweep);
    expect(failed).toMatchObject({ state: "failed", outcome: "context_too_long", tries: 1 });
    expect(asked()).toEqual([0, 1]);
    stage.play([]);
    await retryTrials(stage, sweep.sweepId, { states: ["failed"] });
    await stage.talks(sweep, ["done"]);
    expect(asked()).toEqual([1]);
  });
});

describe("a shadow that fails until the tries are spent", () => {
  const groups = ["A", "B"] as const;
  const shadowTurn = { contains: "Please continue" } as const;
  const cases: readonly { readonly is: string; readonly rules: readonly Rule[]; readonly turns: readonly number[] }[] =
    [
      { is: "overloaded", rules: [{ when: shadowTurn, fail: "overloaded" }], turns: [0, 1, 1] },
      { is: "refused as a request", rules: [{ when: shadowTurn, fail: "bad_request" }], turns: [0, 1] },
      {
        is: "empty and then overloaded",
        rules: [
          { when: shadowTurn, nth: 1, reply: { text: "" } },
          { when: shadowTurn, fail: "overloaded" },
        ],
        turns: [0, 1, 1, 1],
      },
      {
        is: "sent to a server that cuts it",
        rules: [{ when: shadowTurn, reply: { usage: { inputTokens: 20 } } }],
        turns: [0, 1],
      },
    ];

  it.each(named(cases))(
    "(%s) leaves A done with its first answer's scores and no shadow, rescored or not",
    async (_is, one) => {
      stage.play([]);
      const plain = await stage.converse("without a shadow", { groups: ["A"] });
      await stage.talks(plain);
      const { scores } = await resultOf(plain);
      stage.play(one.rules);
      const sweep = await stage.converse(`shadow ${one.is}`, { groups, retries: { tries: 2 } });
      const [a] = await stage.talks(sweep);
      expect(a).toMatchObject({ group: "A", state: "done", outcome: "ok" });
      expect(a?.exchanges.map(({ turn }) => turn)).toEqual(one.turns);
      const before = await rowsOf(stage.store, sweep);
      expect(before[0]?.scores).toEqual(scores);
      expect(ariadneOf(before[0])).toMatchObject({ group: "A", shadow: null });
      expect(await rescoreSweep(stage.store, sweep, never)).toMatchObject({ rescored: 2, failed: 0 });
      expect(await rowsOf(stage.store, sweep)).toEqual(before);
    },
  );
});

describe("a worker that is killed while the second turn is under way", () => {
  it("loses only that: the next asks for the second turn alone, and the scores are those of an undisturbed run", async () => {
    const expected = await undisturbed();
    await stage.worker().drain(5000);
    stage.play([{ when: secondTurn, nth: 1, delivery: { blackHole: true } }]);
    const child = await stage.fork(1);
    const sweep = await stage.converse("killed");
    await stage.mock.until(({ requests }) => requests >= 2, 30_000);
    child.kill("SIGKILL");
    stage.restart();
    const [talk] = await stage.talks(sweep, ["done"]);
    expect(asked()).toEqual([0, 1, 1]);
    expect(talk && outcomes(talk)).toEqual([
      [0, null],
      [1, null],
    ]);
    expect(talk).toMatchObject({ tries: 1 });
    expect(await resultOf(sweep)).toEqual(expected);
  });
});

describe("a sweep's budget", () => {
  // A request may cost 2000 tokens at $10 a million, $0.02; each takes 100 of them, $0.001.
  const priced: Conversations = {
    maxTokens: 2000,
    prices: { compatible: { input: 0, output: 10 } },
  };
  const cheap: readonly Rule[] = [{ reply: { usage: { outputTokens: 100 } } }];
  const money = async (sweepId: string) => (await stage.store.progress(sweepId)).money;

  it("is charged for the second turn as for the first", async () => {
    stage.play(cheap);
    const sweep = await stage.converse("charged", { ...priced, budgetUsd: 1 });
    const [talk] = await stage.talks(sweep);
    expect(talk?.exchanges.map(({ turn, costUsd }) => [turn, costUsd])).toEqual([
      [0, "0.001"],
      [1, "0.001"],
    ]);
    expect(await money(sweep.sweepId)).toMatchObject({
      spentUsd: "0.002",
      open: { count: 0, boundUsd: "0" },
      lost: { count: 0, boundUsd: "0" },
    });
  });

  it("that does not reach for the second turn blocks the trial with its first answer; raised, that turn alone is asked", async () => {
    const expected = await undisturbed({ maxTokens: 2000 });
    stage.play(cheap);
    const sweep = await stage.converse("spent between", { ...priced, budgetUsd: 0.0205 });
    const [blocked] = await stage.talks(sweep);
    expect(blocked).toMatchObject({ state: "blocked", outcome: "budget_blocked", tries: 0 });
    expect(blocked?.message).toContain("Raise budgetUsd");
    expect(asked()).toEqual([0]);
    expect(await money(sweep.sweepId)).toMatchObject({ spentUsd: "0.001", open: { count: 0, boundUsd: "0" } });
    await stage.converse("spent between", { ...priced, budgetUsd: 1 });
    const [done] = await stage.talks(sweep, ["done"]);
    expect(done).toMatchObject({ tries: 1 });
    expect(asked()).toEqual([0, 1]);
    expect(await money(sweep.sweepId)).toMatchObject({ spentUsd: "0.002", open: { count: 0, boundUsd: "0" } });
    expect(await resultOf(sweep)).toEqual(expected);
  });
});

describe("a lane that is stopped between the turns", () => {
  it("by the second turn's own failure blocks the trial; resumed, that turn alone is asked", async () => {
    const expected = await undisturbed();
    stage.play([{ when: secondTurn, nth: 1, fail: "quota_exhausted" }]);
    const sweep = await stage.converse("stopped by itself", { lane: "stopped-by-itself" });
    const [blocked] = await stage.talks(sweep);
    expect(blocked).toMatchObject({ state: "blocked", outcome: "quota_exhausted", tries: 0 });
    expect(asked()).toEqual([0, 1]);
    await stage.limiter.resume(blocked?.lane ?? "");
    const [done] = await stage.talks(sweep, ["done"]);
    expect(done).toMatchObject({ state: "done", tries: 1 });
    expect(asked()).toEqual([0, 1, 1]);
    expect(await resultOf(sweep)).toEqual(expected);
  });

  it("by somebody else's blocks the trial without a second request; resumed, that turn alone is asked", async () => {
    const expected = await undisturbed();
    stage.play([]);
    const [{ lane } = { lane: "" }] = await stage.talks(
      await stage.converse("stopped before", { lane: "stopped-by-another" }),
    );
    stage.play([]);
    stage.between(async () => {
      await stage.limiter.park(lane, "auth: the key was withdrawn", null);
    });
    const sweep = await stage.converse("stopped by another", { lane: "stopped-by-another" });
    const [blocked] = await stage.talks(sweep);
    expect(blocked).toMatchObject({
      state: "blocked",
      outcome: "auth",
      message: "auth: the key was withdrawn",
      tries: 0,
    });
    expect(asked()).toEqual([0]);
    stage.between(null);
    await stage.limiter.resume(lane);
    await stage.talks(sweep, ["done"]);
    expect(asked()).toEqual([0, 1]);
    expect(await resultOf(sweep)).toEqual(expected);
  });
});

describe("a finished sweep of A, B and C", () => {
  it("is rescored bit for bit without a call, and so is a sweep that took its cells over", async () => {
    stage.play([
      { when: { turns: 2, contains: "Please use this" }, nth: 1, reply: { text: "" } },
      { when: { turns: 2, contains: "Please use this" }, nth: 3, fail: "overloaded" },
      { when: { turns: 2, contains: "Please use this" }, nth: 5, reply: { text: "I cannot help with this." } },
      { when: { turns: 2, contains: "Note on the walk" }, nth: 1, reply: { text: "STEP 9:", finish: "length" } },
    ]);
    const all: Conversations = { models: ["anthropic", "google"], groups: ["A", "B", "C"], seeds: [1, 2, 3, 4] };
    const sweep = await stage.converse("all groups", all);
    await stage.talks(sweep, ["done"]);
    const before = await rowsOf(stage.store, sweep);
    stage.play([]);
    expect(await rescoreSweep(stage.store, sweep, never)).toEqual({
      rescored: 24,
      pruned: 0,
      failed: 0,
      firstMessage: null,
    });
    expect(await rowsOf(stage.store, sweep)).toEqual(before);
    const takenOver = await stage.converse("all groups again", { ...all, fresh: false });
    await stage.talks(takenOver, ["done"]);
    const asReused = before.map((row) => ({ ...row, reused: true }));
    expect(await rowsOf(stage.store, takenOver)).toEqual(asReused);
    expect(await rescoreSweep(stage.store, takenOver, never)).toEqual({
      rescored: 24,
      pruned: 0,
      failed: 0,
      firstMessage: null,
    });
    expect(await rowsOf(stage.store, takenOver)).toEqual(asReused);
    expect(stage.mock.counts().requests).toBe(0);
  });

  it.each([
    ["that took A over from a sweep without B", "A joined by B"],
    ["to which B was added later", "A alone"],
  ])("%s shows after a rescore what it showed before", async (_is, name) => {
    stage.play([]);
    const asked: Conversations = { models: ["deepseek"], fresh: false, lane: "regrouped" };
    await stage.talks(await stage.converse("A alone", { ...asked, groups: ["A"] }), ["done"]);
    const joined = await stage.converse(name, { ...asked, groups: ["A", "B"] });
    await stage.talks(joined, ["done"]);
    const before = await rowsOf(stage.store, joined);
    expect(before.map(({ group }) => group)).toEqual(["A", "B"]);
    await rescoreSweep(stage.store, joined, never);
    expect(await rowsOf(stage.store, joined)).toEqual(before);
  });
});
