import { type LimiterPort, runTrial, type TrialPorts } from "@hallumaze/engine";
import type { Rule } from "@hallumaze/mock-providers";
import { costOf } from "@hallumaze/providers";
import { createRedis, findRedis } from "@hallumaze/testkit";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { openProviderStage, type ProviderStage } from "../test/provider-stage.ts";
import { shortTimes } from "../test/worker-replies.ts";
import { trialPorts } from "../test/worker-stage.ts";

const never = new AbortController().signal;
const openai = "openai/gpt-4o";
const anthropic = "anthropic/claude-sonnet-4-6";
/** So wide that a test waits for nothing but what it is about. */
const wide = { rpm: 1e6, tpm: 1e9 };
const statesByLane = (stage: ProviderStage) =>
  stage.sql("SELECT lane, state::text, outcome, count(*)::int AS trials FROM trials GROUP BY 1, 2, 3 ORDER BY 1, 2");

describe("what a vendor refuses", () => {
  it.each([
    ["a wrong key", "auth", "auth"],
    ["an unknown model", "model_not_found", "model_not_found"],
    ["an exhausted account", "quota_exhausted", "quota_exhausted"],
  ] as const)(
    "%s parks the lane after a handful of requests; the others finish; resume goes on",
    async (_, kind, outcome) => {
      const stage = await openProviderStage({ script: [{ when: { vendor: "openai" }, fail: kind }] });
      await stage.submit(20, {
        models: [openai, anthropic, "sim/oracle"],
        limits: { [openai]: wide, [anthropic]: { rpm: 1e6, inputTpm: 1e9, outputTpm: 1e9 } },
      });
      const said: string[] = [];
      const logger = {
        debug: () => undefined,
        info: () => undefined,
        warn: () => undefined,
        error: (line: object, text: string) => void said.push(`${text} ${JSON.stringify(line)}`),
      };
      stage.workPaced({ logger: logger as never });
      await stage.reach("done", 40);
      await stage.reach("blocked", 20);
      expect(stage.mock.counts().byModel["openai/gpt-4o"]).toBeLessThanOrEqual(4);
      expect(said.filter((line) => line.startsWith("lane parked"))).toHaveLength(1);
      expect(await statesByLane(stage)).toEqual([
        { lane: "anthropic.claude-sonnet-4-6", state: "done", outcome: "ok", trials: 20 },
        { lane: "openai.gpt-4o", state: "blocked", outcome, trials: 20 },
        { lane: "sim.oracle", state: "done", outcome: "ok", trials: 20 },
      ]);
      const [use] = await stage.limiter.use(["openai.gpt-4o"]);
      expect(use?.parked?.reason).toMatch(new RegExp(`^${outcome}: `));
      stage.mock.script([]);
      expect(await stage.limiter.resume("openai.gpt-4o")).toBe(true);
      await stage.reach("done", 60);
    },
  );

  it("parks a lane of one's own server too, which has no limits", async () => {
    const stage = await openProviderStage({ script: [{ fail: "auth" }] });
    const { compatibleBaseUrl: baseUrl } = stage.mock.urls;
    await stage.submit(20, { models: [{ model: "openai/local", baseUrl }] });
    stage.workPaced();
    await stage.reach("blocked", 20);
    // Several rounds of repair go by: what is blocked stays blocked.
    const from = (await stage.sql<{ at: Date }>("SELECT now() AS at"))[0]?.at;
    await vi.waitFor(async () => {
      const [row] = await stage.sql<{ past: boolean }>("SELECT now() > $1::timestamptz + interval '1 s' AS past", [
        from,
      ]);
      expect(row?.past).toBe(true);
    }, 5000);
    expect(stage.mock.counts().requests).toBeLessThanOrEqual(4);
    expect(await stage.books()).toMatchObject({ states: { blocked: 20 } });
  });
});

describe("a lane that is stopped for a time", () => {
  it("goes on by itself when its time has come", async () => {
    const fail = { kind: "daily_quota", retryAfterMs: 1500, retryAfterForm: "seconds" } as const;
    const stage = await openProviderStage({ script: [{ nth: { to: 2 }, fail }] });
    await stage.submit(8, { models: [openai], limits: { [openai]: wide } });
    stage.workPaced({ concurrency: 2 });
    await stage.mock.until(({ requests }) => requests >= 1);
    await stage.reach("blocked", 1);
    await stage.reach("done", 8);
    expect(stage.mock.counts().requests).toBeLessThanOrEqual(10);
  });
});

