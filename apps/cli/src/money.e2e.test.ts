import { type MockProviders, startMockProviders } from "@hallumaze/mock-providers";
import { createDatabase, createRedis, findRedis } from "@hallumaze/testkit";
import { afterEach, describe, expect, it } from "vitest";

import { type Ledger, openLedger, openStage, type Spec, type Stage } from "../test/program-stage.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const model = "openai/gpt-4o";
/** A call costs exactly $0.02, and might cost $0.03. */
const spec: Spec = {
  models: [model],
  seeds: ["1..200"],
  maxTokens: 1500,
  prices: { [model]: { input: 0, output: 20 } },
  limits: { [model]: { rpm: 1e6, tpm: 1e9, concurrency: 10 } },
};

async function open(redisUrl?: string): Promise<{ stage: Stage; ledger: Ledger; mock: MockProviders }> {
  const mock = await startMockProviders({
    script: [{ reply: { usage: { outputTokens: 1000 } } }],
    latency: { baseMs: 30 },
  });
  const { url: DATABASE_URL, drop } = await createDatabase();
  const stage = openStage({ DATABASE_URL, ...(redisUrl && { REDIS_URL: redisUrl }), ...mock.environment() });
  const ledger = await openLedger(DATABASE_URL);
  closing.push(
    () => mock.close(),
    drop,
    () => stage.clear(),
    async () => ledger[Symbol.asyncDispose](),
  );
  return { stage, ledger, mock };
}

async function spentUsd(ledger: Ledger): Promise<number> {
  const [row] = await ledger.sql<{ usd: number }>("SELECT coalesce(sum(cost_usd), 0)::float8 AS usd FROM exchanges");
  return row?.usd ?? 0;
}

const redis = findRedis();

describe("a budget of $1.00 at $0.02 a call", () => {
  it.skipIf(redis.kind === "missing")(
    "is held by four workers at ten calls at once each; raised, the rest goes on",
    async () => {
      const server = await createRedis();
      closing.push(() => server.drop());
      const { stage, ledger, mock } = await open(server.url);
      expect(await stage.run(["submit", stage.spec("night", { ...spec, budgetUsd: 1 })])).toMatchObject({ code: 0 });
      const workers = [1, 2, 3, 4].map(() => stage.start(["worker", "--role", "solve", "--concurrency", "10"]));
      await ledger.reach("state IN ('done', 'blocked')", 200, 120_000);
      const spent = await spentUsd(ledger);
      expect(spent).toBeLessThanOrEqual(1.02);
      expect(spent).toBeGreaterThanOrEqual(0.96);
      expect(mock.counts().requests).toBe(Math.round(spent / 0.02));
      expect(await ledger.count("outcome = 'budget_blocked' AND state = 'blocked'")).toBe(200 - spent / 0.02);

      await stage.run(["submit", stage.spec("night", { ...spec, budgetUsd: 1.5 })]);
      await ledger.reach("state = 'done'", 73, 60_000);
      await ledger.reach("state IN ('done', 'blocked')", 200, 60_000);
      expect(await spentUsd(ledger)).toBeLessThanOrEqual(1.52);
      for (const worker of workers) worker.kill("SIGTERM");
      await Promise.all(workers.map((worker) => worker.ended));
    },
  );

  it("ends run with 4 and says what to do; plan and status tell the figures, and how wrong the plan was", async () => {
    const { stage, ledger, mock } = await open();
    const path = stage.spec("night", { ...spec, seeds: ["1..60"], budgetUsd: 1 });
    const planned = JSON.parse((await stage.run(["plan", path, "--json"])).out) as {
      estimate: { costUsd: { low: number; high: number }; budget: { usd: number } };
    };
    expect(planned.estimate.costUsd.low).toBeLessThan(1.2);
    expect(planned.estimate.costUsd.high).toBeGreaterThanOrEqual(1.2);
    expect(planned.estimate.budget.usd).toBe(1);

    const run = await stage.run(["run", path]);
    expect(run).toMatchObject({ code: 4 });
    expect(run.out).toMatch(/trials wait for the budget. Raise budgetUsd/);
    // A part of what was planned says nothing of the plan.
    expect(run.out).not.toMatch(/planned \$/);
    const before = mock.counts().requests;
    expect(await stage.run(["run", path])).toMatchObject({ code: 4 });
    expect(mock.counts().requests).toBe(before);

    const status = await stage.run(["status", "night"]);
    expect(status).toMatchObject({ code: 4 });
    expect(status.out).toMatch(/spent at most \$(0\.9[68]|1\.00)00 of \$1; under way: 0/);
    expect(status.out).toMatch(/budget_blocked \(openai\/gpt-4o\): budgetUsd 1 does not reach/);

    const raised = await stage.run(["run", stage.spec("night", { ...spec, seeds: ["1..60"], budgetUsd: 9 })]);
    expect(raised).toMatchObject({ code: 0 });
    expect(raised.out).toMatch(/planned \$0\.2.*spent \$0\.2/);
    expect(await spentUsd(ledger)).toBeCloseTo(1.2, 6);
    expect(mock.counts().requests).toBe(60);
    const again = await stage.run(["plan", path]);
    expect(again.out).toMatch(/planned \$/);
  });

  it("is refused where a model has no price, with the key to set, before anything is sent", async () => {
    const { stage, mock } = await open();
    const path = stage.spec("night", { models: ["openai/of-nobody-knows"], seeds: [1], budgetUsd: 1 });
    for (const command of ["plan", "run", "submit"]) {
      const ended = await stage.run([command, path]);
      expect(ended).toMatchObject({ code: 2 });
      expect(ended.err).toContain('prices: { "openai/of-nobody-knows": { input:');
    }
    expect(mock.counts().requests).toBe(0);
  });
});
