import { createHash } from "node:crypto";

import { requestRow } from "@hallumaze/judging";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { cell, finish, openStage, type Stage, submit } from "../test/ledger-stage.ts";
import type { Ledger } from "./open-store.ts";

let stage: Stage;
let other: Ledger;
beforeAll(async () => {
  stage = await openStage();
  other = await stage.openAnother();
});
afterAll(() => stage.close());

const judge = {
  provider: "openai",
  model: "judge-1",
  baseUrl: null,
  temperature: 0,
  maxTokens: 4000,
  params: {},
  keyEnv: null,
};
const lane = "judge.openai.judge-1";
const plan = { judge, promptVersion: "llm-judge-v1", round: "first", repeat: 0, generation: 0 } as const;
const unjudged = { judge: "openai/judge-1 llm-judge-v1 0", share: 1, limit: 500, after: null };

/** A sweep of done trials and their requests, delivered. */
async function begin(name: string, trials: number, budgetUsd: string | null = null) {
  const cells = Array.from({ length: trials }, (_, index) => cell(`${name} ${index}`));
  const { sweep, queued } = await submit(stage.store, name, cells, { budgetUsd });
  for (const trial of queued) await finish(stage.store, trial);
  const results = await stage.store.listUnjudged(sweep.sweepId, unjudged);
  const rows = results.map(({ resultId }) => requestRow({ resultId, sweepId: sweep.sweepId }, lane, plan));
  return { sweep, results, rows };
}

async function claimed(name: string, trials: number, budgetUsd: string | null) {
  const { sweep, rows } = await begin(name, trials, budgetUsd);
  await stage.store.requestJudgements(rows);
  const planned = await stage.store.takePlannedJudges(trials);
  const calls = [];
  for (const { trialId, generation } of planned) {
    const answer = await stage.store.claimJudge({ trialId, generation, workerId: "host/1/1", leaseMs: 60_000 });
    if (answer.kind !== "claimed") throw new Error(`not claimed: ${JSON.stringify(answer)}`);
    const { requestId, fence } = answer.claim;
    calls.push({ requestId, fence, attempt: 1, tryNumber: 1, workerId: "host/1/1" });
  }
  const money = async () => (await stage.store.progress(sweep.sweepId)).money;
  return { sweep, calls, money };
}

describe("which results are judged", () => {
  it("the same request asked for by two processes at once is one row", async () => {
    const { rows } = await begin("asked at once", 30);
    const added = await Promise.all([stage.store, other, stage.store].map((store) => store.requestJudgements(rows)));
    expect(added.reduce((sum, one) => sum + one, 0)).toBe(30);
    const planned = await Promise.all([stage.store, other].map((store) => store.takePlannedJudges(100)));
    expect(new Set(planned.flat().map(({ trialId }) => trialId)).size).toBe(30);
    expect(planned.flat()).toHaveLength(30);
  });

  it("a share of 0.3 is the same trials in every process, drawn by the cell alone", async () => {
    const { sweep } = await begin("a share", 100);
    const some = { ...unjudged, judge: "another 0", share: 0.3 };
    const listed = await Promise.all([stage.store, other].map((store) => store.listUnjudged(sweep.sweepId, some)));
    const [first = [], second = []] = listed.map((rows) => rows.map(({ trialId }) => trialId));
    expect(second).toEqual(first);
    const cells = await stage.sql("SELECT id::text AS id, cell_id AS cell FROM trials WHERE sweep_id = $1", [
      sweep.sweepId,
    ]);
    // Another implementation of the same draw: nothing of this database, process or time is in it.
    const drawn = cells.filter(({ cell: id }) => {
      const digest = createHash("md5").update(String(id)).digest("hex");
      return Number.parseInt(digest.slice(0, 7), 16) < 0.3 * 2 ** 28;
    });
    expect(first.toSorted()).toEqual(drawn.map(({ id }) => String(id)).toSorted());
    expect(first.length).toBeGreaterThan(15);
    expect(first.length).toBeLessThan(48);
    expect(await stage.store.listUnjudged(sweep.sweepId, { ...some, share: 0 })).toEqual([]);
    const more = await stage.store.listUnjudged(sweep.sweepId, { ...some, share: 0.6 });
    expect(first.every((id) => more.some(({ trialId }) => trialId === id))).toBe(true);
  });
});

describe("judges' money", () => {
  it("a call is charged to its sweep at its bound, beside the trials', and refused where nothing is left", async () => {
    const { calls, money } = await claimed("charged", 3, "0.05");
    const [first, second, third] = calls;
    if (first === undefined || second === undefined || third === undefined) throw new Error("three calls wanted");
    expect(await stage.store.openJudgeCall({ ...first, boundUsd: "0.03" })).toEqual({ kind: "open" });
    expect(await stage.store.openJudgeCall({ ...first, boundUsd: "0.03" })).toEqual({ kind: "open" });
    expect(await money()).toMatchObject({ spentUsd: "0", open: { count: 1, boundUsd: "0.03" } });
    expect(await other.openJudgeCall({ ...second, boundUsd: "0.03" })).toEqual({ kind: "later" });
    const over = { kind: "done", outcome: "unscored" } as const;
    await stage.store.endJudge(first.requestId, first.fence, over, { attempt: 1, tryNumber: 1, spentUsd: "0.025" });
    expect(await money()).toMatchObject({ spentUsd: "0.025", open: { count: 0, boundUsd: "0" } });
    expect(await other.openJudgeCall({ ...second, boundUsd: "0.03" })).toMatchObject({ kind: "exhausted" });
    expect(await stage.store.openJudgeCall({ ...third, fence: third.fence + 1, boundUsd: "0.01" })).toEqual({
      kind: "lost",
    });
  });

  it("a judgement that a spent budget has blocked is put back with the trials once there is room", async () => {
    const { sweep, calls } = await claimed("raised", 2, "0.01");
    const message = "budgetUsd 0.01 does not reach";
    for (const { requestId, fence } of calls) {
      await stage.store.endJudge(requestId, fence, { kind: "blocked", outcome: "budget_blocked", message }, null);
    }
    await stage.sql("UPDATE sweeps SET spent_usd = 0.01 WHERE id = $1", [sweep.sweepId]);
    expect(await stage.store.unblockBudget(sweep.sweepId)).toEqual([]);
    expect(await stage.store.unblockJudges({ lane })).toEqual([]);
    await stage.sql("UPDATE sweeps SET budget_usd = 1 WHERE id = $1", [sweep.sweepId]);
    const back = await stage.store.unblockBudget(sweep.sweepId);
    expect(back.map(({ trialId }) => trialId).toSorted()).toEqual(calls.map(({ requestId }) => requestId).toSorted());
    expect(back).toEqual(back.map((one) => ({ ...one, lane, generation: 1, delayMs: 0 })));
    expect((await stage.store.judgeProgress(sweep.sweepId)).states).toEqual({ queued: 2 });
  });
});