describe("a limiter out of reach", () => {
  it("costs a trial nothing but time: no try, no lost worker, no request", async () => {
    const stage = await openProviderStage();
    await stage.submit(2, { models: [openai], limits: { [openai]: wide }, tries: 1 });
    let refused = 0;
    const limiter: LimiterPort = {
      ...stage.limiter,
      reserve: async (lane, request) => {
        if (refused >= 6) return stage.limiter.reserve(lane, request);
        refused += 1;
        throw new Error("the server is away");
      },
    };
    stage.workPaced({ limiter, times: { ...shortTimes, leaseMs: 60_000 } });
    await stage.reach("done", 2);
    expect(stage.mock.counts().requests).toBe(2);
    expect(await stage.sql("SELECT DISTINCT tries, losses FROM trials")).toEqual([{ tries: 1, losses: 0 }]);
  });
});

describe("a worker that dies between a refusal's record and the end of its try", () => {
  it("leaves a trial that waits for its lane, not one that failed", async () => {
    const stage = await openProviderStage({ script: [{ fail: "auth" }] });
    await stage.submit(1, { models: [openai] });
    const [trial] = await stage.sql<{ trialId: string; generation: number }>(
      `SELECT id::text AS "trialId", generation FROM trials`,
    );
    if (trial === undefined) throw new Error("no trial");
    const dying = { ...stage.store, endTry: () => Promise.reject(new Error("the process is gone")) };
    const lost = runTrial(trialPorts(dying, stage.providers, "host/1/1"), trial, never);
    await expect(lost).rejects.toThrow("the process is gone");
    await stage.sql("UPDATE trials SET lease_until = now() - interval '1 s'");
    await runTrial(trialPorts(stage.store, stage.providers, "host/2/1"), trial, never);
    expect(stage.mock.counts().requests).toBe(1);
    expect(await statesByLane(stage)).toMatchObject([{ state: "blocked", outcome: "auth" }]);
  });
});

describe("a 429", () => {
  it("with a wait, twice, then a reply: answered, never earlier than asked, one row (T1)", async () => {
    const rule = { nth: { to: 2 }, fail: { kind: "rate_limited", retryAfterMs: 1000 } } as const;
    const stage = await openProviderStage({ script: [rule] });
    await stage.submit(1, { models: [openai], limits: { [openai]: wide } });
    stage.workPaced();
    await stage.reach("done", 1);
    const times = stage.mock.requests().map(({ atMs }) => atMs);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(gaps).toHaveLength(2);
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(1000);
    expect((await stage.exchanges()).map(({ outcome }) => outcome)).toEqual(["rate_limited", "rate_limited", null]);
    expect(await stage.books()).toMatchObject({ states: { done: 1 }, accepted: 1 });
  });

  it("with a single try is one request and no wait (T2)", async () => {
    const stage = await openProviderStage({ script: [{ fail: { kind: "rate_limited", retryAfterMs: 60_000 } }] });
    await stage.submit(1, { models: [openai], tries: 1, limits: { [openai]: wide } });
    stage.workPaced();
    await stage.reach("failed", 1, 5000);
    expect(stage.mock.counts().requests).toBe(1);
    expect(await statesByLane(stage)).toMatchObject([{ state: "failed", outcome: "rate_limited" }]);
  });

  it("that asks for half an hour delays its trial, holds no slot, and lets other lanes be (T6)", async () => {
    const rule = { when: { vendor: "openai" }, fail: { kind: "rate_limited", retryAfterMs: 1_800_000 } } as const;
    const stage = await openProviderStage({ script: [rule] });
    await stage.submit(6, { models: [openai, "sim/oracle"], limits: { [openai]: wide } });
    const worker = stage.workPaced();
    await stage.reach("done", 6);
    await vi.waitFor(() => expect(worker.inFlight()).toBe(0), 5000);
    expect(stage.mock.counts().requests).toBeLessThanOrEqual(4);
    const [row] = await stage.sql<{ seconds: number }>(
      "SELECT extract(epoch FROM max(not_before) - now())::float8 AS seconds FROM trials WHERE state = 'queued'",
    );
    expect(row?.seconds).toBeGreaterThan(1750);
    expect(row?.seconds).toBeLessThan(1900);
    const depth = await stage.queue.depth("openai.gpt-4o");
    expect(depth).toMatchObject({ active: 0 });
  });
});

