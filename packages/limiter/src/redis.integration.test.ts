import { createRedis, findRedis } from "@hallumaze/testkit";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";

import { describeLimiterContract } from "../test/limiter-contract.ts";
import { type LimiterUnderTest, newLane, request } from "../test/limiter-under-test.ts";
import { openLimiter } from "./index.ts";

const redis = findRedis();

describe.runIf(redis.kind === "installed")(
  redis.kind === "missing" ? `Redis, not run: ${redis.reason}` : "Redis",
  () => {
    describeLimiterContract("the limiter on Redis", startRedis);

    const setUp = async () => {
      const server = await createRedis();
      const limiter = await openLimiter({ redisUrl: server.url });
      const client = new Redis(server.url);
      onTestFinished(async () => {
        await limiter.close();
        client.disconnect();
        await server.drop();
      });
      return { server, limiter, client };
    };

    it("all keys of a lane share one hash slot, lanes do not, and all of them expire", async () => {
      const { limiter, client } = await setUp();
      for (const lane of ["sim.{a}", "sim.b"]) {
        await limiter.configure(lane, { rpm: 1 });
        await limiter.reserve(lane, request());
        await limiter.reserve(lane, request());
        await limiter.park(lane, "no credit", null);
      }
      const keys = await client.keys("*");
      expect(keys.length).toBe(16);
      expect(new Set(keys.map((key) => /\{(.*?)\}/.exec(key)?.[1]))).toEqual(new Set(["sim.%7Ba%7D", "sim.b"]));
      for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0);
    });

    it("10,000 settled requests leave no keys but the lane's own, and no fields of theirs", async () => {
      const { limiter, client } = await setUp();
      const lane = newLane();
      await limiter.configure(lane, { rpm: 100_000_000 });
      for (let batch = 0; batch < 20; batch += 1) {
        await Promise.all(
          Array.from({ length: 500 }, async () => {
            const asked = request();
            await limiter.reserve(lane, asked);
            await limiter.settle(lane, asked.id, { inputTokens: 90, outputTokens: 40 });
          }),
        );
      }
      expect(new Set((await client.keys("*")).map((key) => key.split(":").at(-1)))).toEqual(
        new Set(["state", "tenants"]),
      );
      expect(Number(/used_memory:(\d+)/.exec(await client.info("memory"))?.[1])).toBeLessThan(8_000_000);
    });

    it("a server that forgot its scripts is told them again", async () => {
      const { limiter, client } = await setUp();
      const lane = newLane();
      await limiter.reserve(lane, request());
      await client.script("FLUSH");
      expect(await limiter.reserve(lane, request())).toEqual({ kind: "granted" });
    });

    it("a server that is not there is named without its password", async () => {
      const url = "redis://user:s3cret-pass@127.0.0.1:1";
      const failure: unknown = await openLimiter({ redisUrl: url }, { settings: { requestTimeoutMs: 500 } }).catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({ code: "limiter-unreachable", retry: true });
      expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain("s3cret-pass");
    });
  },
);

async function startRedis(): Promise<LimiterUnderTest> {
  const server = await createRedis();
  const client = new Redis(server.url);
  return {
    open: (settings) => openLimiter({ redisUrl: server.url }, { settings: settings ?? {} }),
    forget: async () => {
      await client.flushall();
    },
    drop: async () => {
      client.disconnect();
      await server.drop();
    },
  };
}
