import { createDatabase, createPgBouncer, createRedis, findRedis, findTool } from "@hallumaze/testkit";
import { describe, expect, it, onTestFinished } from "vitest";

import { openLedger, openStage, soundBooks } from "../test/program-stage.ts";

const tool = findTool("pgbouncer");
const canRun = tool.kind === "installed" && findRedis().kind === "installed";

describe.runIf(canRun)(
  tool.kind === "missing" ? `A pooler, not run: ${tool.reason}` : "The program behind a pooler",
  () => {
    it("finishes a sweep over Redis and PgBouncer exactly, two workers on three of the server's connections", async () => {
      const database = await createDatabase();
      onTestFinished(database.drop);
      const bouncer = await createPgBouncer(database.url, { servers: 3 });
      onTestFinished(bouncer.drop);
      const redis = await createRedis();
      onTestFinished(redis.drop);
      const stage = openStage({
        DATABASE_URL: bouncer.url,
        DATABASE_DIRECT_URL: database.url,
        REDIS_URL: redis.url,
      });
      onTestFinished(stage.clear);
      const models = [
        { model: "sim/oracle", params: { latencyMs: 20 } },
        { model: "sim/dfs-honest", params: { latencyMs: 40 } },
      ];
      const spec = stage.spec("pooled", { models, seeds: ["1..40"] });
      expect(await stage.run(["submit", spec])).toMatchObject({ code: 0 });
      const workers = [1, 2].map(() => stage.start(["worker", "--role", "solve", "--concurrency", "16"]));
      await using ledger = await openLedger(database.url);
      await ledger.reach("state = 'done'", 80);
      for (const worker of workers) worker.kill("SIGTERM");
      for (const { code, err } of await Promise.all(workers.map((worker) => worker.ended))) expect(code, err).toBe(0);
      expect(await ledger.books("pooled")).toEqual(soundBooks(80));
      const told = await stage.run(["status", "pooled", "--json"]);
      expect(told).toMatchObject({ code: 0 });
      const exported = await stage.run(["export", "pooled", "--format", "jsonl"]);
      expect(exported.out.trim().split("\n")).toHaveLength(80);
      // What the pooler gave the server: its own few connections, whatever the clients opened.
      const [held] = await ledger.sql<{ count: number }>(
        "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'hallumaze'",
      );
      expect(held?.count).toBeLessThanOrEqual(3);
    });
  },
);