describe("the one retry owner", () => {
  it.each([openai, anthropic, "google/gemini-2.5-flash", "deepseek/deepseek-v4-pro"])(
    "503 for ever and four tries are four requests to %s (T9)",
    async (model) => {
      const stage = await openProviderStage({ script: [{ fail: "unavailable" }] });
      await stage.submit(1, {
        models: [model],
        tries: 4,
        limits: { [model]: model.startsWith("openai") ? wide : { rpm: 1e6, inputTpm: 1e9, outputTpm: 1e9 } },
      });
      stage.workPaced();
      await stage.reach("failed", 1, 45_000);
      expect(stage.mock.counts().requests).toBe(4);
      expect(await stage.books()).toMatchObject({ exchanges: 4, accepted: 0 });
    },
  );

  it("a reply that was cut by its length is a result, bought once (T41)", async () => {
    const stage = await openProviderStage({ script: [{ reply: { finish: "length", text: "STEP 1" } }] });
    await stage.submit(2, { models: [openai], limits: { [openai]: wide } });
    stage.workPaced();
    await stage.reach("done", 2);
    expect(stage.mock.counts().requests).toBe(2);
    expect(await statesByLane(stage)).toMatchObject([{ state: "done", outcome: "truncated", trials: 2 }]);
  });

  it("a prompt that the server cut is told and not scored (T63)", async () => {
    const stage = await openProviderStage({ script: [{ reply: { usage: { inputTokens: 100 } } }] });
    await stage.submit(1, { models: [openai], limits: { [openai]: wide } });
    stage.workPaced();
    await stage.reach("failed", 1);
    expect(stage.mock.counts().requests).toBe(1);
    expect(await statesByLane(stage)).toMatchObject([{ outcome: "prompt_truncated" }]);
    expect(await stage.sql("SELECT count(*)::int AS scores FROM scores")).toEqual([{ scores: 0 }]);
  });

  it("black holes and replies that stop midway end as timeouts by the deadline; the rest is answered (T32)", async () => {
    const script: Rule[] = [
      { countBy: "rule", nth: [2, 5], delivery: { blackHole: true } },
      { countBy: "rule", nth: [7], delivery: { stall: { afterEvents: 1 } } },
    ];
    const deadlines = { headerMs: 600, idleMs: 600, totalMs: 2000 };
    const stage = await openProviderStage({ script }, { deadlines });
    await stage.submit(12, { models: [openai], tries: 1, limits: { [openai]: wide } });
    const startedMs = performance.now();
    stage.workPaced();
    await stage.reach("done", 9, 10_000);
    await stage.reach("failed", 3, 10_000);
    expect(performance.now() - startedMs).toBeLessThan(2000 + 5000);
    expect(await statesByLane(stage)).toMatchObject([
      { state: "done", trials: 9 },
      { state: "failed", outcome: "timeout", trials: 3 },
    ]);
    const messages = (await stage.exchanges()).flatMap(({ message }) => message ?? []);
    for (const message of messages) expect(message).toMatch(/timeout\((?:header|idle)\)/);
  });
});

describe("costs", () => {
  it("are exact for each exchange and in sum, a late duplicate's included (T31)", async () => {
    const usage = { inputTokens: 1000, outputTokens: 101 };
    const stage = await openProviderStage({
      script: [{ nth: 1, reply: { usage }, delivery: { headerDelayMs: 8000 } }, { reply: { usage } }],
    });
    const sweep = await stage.submit(1, { models: [openai], limits: { [openai]: wide } });
    const [trial] = await stage.sql<{ trialId: string; generation: number }>(
      `SELECT id::text AS "trialId", generation FROM trials`,
    );
    if (trial === undefined) throw new Error("no trial");
    const ports = (worker: string): TrialPorts => {
      const given = trialPorts(stage.store, stage.providers, worker);
      return {
        ...given,
        settingsOf: async (claim) => ({
          ...(await given.settingsOf(claim)),
          costOf: (usage) => costOf({ ...claim.plan, alias: claim.alias }, usage),
        }),
      };
    };
    const first = runTrial(ports("host/1/1"), trial, never);
    await stage.mock.until(({ requests }) => requests === 1);
    await stage.sql("UPDATE trials SET lease_until = now() - interval '1 s'");
    expect(await runTrial(ports("host/2/1"), trial, never)).toEqual({ kind: "done" });
    expect(await first).toEqual({ kind: "give-up", reason: "lost-lease" });
    // 1000 × 2.5 + 101 × 10 millionths of a dollar.
    expect((await stage.exchanges()).map(({ late, costUsd }) => [late, Number(costUsd)])).toEqual([
      [false, 0.00351],
      [true, 0.00351],
    ]);
    expect(await stage.books()).toMatchObject({ states: { done: 1 }, accepted: 1, exchanges: 2, lateDuplicates: 1 });
    const progress = await stage.store.progress(sweep.sweepId);
    expect(progress.models[0]).toMatchObject({ costUsd: "0.00702", costUnknown: 0 });
  });

  it("that nobody knows are unknown, never 0", async () => {
    const stage = await openProviderStage();
    const { compatibleBaseUrl: baseUrl } = stage.mock.urls;
    const sweep = await stage.submit(3, { models: [{ model: "openai/local", baseUrl }] });
    stage.workPaced();
    await stage.reach("done", 3);
    const progress = await stage.store.progress(sweep.sweepId);
    expect(progress.models[0]).toMatchObject({ costUsd: null, costUnknown: 3 });
  });
});

