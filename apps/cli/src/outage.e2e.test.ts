import { openHouse, openLogger, parseEnvironment } from "@hallumaze/runtime";
import { createDatabase, createFaultProxy, createRedis, findFreePort, findRedis } from "@hallumaze/testkit";
import { describe, expect, it, onTestFinished } from "vitest";

import { takeAway } from "../bench/chaos-outage.ts";
import { chaosSpec, openChaos } from "../bench/chaos-stage.ts";
import { embeddedUrl, isAlive, openLedger, openStage, serverPid, soundBooks, until } from "../test/program-stage.ts";

const model = (name: string, latencyMs: number) => ({ model: `sim/${name}`, params: { latencyMs } });

function open(variables: Readonly<Record<string, string>> = {}) {
  const stage = openStage(variables);
  onTestFinished(() => stage.clear());
  return stage;
}

describe("a server that is not there", () => {
  it("database: run exits 1 within its wait, says where it looked and not the password", async () => {
    const port = await findFreePort();
    const stage = open({ DATABASE_URL: `postgres://me:s3cret@127.0.0.1:${port}/x` });
    const startedMs = performance.now();
    const { code, out, err } = await stage.run(["run", stage.spec("nowhere", { models: ["sim/oracle"], seeds: [1] })]);
    expect(code).toBe(1);
    expect(performance.now() - startedMs).toBeLessThan(30_000);
    expect(err).toContain(`127.0.0.1:${port}`);
    expect(out + err).not.toContain("s3cret");
    expect(err).not.toContain("    at ");
  });

  it("Redis: a worker exits 1 within its wait, says where it looked and not the password", async () => {
    const { url: DATABASE_URL, drop } = await createDatabase();
    onTestFinished(drop);
    const port = await findFreePort();
    const stage = open({ DATABASE_URL, REDIS_URL: `redis://:s3cret@127.0.0.1:${port}` });
    const startedMs = performance.now();
    const { code, out, err } = await stage.run(["worker", "--role", "solve"]);
    expect(code).toBe(1);
    expect(performance.now() - startedMs).toBeLessThan(40_000);
    expect(err).toContain(`127.0.0.1:${port}`);
    expect(out + err).not.toContain("s3cret");
    expect(err).not.toContain("    at ");
  });
});

describe.runIf(findRedis().kind === "installed")("a server that comes up after the worker", () => {
  it.each(["PostgreSQL", "Redis"] as const)(
    "%s: the worker says that it waits, and is at work once it is there",
    async (server) => {
      const [database, redis] = [await createDatabase(), await createRedis()];
      const proxies = {
        PostgreSQL: await createFaultProxy(database.url),
        Redis: await createFaultProxy(redis.url),
      };
      const stage = openStage({
        DATABASE_URL: proxies.PostgreSQL.through(database.url),
        REDIS_URL: proxies.Redis.through(redis.url),
      });
      onTestFinished(async () => {
        await stage.clear();
        await Promise.all(Object.values(proxies).map((proxy) => proxy.close()));
        await Promise.all([database.drop(), redis.drop()]);
      });
      expect(
        await stage.run(["submit", stage.spec("late", { models: ["sim/oracle"], seeds: ["1..3"] })]),
      ).toMatchObject({ code: 0 });
      await proxies[server].refuse();
      const worker = stage.start(["worker", "--role", "solve"]);
      await worker.says("Trying again for");
      await proxies[server].accept();
      await worker.says("worker: role");
      await using ledger = await openLedger(database.url);
      await ledger.reach("state = 'done'", 3);
      worker.kill("SIGTERM");
      expect(await worker.ended).toMatchObject({ code: 0 });
      expect(await ledger.books("late")).toEqual(soundBooks(3));
    },
    120_000,
  );
});

describe.runIf(findRedis().kind === "installed")("an outage in mid-sweep", () => {
  // Longer than lock (10 s) and every pause between two tries; a minute is measured by the chaos run.
  const awayMs = 15_000;

  it.each(["Redis", "PostgreSQL"] as const)(
    "of %s fails no trial, buys nothing twice, and work goes on within ten seconds of its end",
    async (server) => {
      const chaos = await openChaos({ latency: { baseMs: 1000 } }, 20);
      onTestFinished(() => chaos[Symbol.asyncDispose]());
      const { stage, ledger, mock } = chaos;
      const cells = 150;
      expect(await stage.run(["submit", stage.spec("away", chaosSpec(cells))])).toMatchObject({ code: 0 });
      const workers = [1, 2].map(() => stage.start(["worker", "--role", "solve", "--concurrency", "4"]));
      await ledger.reach("state = 'done'", 20);
      const outage = await takeAway(chaos, server, awayMs);
      expect(outage.firstRequestSeconds).toBeLessThan(10);
      expect(outage.firstDoneSeconds).toBeLessThan(10);
      await ledger.reach("state IN ('done', 'failed')", cells);
      for (const worker of workers) worker.kill("SIGTERM");
      expect((await Promise.all(workers.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([0, 0]);
      expect(await ledger.books("away")).toEqual(soundBooks(cells));
      expect(mock.counts().requests).toBe(cells);
    },
    240_000,
  );
});

describe("the embedded database killed while run goes on", () => {
  it("comes back, and the run finishes with every cell answered once", async () => {
    const stage = open();
    const spec = stage.spec("shot", { models: [model("oracle", 250), model("dfs-honest", 200)], seeds: ["1..20"] });
    const program = stage.start(["run", spec, "--concurrency", "2", "--json"]);
    await program.says("to run");
    const server = await until(() => serverPid(stage.home));
    {
      await using ledger = await openLedger(embeddedUrl(stage.home));
      await ledger.reach("state = 'done'", 6);
      process.kill(server, "SIGKILL");
    }
    const revived = await until(() => {
      const pid = serverPid(stage.home);
      return pid !== null && pid !== server && isAlive(pid) ? pid : null;
    });
    expect(await program.ended).toMatchObject({ code: 0 });
    expect([server, revived].filter(isAlive)).toEqual([]);

    await using house = await openHouse(parseEnvironment({ HALLUMAZE_HOME: stage.home }), openLogger("silent"), {});
    await using ledger = await openLedger(house.databaseUrl);
    expect(await ledger.books("shot")).toEqual(soundBooks(40));
  });
});

describe("a database of a newer version", () => {
  it("is left alone: exit 1, and the message says what to do", async () => {
    const { url: DATABASE_URL, drop } = await createDatabase();
    onTestFinished(drop);
    const stage = open({ DATABASE_URL });
    expect(await stage.run(["status"])).toMatchObject({ code: 0 });
    await using ledger = await openLedger(DATABASE_URL);
    await ledger.sql(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
       VALUES ('x', 'x', '99990101000000_later', now())`,
    );
    const { code, err } = await stage.run(["run", stage.spec("late", { models: ["sim/oracle"], seeds: [1] })]);
    expect(code).toBe(1);
    expect(err).toContain("99990101000000_later");
    expect(err).toContain("Update this program");
    expect(await ledger.count("true")).toBe(0);
  });
});
