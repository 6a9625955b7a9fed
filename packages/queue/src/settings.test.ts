import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { queueEnv } from "./env.ts";
import { judgeQueueName, redisKeyPrefix, solveQueueName } from "./queue-name.ts";
import { defaultQueueSettings, throwBackoffMs } from "./settings.ts";

describe("throwBackoffMs", () => {
  it("doubles from half a second to a minute, give or take the half", () => {
    const pauses = Array.from({ length: 12 }, (_, index) => throwBackoffMs(index + 1, defaultQueueSettings, () => 0));
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000, 30_000, 30_000]);
  });

  it("stays within its bounds for any number of throws", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (throws, drawn) => {
          const pauseMs = throwBackoffMs(throws, defaultQueueSettings, () => drawn);
          expect(pauseMs).toBeGreaterThanOrEqual(500);
          expect(pauseMs).toBeLessThanOrEqual(60_000);
        },
      ),
      { seed: 4 },
    );
  });
});

describe("queue names", () => {
  it("solve and judge of a lane are queues apart", () =>
    expect([solveQueueName("sim.dfs"), judgeQueueName("sim.dfs")]).toEqual(["solve.sim.dfs", "judge.sim.dfs"]));

  it("the key prefix holds the ledger, and the name as a cluster hash tag", () =>
    expect(redisKeyPrefix("7b-1", "solve.sim.dfs")).toBe("hallumaze.7b-1{solve.sim.dfs}"));

  it.each(["", "a{b", "a:b", "x".repeat(65)])("ledger %j is refused", (ledger) =>
    expect(() => redisKeyPrefix(ledger, "q")).toThrow(expect.objectContaining({ code: "queue-input" })),
  );

  it.each(["", "a:b", "a b", "a{b}", "ä", "x".repeat(201)])("lane %j is refused", (lane) =>
    expect(() => solveQueueName(lane)).toThrow(expect.objectContaining({ code: "queue-input" })),
  );
});

describe("queueEnv", () => {
  const env = z.object(queueEnv);
  it.each([
    {},
    { REDIS_URL: "redis://localhost" },
    { REDIS_URL: "redis://localhost/" },
    { REDIS_URL: "rediss://:p@queue.example:6380/1" },
  ])("takes %j", (given) => expect(env.safeParse(given).success).toBe(true));
  it.each([
    "localhost:6379",
    "http://localhost",
    "redis",
    "redis://localhost/ten",
    "redis://localhost/1/2",
    "redis://localhost/-1",
  ])("refuses REDIS_URL=%s", (value) => expect(env.safeParse({ REDIS_URL: value }).success).toBe(false));
});
