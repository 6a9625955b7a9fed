import { existsSync } from "node:fs";
import { join } from "node:path";

import { createRandom } from "@hallumaze/foundation";
import { openHouse, openLogger, parseEnvironment } from "@hallumaze/runtime";
import { createDatabase, createRedis, findRedis } from "@hallumaze/testkit";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";

import {
  embeddedUrl,
  isAlive,
  openLedger,
  openStage,
  serverPid,
  soundBooks,
  type Stage,
  until,
} from "../test/program-stage.ts";

const model = (name: string, latencyMs: number) => ({ model: `sim/${name}`, params: { latencyMs } });
const sweep40 = {
  models: [model("dfs-honest", 150), model("oracle", 100)],
  seeds: ["1..20"],
  sizes: [5],
};

/** Slow enough that workers come and go while it lasts. */
const slow = { ...sweep40, models: [model("dfs-honest", 1500), model("oracle", 1400)] };

function open(variables: Readonly<Record<string, string>> = {}): Stage {
  const stage = openStage(variables);
  onTestFinished(() => stage.clear());
  return stage;
}

describe("kill -9 of run on its embedded database", () => {
  it("at any moment: the same command finishes, every cell is answered once, and nothing is left running", async () => {
    const stage = open();
    const spec = stage.spec("killed", sweep40);
    const words = ["run", spec, "--concurrency", "2", "--json"];
    const random = createRandom("kill run");
    const servers = new Set<number>();
    // The first falls while the database is being made, the others while calls are under way.
    const first = stage.start(words);
    await until(() => (existsSync(join(stage.home, "postgres")) ? true : null));
    first.kill("SIGKILL");
    await first.ended;
    for (const from of [0, 9, 20]) {
      const program = stage.start(words);
      await program.says("to run");
      servers.add(await until(() => serverPid(stage.home)));
      await using ledger = await openLedger(embeddedUrl(stage.home));
      await ledger.reach("state = 'running'", 1);
      await ledger.reach("state = 'done'", from + random.below(8));
      program.kill("SIGKILL");
      expect((await program.ended).signal).toBe("SIGKILL");
    }
    const last = await stage.run(words);
    expect(last).toMatchObject({ code: 0 });
    expect(JSON.parse(last.out)).toMatchObject({ sweep: "killed" });
    expect(serverPid(stage.home)).toBeNull();
    expect([...servers].filter(isAlive)).toEqual([]);

    await using house = await openHouse(parseEnvironment({ HALLUMAZE_HOME: stage.home }), openLogger("silent"), {});
    await using ledger = await openLedger(house.databaseUrl);
    expect(await ledger.books("killed")).toEqual(soundBooks(40));
  });
});

describe.runIf(findRedis().kind === "installed")("kill -9 of one of two workers on Redis", () => {
  it("another and a new one finish, with the scores of an undisturbed run", async () => {
    const { url: REDIS_URL, drop: dropRedis } = await createRedis();
    const { url: DATABASE_URL, drop } = await createDatabase();
    const stage = open({ DATABASE_URL, REDIS_URL });
    onTestFinished(async () => {
      await stage.clear();
      await drop();
      await dropRedis();
    });
    await using ledger = await openLedger(DATABASE_URL);
    const worker = (concurrency: number) =>
      stage.start(["worker", "--role", "solve", "--concurrency", `${concurrency}`]);
    expect(await stage.run(["submit", stage.spec("shared", slow)])).toMatchObject({ code: 0 });

    const random = createRandom("kill worker");
    const steady = worker(1);
    for (const end of ["SIGKILL", "SIGTERM", "SIGKILL"] as const) {
      const other = worker(1);
      await ledger.reach(`claimed_by LIKE '%/${other.pid}/%'`, 1);
      await ledger.reach("state = 'done'", (await ledger.count("state = 'done'")) + random.below(3));
      if (end === "SIGTERM") {
        // First asked, then, while it drains, killed.
        other.kill("SIGTERM");
        await other.says("draining");
      }
      other.kill("SIGKILL");
      await other.ended;
    }
    expect(await ledger.count("state = 'done'")).toBeLessThan(40);
    const last = worker(8);
    await ledger.reach("state = 'done'", 40);
    for (const each of [steady, last]) each.kill("SIGTERM");
    expect(await steady.ended).toMatchObject({ code: 0 });
    expect(await last.ended).toMatchObject({ code: 0 });
    expect(await ledger.books("shared")).toEqual(soundBooks(40));

    const alone = stage.spec("alone", slow);
    expect(await stage.run(["run", alone, "--fresh", "--json"])).toMatchObject({ code: 0 });
    expect(await ledger.books("alone")).toEqual(soundBooks(40));
    expect(await scores(stage, "shared")).toEqual(await scores(stage, "alone"));
  });

  it("a submission killed between rows and queue and repeated leaves each cell one row and one job", async () => {
    const { url: REDIS_URL, drop: dropRedis } = await createRedis();
    const { url: DATABASE_URL, drop } = await createDatabase();
    const stage = open({ DATABASE_URL, REDIS_URL });
    const redis = new Redis(REDIS_URL);
    onTestFinished(async () => {
      redis.disconnect();
      await stage.clear();
      await drop();
      await dropRedis();
    });
    await using ledger = await openLedger(DATABASE_URL);
    const words = [
      "submit",
      stage.spec("large", { models: ["sim/oracle"], seeds: ["1..10000"], mirage: [true, false] }),
      "--json",
    ];

    const inRows = stage.start(words);
    await ledger.reach("true", 4000);
    inRows.kill("SIGKILL");
    await inRows.ended;
    expect(await ledger.count("true")).toBeLessThan(20_000);

    const inQueue = stage.start(words);
    const [first] = await ledger.sql<{ readonly id: string }>(
      "SELECT id FROM _prisma_migrations ORDER BY started_at, id LIMIT 1",
    );
    const waiting = () => redis.zcard(`hallumaze.${first?.id}{solve.sim.oracle}:solve.sim.oracle:prioritized`);
    await until(async () => ((await waiting()) > 5000 ? true : null));
    inQueue.kill("SIGKILL");
    await inQueue.ended;
    expect(await ledger.count("state = 'planned'")).toBeGreaterThan(0);

    const ids = await ledger.sql("SELECT id FROM trials WHERE ordinal % 100 = 0 ORDER BY id");
    const last = await stage.run(words);
    expect(last).toMatchObject({ code: 0 });
    expect(JSON.parse(last.out)).toMatchObject({ cells: 20_000, inserted: 0, existing: 20_000, leftGrid: 0 });
    expect(await ledger.books("large")).toMatchObject({ cells: 20_000, states: { queued: 20_000 }, exchanges: 0 });
    expect(await ledger.sql("SELECT id FROM trials WHERE ordinal % 100 = 0 ORDER BY id")).toEqual(ids);
    expect(await waiting()).toBe(20_000);
  });
});

/** What an export says but for ids and times. */
async function scores(stage: Stage, sweep: string): Promise<readonly unknown[]> {
  const { out } = await stage.run(["export", sweep]);
  return out
    .trimEnd()
    .split("\n")
    .map((line) => {
      const {
        trialId: _id,
        sweep: _name,
        latencyMs: _latency,
        finishedAt: _at,
        ...rest
      } = JSON.parse(line) as Record<string, unknown>;
      return rest;
    });
}
