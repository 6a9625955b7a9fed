import { openHouse, openLogger, parseEnvironment } from "@hallumaze/runtime";
import { createDatabase, findFreePort } from "@hallumaze/testkit";
import { describe, expect, it, onTestFinished } from "vitest";

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
