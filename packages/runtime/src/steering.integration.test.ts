import type { LimiterPort, SweepRecord } from "@hallumaze/engine";
import { openLimiter } from "@hallumaze/limiter";
import { cancelSweep, parkLane, prioritizeSweep, resumeLane, resumeSweep, retryTrials } from "@hallumaze/steering";
import { createRedis, findRedis } from "@hallumaze/testkit";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { failure, noLimits, reply, shortTimes } from "../test/worker-replies.ts";
import { createGate, openWorkerStage, scriptedProvider, type WorkerStage } from "../test/worker-stage.ts";

const path = "FINAL_PATH: (0,0) -> (0,1)";
const lane = "sim.oracle";
const everything = { resumed: [], held: [] };

async function openStage(onRedis: boolean): Promise<WorkerStage & { readonly redisUrl: string | undefined }> {
  if (!onRedis) return { ...(await openWorkerStage()), redisUrl: undefined };
  const server = await createRedis();
  onTestFinished(() => server.drop());
  return { ...(await openWorkerStage(server.url)), redisUrl: server.url };
}

async function openRealLimiter(stage: WorkerStage & { readonly redisUrl: string | undefined }): Promise<LimiterPort> {
  const target = stage.redisUrl === undefined ? { databaseUrl: stage.databaseUrl } : { redisUrl: stage.redisUrl };
  const limiter = await openLimiter(target);
  onTestFinished(() => limiter.close());
  return limiter;
}