const redis = findRedis().kind === "installed";
describe.each([["PostgreSQL"], ...(redis ? [["Redis"]] : [])])("limits on %s", (server) => {
  const open = async (options: Parameters<typeof openProviderStage>[0]) => {
    if (server !== "Redis") return openProviderStage(options);
    const { url: redisUrl, drop } = await createRedis();
    onTestFinished(drop);
    return openProviderStage(options, { redisUrl });
  };

  it("of concurrency hold at the server for each lane, over two workers (T11)", async () => {
    const stage = await open({ latency: { baseMs: 400 } });
    const limits = {
      [openai]: { rpm: 1e6, tpm: 1e9, concurrency: 2 },
      "google/gemini-2.5-flash": { rpm: 1e6, inputTpm: 1e9, concurrency: 5 },
    };
    await stage.submit(24, { models: [openai, "google/gemini-2.5-flash"], limits });
    for (const concurrency of [8, 8]) stage.workPaced({ concurrency });
    await stage.reach("done", 48, 45_000);
    const peaks = Object.fromEntries(
      stage.mock.counts().lanes.map(({ vendor, inFlightPeak }) => [vendor, inFlightPeak]),
    );
    expect(peaks["openai"]).toBe(2);
    expect(peaks["google"]).toBeLessThanOrEqual(5);
    expect(peaks["google"]).toBeGreaterThan(2);
  });

  it("follow a spec that is submitted again with others, or with none", async () => {
    const stage = await open({});
    const baseUrl = stage.mock.urls.compatibleBaseUrl;
    const models = [{ model: "openai/local", as: "local", baseUrl }];
    const limitsNow = async () => {
      const [row] = await stage.sql<{ lane: string }>("SELECT DISTINCT lane FROM trials");
      return (await stage.limiter.use([row?.lane ?? ""]))[0]?.limits;
    };
    await stage.submit(2, { models, limits: { local: { concurrency: 3 } } });
    stage.workPaced();
    await vi.waitFor(async () => expect(await limitsNow()).toEqual({ concurrency: 3 }), 5000);
    await stage.submit(2, { models, limits: { local: { concurrency: 1, rpm: 5000 } } });
    await vi.waitFor(async () => expect(await limitsNow()).toEqual({ concurrency: 1, rpm: 5000 }), 5000);
    await stage.submit(2, { models });
    await vi.waitFor(async () => expect(await limitsNow()).toEqual({}), 5000);
  });

  it("give back what a 429 did not accept", async () => {
    const stage = await open({ script: [{ nth: 1, fail: { kind: "rate_limited", retryAfterMs: 1 } }] });
    await stage.submit(1, { models: [openai], tries: 1, limits: { [openai]: { rpm: 60, tpm: 1e9 } } });
    stage.workPaced();
    await stage.reach("failed", 1);
    await vi.waitFor(async () => {
      const [use] = await stage.limiter.use(["openai.gpt-4o"]);
      expect(use).toMatchObject({ inFlight: 0, utilisation: 0 });
    }, 5000);
  });
});

describe("a rehearsal", () => {
  it("is taken by a rehearsal's worker alone, which takes nothing else", async () => {
    const stage = await openProviderStage();
    await stage.submit(2, { models: [openai], limits: { [openai]: wide }, name: "real" });
    await stage.submit(3, { models: [openai], limits: { [openai]: wide }, name: "real-rehearsal", rehearsal: true });
    const normal = stage.workPaced();
    await stage.reach("done", 2);
    await vi.waitFor(() => expect(normal.lanes()).toEqual(["openai.gpt-4o"]), 5000);
    await normal.drain(1000);
    expect(stage.mock.counts().requests).toBe(2);
    await stage.submit(2, { models: [anthropic], name: "later" });
    const rehearsing = stage.workPaced({ rehearsal: true, times: shortTimes });
    await stage.reach("done", 5);
    expect(rehearsing.lanes()).toEqual(["rehearsal.openai.gpt-4o"]);
    expect(
      await stage.sql("SELECT lane, state::text, count(*)::int AS trials FROM trials GROUP BY 1, 2 ORDER BY 1"),
    ).toEqual([
      { lane: "anthropic.claude-sonnet-4-6", state: "queued", trials: 2 },
      { lane: "openai.gpt-4o", state: "done", trials: 2 },
      { lane: "rehearsal.openai.gpt-4o", state: "done", trials: 3 },
    ]);
  });
});
