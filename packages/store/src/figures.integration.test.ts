import { requestRow } from "@hallumaze/judging";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { cell, claim, finish, openStage, type Stage, submit } from "../test/ledger-stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const judge = { provider: "sim", model: "j", baseUrl: null, temperature: 0, maxTokens: 4000, params: {}, keyEnv: null };
const plan = { judge, promptVersion: "llm-judge-v1", round: "first", repeat: 0, generation: 0 } as const;
const gate = { judgeModel: "sim/j", promptVersion: "llm-judge-v1", promptHash: "p", rubricVersion: "r" };

describe("the ledger in figures", () => {
  it("counts trials by state and outcome, ages what may start, sums money and judges, and tells the newest agreement", async () => {
    const cells = ["a", "b", "c", "d"].map((name) => cell(name));
    const { sweep, queued } = await submit(stage.store, "night \0 one", cells, { budgetUsd: "40.5" });
    const [first, second, third] = queued;
    if (first === undefined || second === undefined || third === undefined) throw new Error("four trials were wanted");
    await finish(stage.store, first);
    await claim(stage.store, second);
    await stage.sql("UPDATE trials SET queued_at = clock_timestamp() - interval '90 seconds' WHERE id = $1", [
      third.trialId,
    ]);
    // Put off: it is not what waits.
    await stage.sql(
      `UPDATE trials SET queued_at = clock_timestamp() - interval '1 day', not_before = clock_timestamp() + interval '1 hour'
       WHERE state = 'queued' AND id <> $1`,
      [third.trialId],
    );
    const unjudged = { judge: "sim/j llm-judge-v1 0", share: 1, limit: 10, after: null };
    const [result] = await stage.store.listUnjudged(sweep.sweepId, unjudged);
    const request = { resultId: result?.resultId ?? "", sweepId: sweep.sweepId };
    await stage.store.requestJudgements([requestRow(request, "judge.sim.j", plan)]);
    const record = { ...gate, goldSetId: "g", split: "test", items: 50, open: false, refusals: [], reportJson: "{}" };
    await stage.store.addCalibration({ ...record, agreed: 20 });
    await stage.store.addCalibration({ ...record, agreed: 45, open: true });
    await stage.store.addCalibration({ ...record, split: "dev", agreed: 1 });

    const figures = await stage.store.figures(20);
    const of = { sweep: "night \0 one", sweepId: sweep.sweepId, lane: "sim.dfs", alias: "dfs" };
    expect(figures.trials).toMatchObject([
      { ...of, state: "done", outcome: "ok", count: 1, oldestWaitingMs: null },
      { ...of, state: "queued", outcome: null, count: 2 },
      { ...of, state: "running", outcome: null, count: 1, oldestWaitingMs: null },
    ]);
    expect(figures.trials[1]?.oldestWaitingMs).toBeGreaterThanOrEqual(90_000);
    expect(figures.trials[1]?.oldestWaitingMs).toBeLessThan(3_600_000);
    expect(figures.judges).toMatchObject([{ sweep: of.sweep, lane: "judge.sim.j", state: "planned", count: 1 }]);
    const money = { sweep: of.sweep, sweepId: sweep.sweepId, budgetUsd: 40.5, spentUsd: 0, reservedUsd: 0 };
    const [ended] = await stage.sql(
      "SELECT (1000 * extract(epoch FROM max(finished_at)))::float8 AS at FROM trials WHERE state = 'done'",
    );
    expect(figures.sweeps).toEqual([{ ...money, paused: null, lastFinishedAtMs: ended?.["at"] }]);
    expect(ended?.["at"]).toBeGreaterThan(0);
    expect(figures.agreements).toEqual([
      { judge: "sim/j", promptVersion: "llm-judge-v1", items: 50, agreed: 45, open: true },
    ]);
    expect(Math.abs(figures.atMs - (await stage.store.serverTimeMs()))).toBeLessThan(10_000);
  });

  it("tells what is paused, counts what is cancelled with the time of the last, and requests to judges of no sweep", async () => {
    const { sweep } = await submit(stage.store, "held", [cell("one"), cell("two")]);
    const held = async () => (await stage.store.figures(1)).sweeps;
    await stage.store.pauseSweep(sweep.sweepId, ["dfs"]);
    expect(await held()).toMatchObject([{ sweep: "held", paused: ["dfs"], lastFinishedAtMs: null }]);
    await stage.store.pauseSweep(sweep.sweepId, []);
    expect(await held()).toMatchObject([{ paused: [] }]);
    await stage.store.cancelTrials(sweep.sweepId, {}, { now: true });
    const [row] = await stage.sql("INSERT INTO results DEFAULT VALUES RETURNING id::text");
    await stage.store.requestJudgements([
      requestRow({ resultId: String(row?.["id"]), sweepId: null }, "judge.sim.alone", plan),
    ]);
    const figures = await stage.store.figures(1);
    expect(figures.trials).toMatchObject([{ state: "cancelled", count: 2, oldestWaitingMs: null }]);
    const lastMs = figures.sweeps[0]?.lastFinishedAtMs ?? 0;
    expect(Math.abs(lastMs - figures.atMs)).toBeLessThan(60_000);
    expect(figures.judges.filter(({ sweepId }) => sweepId === null)).toMatchObject([
      { sweep: "", lane: "judge.sim.alone", state: "planned", count: 1 },
    ]);
  });

  it("is of the newest sweeps only", async () => {
    for (const name of ["two", "three"]) await submit(stage.store, name, [cell(`cell of ${name}`)]);
    const figures = await stage.store.figures(2);
    expect(figures.sweeps.map(({ sweep }) => sweep)).toEqual(["three", "two"]);
    expect(new Set(figures.trials.map(({ sweep }) => sweep))).toEqual(new Set(["three", "two"]));
  });

  it("knows its connections", async () => {
    await stage.store.ping(5000);
    const { total, idle, waiting } = stage.store.poolUse();
    expect(total).toBeGreaterThan(0);
    expect(idle).toBeLessThanOrEqual(total);
    expect(waiting).toBe(0);
  });
});
