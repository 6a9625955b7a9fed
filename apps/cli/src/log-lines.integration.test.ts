import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createDatabase } from "@hallumaze/testkit";
import { expect, it, onTestFinished } from "vitest";

import { runHeld } from "../test/held-console.ts";

it("queued, paused, resumed, parked and limited are told once per change, with ids, and not again for nothing", async () => {
  const { url: DATABASE_URL, drop } = await createDatabase();
  const folder = mkdtempSync(join(tmpdir(), "hallumaze-log-"));
  onTestFinished(async () => {
    rmSync(folder, { recursive: true });
    await drop();
  });
  /** What one command logged, without level, time and process. */
  const told = async (...words: readonly string[]) => {
    const held = await runHeld(words, { folder, variables: { DATABASE_URL } });
    expect([held.code, held.err]).toEqual([0, expect.any(String)]);
    return held.logged.map(({ level: _level, time: _time, pid: _pid, hostname: _host, ...said }) => said);
  };
  const models = ["sim/oracle", "sim/random-walk"];
  const spec = join(folder, "night.json");
  writeFileSync(
    spec,
    JSON.stringify({ name: "night", models, seeds: ["1..3"], sizes: [5], groups: ["A"], mirage: true }),
  );
  const queued = await told("submit", spec);
  const sweepId = expect.stringMatching(/^[0-9a-f-]{36}$/);
  expect(queued).toEqual([{ sweepId, inserted: 6, leftGrid: 0, enqueued: 6, msg: "sweep queued" }]);
  const id = queued[0]?.["sweepId"];
  expect(await told("submit", spec)).toEqual([]);

  const model = ["--model", "sim/random-walk"];
  expect(await told("pause", "night", ...model)).toEqual([
    { sweepId: id, models: ["sim/random-walk"], msg: "sweep paused" },
  ]);
  expect(await told("pause", "night", ...model)).toEqual([]);
  expect(await told("pause", "night")).toEqual([{ sweepId: id, models: [], msg: "sweep paused" }]);
  const resumed = { sweepId: id, models: [], trials: 6, msg: "sweep resumed" };
  expect(await told("resume", "night")).toEqual([resumed]);
  expect(await told("resume", "night")).toEqual([]);

  const lane = "sim.oracle";
  expect(await told("lanes", "park", lane)).toEqual([
    { lane, by: "operator", forMs: null, blocked: 3, msg: "lane parked" },
  ]);
  expect(await told("lanes", "resume", lane)).toEqual([{ lane, trials: 3, msg: "lane resumed" }]);
  expect(await told("lanes", "resume", lane)).toEqual([]);
  expect(await told("lanes", "limit", lane, "rpm=50")).toEqual([{ lane, limits: { rpm: 50 }, msg: "lane limited" }]);

  const cancelled = { sweepId: id, cancelled: 6, ending: 0, judgements: 0, msg: "trials cancelled" };
  expect(await told("cancel", "night")).toEqual([cancelled]);
  const back = { sweepId: id, trials: 6, judgements: 0, msg: "trials put back" };
  expect(await told("retry", "night", "--outcome", "cancelled")).toEqual([back]);
});
