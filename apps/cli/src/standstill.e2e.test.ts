import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { createDatabase, findRedis } from "@hallumaze/testkit";
import { describe, expect, it, onTestFinished } from "vitest";

import { chaosSpec, openChaos } from "../bench/chaos-stage.ts";
import { openLedger, openStage, soundBooks, until, withFaults } from "../test/program-stage.ts";

describe.runIf(findRedis().kind === "installed")("a worker that stands still for a minute", () => {
  it("beyond its lock and its lease: another answers, and its own late reply is archived and paid, not accepted", async () => {
    const chaos = await openChaos({ latency: { baseMs: 3000 } }, 200);
    onTestFinished(() => chaos[Symbol.asyncDispose]());
    const { stage, ledger, mock } = chaos;
    expect(await stage.run(["submit", stage.spec("still", chaosSpec(1))])).toMatchObject({ code: 0 });
    const fault = join(stage.folder, "fault.json");
    writeFileSync(fault, JSON.stringify({ blockMs: 60_000 }));
    const words = ["worker", "--role", "solve", "--concurrency", "1"];
    const blocked = stage.start(words, { ...withFaults, WORKER_FAULT: fault });
    await mock.until(({ inFlight }) => inFlight === 1, 60_000);
    blocked.kill("SIGUSR2");
    const other = stage.start(words);
    await ledger.reach("state = 'done'", 1);
    const lateRow = `SELECT worker_id AS "workerId", cost_usd IS NOT NULL AS "isPaid" FROM exchanges WHERE late_duplicate`;
    const late = await until(
      async () => (await ledger.sql<{ workerId: string; isPaid: boolean }>(lateRow))[0] ?? null,
      90_000,
    );
    expect(late.workerId).toContain(`/${blocked.pid}/`);
    expect(late.isPaid).toBe(true);
    const [accepted] = await ledger.sql<{ workerId: string }>(
      `SELECT e.worker_id AS "workerId" FROM trials t JOIN exchanges e ON e.id = t.accepted_exchange_id`,
    );
    expect(accepted?.workerId).toContain(`/${other.pid}/`);
    for (const worker of [blocked, other]) worker.kill("SIGTERM");
    expect((await Promise.all([blocked.ended, other.ended])).map(({ code }) => code)).toEqual([0, 0]);
    expect(await ledger.books("still")).toMatchObject({
      states: { done: 1 },
      accepted: 1,
      exchanges: 2,
      lateDuplicates: 1,
    });
    expect(mock.counts().requests).toBe(2);
  }, 300_000);
});

describe("a worker whose clock is a minute ahead, on a queue in PostgreSQL", () => {
  it("takes nothing from the one beside it: every cell is answered once", async () => {
    const { url: DATABASE_URL, drop } = await createDatabase();
    const stage = openStage({ DATABASE_URL });
    onTestFinished(async () => {
      await stage.clear();
      await drop();
    });
    const models = [{ model: "sim/oracle", params: { latencyMs: 1500 } }];
    expect(await stage.run(["submit", stage.spec("ahead", { models, seeds: ["1..40"] })])).toMatchObject({ code: 0 });
    const words = ["worker", "--role", "solve", "--concurrency", "2"];
    const workers = [stage.start(words), stage.start(words, { ...withFaults, WORKER_CLOCK_MS: "60000" })];
    await using ledger = await openLedger(DATABASE_URL);
    for (const { pid } of workers) await ledger.reach(`claimed_by LIKE '%/${pid}/%'`, 1);
    await ledger.reach("state = 'done'", 40);
    for (const worker of workers) worker.kill("SIGTERM");
    expect((await Promise.all(workers.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([0, 0]);
    expect(await ledger.books("ahead")).toEqual(soundBooks(40));
  });
});
