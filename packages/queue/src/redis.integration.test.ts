import { createRedis, describeQueueContract, type DisposableRedis, findRedis } from "@hallumaze/testkit";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { describeOutages } from "../test/describe-outages.ts";
import { testLedger } from "../test/queue-process.ts";
import { shortSettings, startRedisQueue } from "../test/queue-under-test.ts";
import { openQueue, QueueError } from "./index.ts";

const redis = findRedis();
// The report of a run shows no titles of what did not run.
if (redis.kind === "missing") process.stderr.write(`The queue on Redis is not tested: ${redis.reason}.\n`);

describe.runIf(redis.kind !== "missing")(redis.kind === "missing" ? `Redis, not run: ${redis.reason}` : "Redis", () => {
  describeQueueContract("the queue on Redis", startRedisQueue);
});

describe.runIf(redis.kind === "installed")("a Redis that fails", () => {
  describeOutages(async () => {
    const { url, drop } = await createRedis();
    return { url, drop, target: (redisUrl) => ({ redisUrl }) };
  });
});

describe.runIf(redis.kind === "installed")("quirks of Redis", () => {
  const empty = { waiting: 0, active: 0, delayed: 0 };
  const trials = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ trialId: `t${index}`, generation: 0, delayMs: 0 }));

  const open = async (server: DisposableRedis, errors: string[] = [], ledger = testLedger) => {
    const queue = await openQueue(
      { redisUrl: server.url },
      { ledger, onError: (error) => errors.push(error.code), settings: shortSettings },
    );
    onTestFinished(async () => {
      await queue.close();
      await server.drop();
    });
    return queue;
  };

  it("a board that looks at a lane, there or not, leaves the server as it was", async () => {
    const server = await createRedis();
    const queue = await open(server);
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    await queue.enqueue("sim.a", trials(2));
    const keys = async (): Promise<readonly string[]> => (await client.keys("*")).toSorted();
    const before = await keys();
    for (const lane of ["sim.a", "sim.none"]) {
      const board = await queue.boardOf(lane);
      await Promise.all([board.getJobCounts(), board.isPaused(), board.getJobs(["waiting", "prioritized"], 0, 9)]);
    }
    expect(await keys()).toEqual(before);
    expect(before.length).toBeGreaterThan(0);
  });

  it("with an append-only file a kill -9 of the server loses no delivery, and the consumer goes on", async () => {
    const server = await createRedis({ appendOnly: true });
    const queue = await open(server);
    const seen = new Set<string>();
    await queue.enqueue("sim.a", trials(200));
    await queue.consume("sim.a", 5, async ({ trialId }) => {
      seen.add(trialId);
      return { kind: "done" };
    });
    await vi.waitFor(() => expect(seen.size).toBeGreaterThan(20));
    await server.kill();
    const downMs = performance.now();
    // Longer than the idle poll of 1 s.
    await vi.waitFor(() => expect(performance.now() - downMs).toBeGreaterThan(3_000), { timeout: 5_000 });
    await server.restart();
    await vi.waitFor(async () => expect(await queue.depth("sim.a")).toEqual(empty), { timeout: 30_000, interval: 100 });
    expect(seen.size).toBe(200);
  });

  it("a restart of the server leaves delayed deliveries to come, to the consumer that was there before", async () => {
    const server = await createRedis({ appendOnly: true });
    const queue = await open(server);
    const seen: string[] = [];
    await queue.consume("sim.a", 1, async ({ trialId }) => {
      seen.push(trialId);
      return { kind: "done" };
    });
    await queue.enqueue("sim.a", [{ trialId: "late", generation: 0, delayMs: 3_000 }]);
    await server.restart();
    await vi.waitFor(() => expect(seen).toEqual(["late"]), { timeout: 30_000, interval: 50 });
    await vi.waitFor(async () => expect(await queue.depth("sim.a")).toEqual(empty));
  });

  it("a server that turns into a replica and back, as in a failover, ends no consumer", async () => {
    const server = await createRedis({ appendOnly: true });
    const errors: string[] = [];
    const queue = await open(server, errors);
    const seen = new Set<string>();
    await queue.consume("sim.a", 2, async ({ trialId }) => {
      seen.add(trialId);
      return { kind: "done" };
    });
    await queue.enqueue("sim.a", trials(5));
    await vi.waitFor(() => expect(seen.size).toBe(5));
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    // A master that is not there: the server keeps what it has and takes no writes.
    await client.replicaof("127.0.0.1", 1);
    await expect(queue.enqueue("sim.a", trials(10))).rejects.toMatchObject({ retry: true });
    await vi.waitFor(() => expect(errors.length).toBeGreaterThan(0), { timeout: 15_000 });
    await client.replicaof("NO", "ONE");
    await vi.waitFor(() => queue.enqueue("sim.a", trials(10)), { timeout: 20_000, interval: 200 });
    await vi.waitFor(() => expect(seen.size).toBe(10), { timeout: 30_000, interval: 50 });
  }, 90_000);

  it("20,000 deliveries leave the server's memory where it was", async () => {
    const server = await createRedis();
    const queue = await open(server);
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    const usedBytes = async (): Promise<number> => Number(/^used_memory:(\d+)/m.exec(await client.info("memory"))?.[1]);
    await queue.depth("sim.a");
    const before = await usedBytes();
    let handled = 0;
    await queue.enqueue("sim.a", trials(20_000));
    await queue.consume("sim.a", 50, async () => {
      handled += 1;
      return { kind: "done" };
    });
    await vi.waitFor(() => expect(handled).toBe(20_000), { timeout: 40_000, interval: 50 });
    await vi.waitFor(async () => expect(await queue.depth("sim.a")).toEqual(empty));
    expect((await usedBytes()) - before).toBeLessThan(4_000_000);
    // What stays of a lane: its settings, and a short stream of events.
    expect((await client.keys("*")).length).toBeLessThan(6);
  }, 90_000);

  it("all keys of a lane share one hash slot, and lanes do not", async () => {
    const server = await createRedis();
    const queue = await open(server);
    await queue.enqueue("sim.a", [...trials(2), { trialId: "late", generation: 0, delayMs: 60_000 }]);
    await queue.enqueue("sim.b", trials(1));
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    const tags = (await client.keys("*")).map((key) => /\{(.*?)\}/.exec(key)?.[1]);
    expect(new Set(tags)).toEqual(new Set(["solve.sim.a", "solve.sim.b"]));
  });

  it("ledgers that share a server and a lane do not see each other's deliveries", async () => {
    const server = await createRedis();
    const [mine, theirs] = [await open(server, [], "ledger-1"), await open(server, [], "ledger-2")];
    await theirs.enqueue("sim.a", trials(3));
    expect(await mine.depth("sim.a")).toEqual(empty);
    const seen: string[] = [];
    await mine.consume("sim.a", 5, async ({ trialId }) => {
      seen.push(trialId);
      return { kind: "done" };
    });
    await mine.enqueue("sim.a", [{ trialId: "own", generation: 0, delayMs: 0 }]);
    await vi.waitFor(async () => expect(await mine.depth("sim.a")).toEqual(empty));
    expect(seen).toEqual(["own"]);
    expect(await theirs.depth("sim.a")).toEqual({ waiting: 3, active: 0, delayed: 0 });
  });

  it("a full server refuses an enqueue by name, and takes it once there is room", async () => {
    const server = await createRedis({ maxMemoryMb: 4 });
    const queue = await open(server);
    await expect(queue.enqueue("sim.a", trials(20_000))).rejects.toMatchObject({ code: "queue-refused", retry: true });
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    await client.config("SET", "maxmemory", "0");
    await queue.enqueue("sim.a", trials(20_000));
    expect(await queue.depth("sim.a")).toEqual({ waiting: 20_000, active: 0, delayed: 0 });
  });

  it("a password with signs of its own logs in; a wrong one is refused at once and never shown", async () => {
    const server = await createRedis({ password: "p@ss/w:rd%?#" });
    const queue = await open(server);
    await queue.ping(1_000);
    const wrong = new URL(server.url);
    wrong.password = "n0t-it";
    const startMs = performance.now();
    const failure = await openQueue({ redisUrl: wrong.href }, { ledger: testLedger, onError: () => undefined }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: "queue-refused", retry: false });
    expect(performance.now() - startMs).toBeLessThan(3_000);
    expect(failure instanceof QueueError && JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain(
      "n0t-it",
    );
  });

  it("a database number that the server lacks is refused, not replaced by database 0; one that it has is used", async () => {
    const server = await createRedis();
    onTestFinished(() => server.drop());
    const openOn = (path: string) =>
      openQueue({ redisUrl: `${server.url}${path}` }, { ledger: testLedger, onError: () => undefined });
    const failure = openOn("/99");
    await expect(failure).rejects.toMatchObject({ code: "queue-config", retry: false });
    await expect(failure).rejects.toThrow(/no database 99/);
    const queue = await openOn("/3");
    await queue.enqueue("sim.a", trials(1));
    await queue.close();
    const client = new Redis(`${server.url}/3`);
    onTestFinished(() => client.disconnect());
    expect(await client.dbsize()).toBeGreaterThan(0);
  });

  it("a server that evicts keys is named as a danger to the queue", async () => {
    const server = await createRedis();
    const client = new Redis(server.url);
    await client.config("SET", "maxmemory-policy", "allkeys-lru");
    client.disconnect();
    const errors: string[] = [];
    await open(server, errors);
    expect(errors).toEqual(["queue-server"]);
  });
});
