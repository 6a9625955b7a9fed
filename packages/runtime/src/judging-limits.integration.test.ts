import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { ChatResult, LimiterPort } from "@hallumaze/engine";
import { requestJudgements } from "@hallumaze/judging";
import { openLimiter } from "@hallumaze/limiter";
import { createRedis, findRedis } from "@hallumaze/testkit";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";

import {
  answerOf,
  byRule,
  callUsd,
  failed,
  type JudgeStage,
  openJudgeStage,
  price,
  seedOf,
  verdictOn,
} from "../test/judge-stage.ts";
import { shortTimes } from "../test/worker-replies.ts";
import { createGate } from "../test/worker-stage.ts";
import { judgeModel } from "./judge-catalog.ts";

/** A stage with one solve worker, whose candidate `plain` answers each seed alike. */
async function openSolved(redisUrl?: string): Promise<JudgeStage> {
  const stage = await openJudgeStage(redisUrl);
  stage.candidate("plain");
  stage.work({});
  return stage;
}

async function openLimits(stage: JudgeStage): Promise<LimiterPort> {
  const limiter = await openLimiter({ databaseUrl: stage.databaseUrl });
  onTestFinished(() => limiter.close());
  return limiter;
}

/** Limits that nothing here waits for. */
const wide = { rpm: 1_000_000, tpm: 1_000_000_000 };

const spentUsd = async (stage: JudgeStage, sweepId: string) => (await stage.store.progress(sweepId)).money;

