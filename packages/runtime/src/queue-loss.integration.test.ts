import { createRedis, findRedis } from "@hallumaze/testkit";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";

import { failure, reply, shortTimes } from "../test/worker-replies.ts";
import { createGate, openWorkerStage, scriptedProvider } from "../test/worker-stage.ts";

const sound = (cells: number) => ({ states: { done: cells }, accepted: cells, exchanges: cells, lateDuplicates: 0 });
const models = [
  { model: "sim/oracle", params: { latencyMs: 60 } },
  { model: "sim/dfs-honest", params: { latencyMs: 40 } },
];

describe("the queue in the database", () => {
  it("emptied in mid-sweep is filled again from the ledger: nothing is lost, nothing asked twice", async () => {
    const stage = await openWorkerStage();
    await stage.submit(30, { models });
    stage.work({ concurrency: 2 });
    await stage.reach("done", 10);
    await stage.sql("TRUNCATE bullmq.job CASCADE");
    await stage.reach("done", 60);
    expect(await stage.books()).toEqual(sound(60));
  });

  it("that lost a single job gets it back within a period", async () => {
    const stage = await openWorkerStage();
    await stage.submit(3);
    const removed = await stage.sql(
      "DELETE FROM bullmq.job WHERE id IN (SELECT id FROM bullmq.job LIMIT 1) RETURNING id",
    );
    expect(removed).toHaveLength(1);
    stage.work({});
    await stage.reach("done", 3, shortTimes.reconcileEveryMs * 20);
    expect(await stage.books()).toEqual(sound(3));
  });
});

describe.runIf(findRedis().kind === "installed")("the queue in Redis", () => {
  const openRedis = async () => {
    const server = await createRedis();
    const client = new Redis(server.url);
    client.on("error", () => undefined);
    const stage = await openWorkerStage(server.url);
    onTestFinished(async () => {
      client.disconnect();
      await server.drop();
    });
    return { server, client, stage };
  };

  it("flushed in mid-sweep is filled again from the ledger: nothing is lost, nothing asked twice", async () => {
    const { client, stage } = await openRedis();
    await stage.submit(30, { models });
    stage.work({ concurrency: 2 });
    await stage.reach("done", 10);
    await client.flushall();
    await stage.reach("done", 60);
    expect(await stage.books()).toEqual(sound(60));
  });

  it("that lost a single job gets it back within a period", async () => {
    const { client, stage } = await openRedis();
    await stage.submit(3);
    const [waiting = ""] = await client.keys("hallumaze.*{solve.sim.oracle}:*:prioritized");
    const [jobId = ""] = await client.zpopmin(waiting);
    expect(await client.del(waiting.replace(/prioritized$/, jobId))).toBe(1);
    stage.work({});
    await stage.reach("done", 3, shortTimes.reconcileEveryMs * 20);
    expect(await stage.books()).toEqual(sound(3));
  });

  it("that comes back empty from an outage is filled at once: nobody waits for a lease to end", async () => {
    const { server, stage } = await openRedis();
    await stage.submit(20, { models });
    // Longer than the test may take.
    stage.work({ concurrency: 2, times: { ...shortTimes, leaseMs: 600_000 } });
    await stage.reach("done", 5);
    await server.kill();
    // The worker's own look at the queue has found it gone.
    await expect(stage.queue.depth("sim.oracle")).rejects.toMatchObject({ code: "queue-unreachable" });
    await server.restart();
    await stage.reach("done", 40, 150_000);
    expect(await stage.books()).toEqual(sound(40));
  }, 240_000);

  it("that dies empty-handed while a retry is being scheduled costs the trial nothing but time", async () => {
    const { server, stage } = await openRedis();
    await stage.submit(1);
    const gate = createGate();
    const provider = scriptedProvider(async (_, call) => {
      if (call > 1) return reply("FINAL_PATH: (0,0)");
      await gate.opened;
      return failure();
    });
    stage.work({ provider });
    await provider.reachCalls(1);
    await server.kill();
    gate.open();
    // The ledger knows of the retry before any queue does.
    await stage.reach("queued", 1);
    await server.restart();
    await stage.reach("done", 1, 40_000);
    expect(provider.calls()).toBe(2);
    expect(await stage.books()).toEqual({ states: { done: 1 }, accepted: 1, exchanges: 2, lateDuplicates: 0 });
  });
});