const statesOf = async (stage: WorkerStage, { sweepId }: SweepRecord) => {
  const rows = await stage.sql<{ state: string; count: number }>(
    "SELECT state::text, count(*)::int AS count FROM trials WHERE sweep_id = $1 GROUP BY state ORDER BY state",
    [sweepId],
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
};

/** The sweeps in the order in which their replies were recorded. */
const order = async (stage: WorkerStage) =>
  (
    await stage.sql<{ name: string }>(
      "SELECT s.name FROM exchanges e JOIN trials t ON t.id = e.trial_id JOIN sweeps s ON s.id = t.sweep_id ORDER BY e.sequence",
    )
  ).map(({ name }) => name);

const backEnds = [
  { name: "the queue in the database", onRedis: false },
  ...(findRedis().kind === "installed" ? [{ name: "the queue in Redis", onRedis: true }] : []),
];

describe.each(backEnds)("$name", ({ onRedis }) => {
  it("a paused sweep starts nothing more while another goes on in its lane; resumed, each cell is asked once", async () => {
    const stage = await openStage(onRedis);
    const held = await stage.submit(12, { name: "held" });
    const gate = createGate();
    const provider = scriptedProvider(async (_, call) => {
      if (call <= 2) await gate.opened;
      return reply(path);
    });
    stage.work({ provider, concurrency: 2 });
    await provider.reachCalls(2);
    await stage.store.pauseSweep(held.sweepId, []);
    const other = await stage.submit(5, { name: "other" });
    gate.open();
    await vi.waitFor(async () => expect(await statesOf(stage, other)).toEqual({ done: 5 }), { timeout: 20_000 });
    expect(provider.calls()).toBe(7);
    expect(await statesOf(stage, held)).toEqual({ done: 2, queued: 10 });
    expect(await stage.store.listOpenLanes(null)).toEqual([]);
    // The worker's two slots may take one each that was on its way, between the end of the pause and the new deliveries.
    const delivered = await resumeSweep(stage, held.sweepId, everything);
    expect(delivered).toBeGreaterThanOrEqual(8);
    expect(delivered).toBeLessThanOrEqual(10);
    await stage.reach("done", 17);
    expect(await stage.books()).toEqual({ states: { done: 17 }, accepted: 17, exchanges: 17, lateDuplicates: 0 });
  });

  it("a model alone can be paused and go on", async () => {
    const stage = await openStage(onRedis);
    const sweep = await stage.submit(6, { models: ["sim/oracle", "sim/dfs-honest"] });
    await stage.store.pauseSweep(sweep.sweepId, ["sim/oracle"]);
    stage.work({});
    await stage.reach("done", 6);
    expect((await stage.store.progress(sweep.sweepId)).models.map(({ alias, states }) => [alias, states.done])).toEqual(
      [
        ["sim/dfs-honest", 6],
        ["sim/oracle", 0],
      ],
    );
    await resumeSweep(stage, sweep.sweepId, everything);
    await stage.reach("done", 12);
  });

  it("cancelled: what is open ends at once; of what runs a reply is kept and a failure is not asked again", async () => {
    const stage = await openStage(onRedis);
    const sweep = await stage.submit(12);
    const gate = createGate();
    const provider = scriptedProvider(async (_, call) => {
      if (call > 2) return reply(path);
      await gate.opened;
      return call === 1 ? reply(path) : failure();
    });
    stage.work({ provider, concurrency: 2 });
    await provider.reachCalls(2);
    expect(await cancelSweep(stage.store, sweep.sweepId, {}, { now: false })).toEqual({
      cancelled: 10,
      ending: 2,
      judgements: 0,
    });
    gate.open();
    await stage.reach("cancelled", 11);
    expect(await statesOf(stage, sweep)).toEqual({ cancelled: 11, done: 1 });
    expect(await stage.sql("SELECT DISTINCT outcome FROM trials WHERE state = 'cancelled'")).toEqual([
      { outcome: "cancelled" },
    ]);
    expect(provider.calls()).toBe(2);
    // The same spec again brings nothing back.
    await stage.submit(12);
    expect(await statesOf(stage, sweep)).toEqual({ cancelled: 11, done: 1 });
    expect(await retryTrials(stage, sweep.sweepId, { states: ["cancelled"] })).toBe(11);
    await stage.reach("done", 12);
    expect(provider.calls()).toBe(13);
  });

  it("cancelled now: the claim ends, and the reply under way is archived with its cost", async () => {
    const stage = await openStage(onRedis);
    const sweep = await stage.submit(1);
    const gate = createGate();
    const provider = scriptedProvider(async () => {
      await gate.opened;
      return reply(path);
    });
    stage.work({ provider });
    await provider.reachCalls(1);
    expect(await cancelSweep(stage.store, sweep.sweepId, {}, { now: true })).toMatchObject({ cancelled: 1, ending: 0 });
    expect(await statesOf(stage, sweep)).toEqual({ cancelled: 1 });
    gate.open();
    await vi.waitFor(async () => expect(await stage.books()).toMatchObject({ exchanges: 1, lateDuplicates: 1 }), {
      timeout: 20_000,
    });
    expect(await statesOf(stage, sweep)).toEqual({ cancelled: 1 });
  });

  it("a higher priority goes first, of a later spec and of one raised while it waits", async () => {
    const stage = await openStage(onRedis);
    await stage.submit(6, { name: "low" });
    const raised = await stage.submit(4, { name: "raised" });
    await stage.submit(4, { name: "high", spec: { priority: 3 } });
    await prioritizeSweep(stage, raised.sweepId, { priority: 7 });
    stage.work({ concurrency: 1 });
    await stage.reach("done", 14);
    expect(await order(stage)).toEqual([
      ...Array<string>(4).fill("raised"),
      ...Array<string>(4).fill("high"),
      ...Array<string>(6).fill("low"),
    ]);
  });

  it("two sweeps of one lane share it by their weights; a late comer neither catches up nor waits for all of it", async () => {
    const stage = await openStage(onRedis);
    await stage.submit(40, { name: "light" });
    const heavy = await stage.submit(40, { name: "heavy" });
    await prioritizeSweep(stage, heavy.sweepId, { weight: 3 });
    const gate = createGate();
    const provider = scriptedProvider(async (_, call) => {
      if (call === 33) await gate.opened;
      return reply(path);
    });
    stage.work({ provider, concurrency: 1 });
    await provider.reachCalls(33);
    await stage.submit(20, { name: "late" });
    gate.open();
    await stage.reach("done", 100, 60_000);
    const names = await order(stage);
    const count = (name: string, from: number, to: number) =>
      names.slice(from, to).filter((one) => one === name).length;
    // Two rounds of four turns each.
    expect([count("light", 0, 32), count("heavy", 0, 32)]).toEqual([8, 24]);
    // 4 of the next 20 are its share, and a round is of four turns.
    expect(count("late", 32, 52)).toBeGreaterThanOrEqual(1);
    expect(count("late", 32, 52)).toBeLessThanOrEqual(8);
  });

  it("in a limited lane, grants go by weight while both have work", async () => {
    const stage = await openStage(onRedis);
    const limiter = await openRealLimiter(stage);
    const limits = { "sim/oracle": { concurrency: 4, rpm: 100_000 } };
    await stage.submit(40, { name: "light", limits });
    await stage.submit(40, { name: "heavy", limits, spec: { weight: 3 } });
    stage.work({ limiter, concurrency: 12, provider: scriptedProvider(() => reply(path)) });
    await stage.reach("done", 80, 60_000);
    // The first dozen filled the slots before both sweeps were known.
    const settled = (await order(stage)).slice(12, 48);
    const heavy = settled.filter((name) => name === "heavy").length;
    expect(heavy).toBeGreaterThanOrEqual(24);
    expect(heavy).toBeLessThanOrEqual(30);
  });

  it("a parked lane starts nothing, of sweeps submitted later either, until it is resumed", async () => {
    const stage = await openStage(onRedis);
    const limiter = await openRealLimiter(stage);
    const before = await stage.submit(4, { name: "before" });
    expect(await parkLane({ store: stage.store, limiter }, lane, "maintenance", null)).toBe(4);
    const after = await stage.submit(3, { name: "after", models: ["sim/oracle", "sim/dfs-honest"] });
    stage.work({ limiter });
    await stage.reach("blocked", 7);
    await stage.reach("done", 3);
    expect(await statesOf(stage, before)).toEqual({ blocked: 4 });
    expect((await stage.store.progress(after.sweepId)).failures).toEqual([
      { alias: "sim/oracle", outcome: "lane_parked", count: 3, firstMessage: "parked by an operator: maintenance" },
    ]);
    // A worker that looks in between may put back what this call then does not find.
    expect(await resumeLane({ ...stage, limiter }, lane)).toMatchObject({ wasParked: true });
    await stage.reach("done", 10);
  });

  it("a lane parked for a time goes on by itself", async () => {
    const stage = await openStage(onRedis);
    const limiter = await openRealLimiter(stage);
    const sweep = await stage.submit(3);
    expect(await parkLane({ store: stage.store, limiter }, lane, null, 700)).toBe(3);
    expect(await statesOf(stage, sweep)).toEqual({ blocked: 3 });
    stage.work({ limiter });
    await stage.reach("done", 3, 10_000);
  });

  it("a limit changed while running is in force within two seconds, and its end too", async () => {
    const stage = await openStage(onRedis);
    const limiter = await openRealLimiter(stage);
    // More than are answered, however quick the machine, before each of the two words is in force.
    await stage.submit(1500);
    let [now, most] = [0, 0];
    const provider = scriptedProvider(async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => void setTimeout(resolve, 50));
      now -= 1;
      return reply(path);
    });
    stage.work({ provider, limiter, concurrency: 6, times: { ...shortTimes, discoverEveryMs: 1000 } });
    await provider.reachCalls(12);
    expect(most).toBe(6);
    const limitOf = async () => (await limiter.use([lane]))[0]?.limits.concurrency;
    await stage.store.limitLane(lane, { concurrency: 1 });
    await vi.waitFor(async () => expect(await limitOf()).toBe(1), { timeout: 2000, interval: 20 });
    // What had no limit to ask ends first.
    await provider.reachCalls(provider.calls() + 8);
    most = 0;
    await provider.reachCalls(provider.calls() + 10);
    expect(most).toBe(1);
    await stage.store.limitLane(lane, null);
    await vi.waitFor(async () => expect(await limitOf()).toBeUndefined(), { timeout: 2000, interval: 20 });
    await vi.waitFor(() => expect(most).toBe(6), { timeout: 10_000, interval: 10 });
  });
});

it("a trial that waits for a limit when its sweep is paused is given back unsent", async () => {
  const stage = await openStage(false);
  const sweep = await stage.submit(1, { limits: { "sim/oracle": { rpm: 1000 } } });
  const [asked, granted] = [createGate(), createGate()];
  const given: string[] = [];
  const limiter: LimiterPort = {
    ...noLimits,
    reserve: async () => {
      asked.open();
      await granted.opened;
      return { kind: "granted" };
    },
    cancel: async (_, id) => void given.push(id),
  };
  const provider = scriptedProvider(() => reply(path));
  stage.work({ limiter, provider });
  await asked.opened;
  await stage.store.pauseSweep(sweep.sweepId, []);
  await new Promise((resolve) => void setTimeout(resolve, 150));
  granted.open();
  await stage.reach("queued", 1);
  expect(given).toHaveLength(1);
  expect(provider.calls()).toBe(0);
});