describe("a judge worker that is lost in mid-judgement", () => {
  it("whose claim was taken over leaves one counted verdict; its own is kept as late, and paid", async () => {
    const stage = await openSolved();
    const gate = createGate();
    stage.judges.play("taken", async (request, call) => {
      if (call > 1) return verdictOn(request, 3);
      await gate.opened;
      return verdictOn(request, 1);
    });
    const store = { ...stage.ledger, renewJudges: async () => [] };
    stage.judging({ store, times: { ...shortTimes, leaseMs: 400 } });
    const judge = { models: ["openai/taken"] };
    const sweep = await stage.sweep("taken", { judge, models: ["openai/plain"], prices: { "openai/taken": price } });
    await expect.poll(() => stage.judges.asked("taken").length, { timeout: 10_000 }).toBe(1);
    stage.judging();
    await stage.settled(sweep, 1);
    expect((await stage.verdicts(sweep)).map(({ level, late }) => [level, late])).toEqual([[3, false]]);
    gate.open();
    await expect.poll(async () => (await stage.verdicts(sweep)).length, { timeout: 10_000 }).toBe(2);
    const verdicts = await stage.verdicts(sweep);
    expect(verdicts.map(({ level, late, costUsd }) => [level, late, costUsd])).toEqual([
      [3, false, callUsd],
      [1, true, callUsd],
    ]);
    const results = await stage.ledger.listUnjudged(sweep.sweepId, { judge: "", share: 1, limit: 9, after: null });
    const counted = await stage.ledger.judgementsOf(results.map(({ resultId }) => resultId));
    expect(counted.map(({ level }) => level)).toEqual([3]);
    expect(await spentUsd(stage, sweep.sweepId)).toMatchObject({ spentUsd: String(2 * callUsd), open: { count: 0 } });
    expect(stage.judges.asked("taken")).toHaveLength(2);
  });

  it("killed, costs the call that it had sent, and another worker gives the one verdict", async () => {
    const stage = await openSolved();
    const script = fileURLToPath(new URL("../test/judge-process.ts", import.meta.url));
    const child = spawn(process.execPath, ["--import", "tsx", script, stage.databaseUrl], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const gone = once(child, "exit");
    onTestFinished(() => void child.kill("SIGKILL"));
    const judge = { models: ["openai/killed"] };
    const sweep = await stage.sweep("killed", { judge, models: ["openai/plain"], prices: { "openai/killed": price } });
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await gone;
    stage.judges.play("killed", (request) => verdictOn(request, 2));
    stage.judging();
    const [request, ...others] = await stage.settled(sweep, 1);
    expect(others).toEqual([]);
    expect(request).toMatchObject({ state: "done", fence: 2, losses: 1 });
    expect((await stage.verdicts(sweep)).map(({ level, late }) => [level, late])).toEqual([[2, false]]);
    expect(await spentUsd(stage, sweep.sweepId)).toMatchObject({ spentUsd: String(callUsd), lost: { count: 1 } });
  });
});

describe("the money of judges", () => {
  it("is the sweep's: a spent budget blocks what is left, a raised one lets it go on", async () => {
    const stage = await openSolved();
    stage.judging({ concurrency: 1 });
    const asked = {
      judge: { models: ["openai/paid"] },
      models: ["sim/dfs-honest"],
      seeds: ["1..8"],
      prices: { "openai/paid": price },
    };
    stage.judges.play("paid", byRule);
    const sweep = await stage.sweep("budget", { ...asked, budgetUsd: 0.1 });
    const before = await stage.settled(sweep, 8);
    const blocked = before.filter(({ state }) => state === "blocked");
    expect(blocked.length).toBeGreaterThan(0);
    expect(blocked.length).toBeLessThan(8);
    expect(blocked.map(({ outcome }) => outcome)).toEqual(blocked.map(() => "budget_blocked"));
    const money = await spentUsd(stage, sweep.sweepId);
    expect(Number(money.spentUsd)).toBeCloseTo((8 - blocked.length) * callUsd, 9);
    const calls = stage.judges.asked("paid").length;
    expect(calls).toBe(8 - blocked.length);
    await stage.sweep("budget", { ...asked, budgetUsd: 5 });
    const after = await stage.settled(sweep, 8);
    expect(after.map(({ state }) => state)).toEqual(after.map(() => "done"));
    expect(Number((await spentUsd(stage, sweep.sweepId)).spentUsd)).toBeCloseTo(8 * callUsd, 9);
    expect(stage.judges.asked("paid")).toHaveLength(8);
  });
});

describe("the lanes of judges", () => {
  it("share their vendor's limits with the trials of the same model", async () => {
    const stage = await openJudgeStage();
    const limiter = await openLimits(stage);
    stage.work({ limiter });
    stage.judges.play("both", (request) => verdictOn(request, 2));
    const judge = { models: ["openai/both"] };
    const limits = { "openai/both": { ...wide, concurrency: 3 } };
    const models = [stage.candidate("plain")];
    const free = { "openai/plain": wide, ...limits };
    const judged = await stage.sweep("judged by it", { judge, models, seeds: ["1..4"], limits: free });
    await stage.reach("done", 4);
    const full = createGate();
    const end = createGate();
    let solving = 0;
    stage.candidates.play("both", async (request) => {
      solving += 1;
      if (solving === 3) full.open();
      await end.opened;
      return answerOf(seedOf(request));
    });
    await stage.sweep("tests it", { judge: { ...judge, share: 0 }, models: ["openai/both"], seeds: ["1..3"], limits });
    await full.opened;
    // The trials' requests hold all three places: a judge's is turned away.
    const refused = createGate();
    const reserve: LimiterPort["reserve"] = async (...asked) => {
      const answer = await limiter.reserve(...asked);
      if (answer.kind !== "granted") refused.open();
      return answer;
    };
    stage.judging({ limiter: { ...limiter, reserve } });
    await refused.opened;
    expect(stage.judges.asked("both")).toEqual([]);
    end.open();
    await stage.settled(judged, 4);
    expect(stage.judges.asked("both")).toHaveLength(4);
  });

  it("keep the limits of a model's trials, though another sweep names the model as its judge alone", async () => {
    const stage = await openJudgeStage();
    const limiter = await openLimits(stage);
    const configured: [string, object][] = [];
    const watched: LimiterPort = {
      ...limiter,
      configure: async (lane, limits) => {
        configured.push([lane, limits]);
        await limiter.configure(lane, limits);
      },
    };
    stage.candidate("tested");
    stage.judges.play("tested", (request) => verdictOn(request, 2));
    stage.judges.play("only", (request) => verdictOn(request, 2));
    const limits = { "openai/tested": { ...wide, concurrency: 1 }, "openai/only": wide };
    await stage.sweep("tests it", { judge: { models: ["openai/only"] }, models: ["openai/tested"], limits });
    const sweep = await stage.sweep("is judged by it", {
      judge: { models: ["openai/tested"] },
      models: ["sim/dfs-honest"],
      seeds: [3],
    });
    stage.work({ limiter });
    stage.judging({ limiter: watched });
    await stage.settled(sweep, 1);
    expect(new Set(configured.map(([lane]) => lane))).toEqual(new Set(["openai.only"]));
  });

  it("let 500 judgements asked anew through 8 at a time, in however many workers", async () => {
    const stage = await openJudgeStage();
    const limiter = await openLimits(stage);
    stage.work({ concurrency: 8 });
    const limits = { "openai/again": { ...wide, concurrency: 8 } };
    const judge = { models: ["openai/again"], share: 0 };
    const sweep = await stage.sweep("again", { judge, models: ["sim/oracle"], seeds: ["1..50"], limits });
    await stage.reach("done", 50);
    // The first eight wait for each other, so that the peak is reached for certain.
    const full = createGate();
    stage.judges.play("again", async (request, call, signal) => {
      if (stage.judges.inFlight().now >= 8) full.open();
      await full.opened;
      await sleep(2);
      return byRule(request, call, signal);
    });
    const judging = {
      sweepId: sweep.sweepId,
      judge: judgeModel({ provider: "openai", model: "again" }, Date.now()),
      lane: "judge.openai.again",
      promptVersion: "llm-judge-v1" as const,
      share: 1,
      repeats: 10,
      generation: 1,
    };
    const ports = { store: stage.ledger, queue: stage.queue };
    expect(await requestJudgements(ports, judging, new AbortController().signal)).toBe(500);
    for (const _ of [1, 2]) stage.judging({ limiter, concurrency: 8 });
    await stage.settled(sweep, 500, 150_000);
    expect(stage.judges.asked("again")).toHaveLength(500);
    expect(stage.judges.inFlight().most).toBe(8);
  }, 180_000);

  it("stopped by their vendor leave every other lane at work, and go on when they are let", async () => {
    const stage = await openSolved();
    const limiter = await openLimits(stage);
    const spent: ChatResult = {
      ...failed("overloaded", "402: no credit"),
      kind: "failure",
      outcome: "quota_exhausted",
      message: "402: no credit",
      retryAfterMs: null,
      detail: null,
      park: { reason: "no credit", resumeAfterMs: null },
    };
    let isPaid = false;
    stage.judges.play("broke", (request) => (isPaid ? verdictOn(request, 2) : spent));
    stage.judges.play("rich", (request) => verdictOn(request, 2));
    stage.judging({ limiter });
    const models = ["openai/plain"];
    const poor = await stage.sweep("broke", {
      judge: { models: ["openai/broke"] },
      models,
      seeds: ["1..4"],
      limits: { "openai/broke": wide },
    });
    const blocked = await stage.settled(poor, 4);
    expect(blocked.map(({ state }) => state)).toEqual(blocked.map(() => "blocked"));
    const other = await stage.sweep("rich", {
      judge: { models: ["openai/rich"] },
      models,
      seeds: ["5..8"],
      limits: { "openai/rich": wide },
    });
    expect((await stage.settled(other, 4)).map(({ outcome }) => outcome)).toEqual(Array(4).fill("verdict"));
    expect((await stage.asked(poor)).map(({ state }) => state)).toEqual(blocked.map(() => "blocked"));
    isPaid = true;
    expect(await limiter.resume("openai.broke")).toBe(true);
    await expect
      .poll(async () => (await stage.asked(poor)).map(({ state }) => state), { timeout: 15_000 })
      .toEqual(blocked.map(() => "done"));
  });

  it("have their slots back by the deadline of four black holes", async () => {
    const stage = await openSolved();
    stage.judges.play("hole", (request, call) =>
      call <= 4 ? new Promise<never>(() => undefined) : verdictOn(request, 2),
    );
    const judge = { models: ["openai/hole"] };
    const sweep = await stage.sweep("hole", { judge, models: ["openai/plain"], seeds: ["1..8"] });
    await stage.reach("done", 8);
    stage.judging({ concurrency: 4, times: { ...shortTimes, callTimeoutMs: 600 } });
    const requests = await stage.settled(sweep, 8, 15_000);
    expect(requests.map(({ outcome }) => outcome)).toEqual(requests.map(() => "verdict"));
    expect(requests.filter(({ tries }) => tries === 2)).toHaveLength(4);
    expect(requests.flatMap(({ history }) => history).includes("failed")).toBe(false);
  });
});

describe.runIf(findRedis().kind === "installed")("judges' deliveries in Redis", () => {
  it("flushed in mid-judging are made again from the ledger: every request is done, none asked twice", async () => {
    const server = await createRedis();
    onTestFinished(() => server.drop());
    const client = new Redis(server.url);
    client.on("error", () => undefined);
    onTestFinished(() => client.disconnect());
    const stage = await openSolved(server.url);
    stage.judges.play("flushed", async (request) => {
      await sleep(40);
      return verdictOn(request, 2);
    });
    const judge = { models: ["openai/flushed"] };
    const sweep = await stage.sweep("flushed", { judge, models: ["openai/plain"], seeds: ["1..30"] });
    await stage.reach("done", 30);
    stage.judging({ concurrency: 2 });
    await expect.poll(() => stage.judges.asked("flushed").length, { timeout: 10_000, interval: 5 }).toBeGreaterThan(8);
    await client.flushall();
    await stage.settled(sweep, 30);
    const verdicts = await stage.verdicts(sweep);
    expect(verdicts.map(({ seed, level }) => [seed, level])).toEqual(
      Array.from({ length: 30 }, (_, index) => [index + 1, 2]),
    );
    expect(stage.judges.asked("flushed")).toHaveLength(30);
  });
});
