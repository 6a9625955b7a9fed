import { createDatabase, createRedis, findRedis } from "@hallumaze/testkit";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";

import { openLedger, openStage, soundBooks } from "../test/program-stage.ts";

const model = (name: string, latencyMs: number) => ({ model: `sim/${name}`, params: { latencyMs } });
const sweep24 = { models: [model("dfs-honest", 300), model("oracle", 250)], seeds: ["1..12"] };

async function openShared(variables: Readonly<Record<string, string>> = {}) {
  const { url: DATABASE_URL, drop } = await createDatabase();
  const stage = openStage({ DATABASE_URL, ...variables });
  const ledger = await openLedger(DATABASE_URL);
  onTestFinished(async () => {
    await ledger[Symbol.asyncDispose]();
    await stage.clear();
    await drop();
  });
  return { stage, ledger };
}

describe("run", () => {
  it("interrupted lets its calls end and exits 130; the second run sends only the rest, and a third nothing", async () => {
    const { stage, ledger } = await openShared();
    const words = ["run", stage.spec("cut", sweep24), "--concurrency", "2", "--json"];
    const first = stage.start(words);
    await ledger.reach("state = 'done'", 6);
    first.kill("SIGINT");
    const ended = await first.ended;
    expect(ended).toMatchObject({ code: 130 });
    expect(ended.err).toContain("The same command resumes");
    const half = await ledger.books("cut");
    expect(half.states["running"]).toBeUndefined();
    expect(half.exchanges).toBe(half.states["done"]);
    expect(half.exchanges).toBeLessThan(24);

    expect(await stage.run(words)).toMatchObject({ code: 0 });
    expect(await ledger.books("cut")).toEqual(soundBooks(24));

    const third = await stage.run(words);
    expect(third).toMatchObject({ code: 0 });
    expect(third.err).toContain("nothing to run");
    expect(await ledger.books("cut")).toEqual(soundBooks(24));
  });

  it("interrupted twice stops at once, and the same command finishes", async () => {
    const { stage, ledger } = await openShared();
    const words = ["run", stage.spec("twice", { models: [model("oracle", 4000)], seeds: ["1..4"] }), "--json"];
    const first = stage.start(words);
    await ledger.reach("state = 'running'", 4);
    first.kill("SIGINT");
    await first.says("draining");
    first.kill("SIGINT");
    expect(await first.ended).toMatchObject({ code: 130 });
    expect(await ledger.count("state = 'done'")).toBe(0);
    expect(await stage.run(words)).toMatchObject({ code: 0 });
    expect(await ledger.books("twice")).toEqual(soundBooks(4));
  });

  it("started twice at once on one sweep shares the work, and both exit 0", async () => {
    const { stage, ledger } = await openShared();
    const words = [
      "run",
      stage.spec("both", { ...sweep24, models: [model("dfs-honest", 1500), model("oracle", 1400)] }),
      "--concurrency",
      "2",
      "--json",
    ];
    const ended = await Promise.all([stage.run(words), stage.run(words)]);
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    expect(await ledger.books("both")).toEqual(soundBooks(24));
    const workers = await ledger.sql<{ workers: number }>(
      "SELECT count(DISTINCT worker_id)::int AS workers FROM exchanges",
    );
    expect(workers).toEqual([{ workers: 2 }]);
  });
});

describe.runIf(findRedis().kind === "installed")("worker", () => {
  it("told to stop drains and exits 0; flushed in mid-sweep, Redis is filled again by another", async () => {
    const redis = await createRedis();
    const client = new Redis(redis.url);
    const { stage, ledger } = await openShared({ REDIS_URL: redis.url });
    onTestFinished(async () => {
      client.disconnect();
      await redis.drop();
    });
    expect(await stage.run(["submit", stage.spec("drained", sweep24)])).toMatchObject({ code: 0 });
    const first = stage.start(["worker", "--role", "solve", "--concurrency", "2"]);
    await ledger.reach("state = 'done'", 4);
    first.kill("SIGTERM");
    const ended = await first.ended;
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.err).toContain("worker: drained");
    const half = await ledger.books("drained");
    expect(half.states["running"]).toBeUndefined();
    expect(half.exchanges).toBe(half.states["done"]);

    const second = stage.start(["worker", "--role", "solve", "--concurrency", "2"]);
    await ledger.reach("state = 'done'", half.exchanges + 2);
    await client.flushall();
    await ledger.reach("state = 'done'", 24);
    second.kill("SIGTERM");
    expect(await second.ended).toMatchObject({ code: 0 });
    expect(await ledger.books("drained")).toEqual(soundBooks(24));
  });
});
