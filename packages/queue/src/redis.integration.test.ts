import { createRedis, describeQueueContract, findRedis } from "@hallumaze/testkit";
import { describe } from "vitest";

import { describeOutages } from "../test/describe-outages.ts";
import { startRedisQueue } from "../test/queue-under-test.ts";

const redis = findRedis();

describe.runIf(redis.kind !== "missing")(redis.kind === "missing" ? `Redis, not run: ${redis.reason}` : "Redis", () =>
  describeQueueContract("the queue on Redis", startRedisQueue),
);

describe.runIf(redis.kind === "installed")("a Redis of our own", () => {
  describeOutages(async () => {
    const { url, drop } = await createRedis();
    return { url, drop, target: (redisUrl) => ({ redisUrl }) };
  });
});
