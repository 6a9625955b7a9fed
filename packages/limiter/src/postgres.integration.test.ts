import { createDatabase } from "@hallumaze/testkit";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";

import { describeLimiterContract } from "../test/limiter-contract.ts";
import { type LimiterUnderTest, newLane, request } from "../test/limiter-under-test.ts";
import { openLimiter } from "./index.ts";

describeLimiterContract("the limiter on Postgres", startPostgres);

it("several processes may open an empty database at once, and a second opening changes nothing", async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const limiters = await Promise.all(Array.from({ length: 4 }, () => openLimiter({ databaseUrl: database.url })));
  const lane = newLane();
  await limiters[0]?.configure(lane, { concurrency: 2 });
  const answers = await Promise.all(limiters.map((limiter) => limiter.reserve(lane, request())));
  expect(answers.filter(({ kind }) => kind === "granted")).toHaveLength(2);
  const again = await openLimiter({ databaseUrl: database.url });
  expect(await again.use([lane])).toMatchObject([{ inFlight: 2, limits: { concurrency: 2 } }]);
  await Promise.all([...limiters, again].map((limiter) => limiter.close()));
});

it("settled requests leave no rows but the lane's own", async () => {
  const database = await createDatabase();
  const client = new pg.Client(database.url);
  await client.connect();
  const limiter = await openLimiter({ databaseUrl: database.url });
  onTestFinished(async () => {
    await limiter.close();
    await client.end();
    await database.drop();
  });
  const lane = newLane();
  await Promise.all(
    Array.from({ length: 200 }, async () => {
      const asked = request();
      await limiter.reserve(lane, asked);
      await limiter.settle(lane, asked.id, { inputTokens: 90, outputTokens: 40 });
    }),
  );
  const { rows } = await client.query(`SELECT (SELECT count(*)::int FROM limiter.reservation) AS reservations,
    (SELECT count(*)::int FROM limiter.ticket) AS tickets, (SELECT count(*)::int FROM limiter.lane) AS lanes`);
  expect(rows).toEqual([{ reservations: 0, tickets: 0, lanes: 1 }]);
});

it("a URL that is none, and a password that is wrong, are refused without being shown", async () => {
  await expect(openLimiter({ databaseUrl: "mysql://u:s3cret@h/x" })).rejects.toMatchObject({ code: "limiter-config" });
  const failure: unknown = await openLimiter(
    { databaseUrl: "postgres://user:s3cret-pass@127.0.0.1:1/x" },
    { settings: { requestTimeoutMs: 500 } },
  ).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "limiter-unreachable" });
  expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain("s3cret-pass");
});

async function startPostgres(): Promise<LimiterUnderTest> {
  const database = await createDatabase();
  const client = new pg.Client(database.url);
  await client.connect();
  return {
    open: (settings) => openLimiter({ databaseUrl: database.url }, { settings: settings ?? {} }),
    forget: async () => {
      await client.query("TRUNCATE limiter.lane, limiter.ticket, limiter.tenant, limiter.reservation");
    },
    drop: async () => {
      await client.end();
      await database.drop();
    },
  };
}
