import { createDatabase } from "@hallumaze/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";

import { runHeld } from "../test/held-console.ts";
import { type Ledger, openLedger, openStage, type Program, type Stage } from "../test/program-stage.ts";

/** 5 models × 25 seeds × 2 sizes × 2 groups × 2 × mirage × 2 languages: 2,000 trials, 400 of a model that always fails. */
const models = [
  { model: "sim/oracle", as: "broken", params: { failureRate: 1 } },
  ...["oracle", "keyword", "dfs-honest", "calibrated"].map((name) => ({
    model: `sim/${name}`,
    as: name,
    params: { latencyMs: 15 },
  })),
];
const grid = {
  models,
  seeds: ["1001..1025"],
  sizes: [5, 7],
  groups: ["A", "C"],
  mirage: [true, false],
  languages: ["ko", "en"],
  retries: { tries: 1 },
};

let stage: Stage;
let ledger: Ledger;
let worker: Program;
let variables: Readonly<Record<string, string>>;
let spec: string;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createDatabase();
  drop = database.drop;
  variables = { DATABASE_URL: database.url };
  stage = openStage(variables);
  ledger = await openLedger(database.url);
  spec = stage.spec("live", grid);
  await say("submit", spec);
  // Nothing of it may start before the first test says so.
  await say("pause", "live");
  worker = stage.start(["worker", "--role", "solve", "--concurrency", "8"]);
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await stage.clear();
  await drop();
});

/** Runs a command that must do as it is told; gives its report. */
async function say(...words: readonly string[]) {
  const held = await runHeld([...words, "--json"], { variables, folder: stage.folder });
  expect(held, words.join(" ")).toMatchObject({ code: 0 });
  return { ...(JSON.parse(held.out.split("\n")[0] ?? "{}") as Record<string, unknown>), err: held.err };
}

interface Status {
  readonly sweep: { readonly paused: object | null; readonly priority: number; readonly weight: number };
  readonly models: readonly { readonly alias: string; readonly states: Readonly<Record<string, number>> }[];
  readonly lanes: readonly { readonly lane: string; readonly control: object | null }[];
}

async function status(): Promise<Status> {
  const held = await runHeld(["status", "live", "--json"], { variables });
  return JSON.parse(held.out) as Status;
}

/** Trials by state, of one model or of all. */
async function counts(alias?: string): Promise<Readonly<Record<string, number>>> {
  const sums: Record<string, number> = {};
  for (const model of (await status()).models) {
    if (alias !== undefined && model.alias !== alias) continue;
    for (const [state, count] of Object.entries(model.states)) sums[state] = (sums[state] ?? 0) + count;
  }
  return Object.fromEntries(Object.entries(sums).filter(([, count]) => count > 0));
}

const live = "sweep_id = (SELECT id FROM sweeps WHERE name = 'live')";

/** Another sweep through the same lanes: once it is done, whatever waited before it has been passed over. */
async function probe(name: string): Promise<void> {
  await say("submit", stage.spec(name, { ...grid, models: models.slice(1), seeds: [name.length], sizes: [9] }));
  await ledger.reach(`state = 'done' AND sweep_id = (SELECT id FROM sweeps WHERE name = '${name}')`, 32);
}

it("paused before it began, a sweep of 2,000 trials stays untouched while others pass through its lanes", async () => {
  await probe("probe");
  expect(await counts()).toEqual({ queued: 2000 });
  expect((await status()).sweep.paused).toMatchObject({ models: [] });
  const run = await runHeld(["run", spec], { variables, folder: stage.folder });
  expect(run).toMatchObject({ code: 3 });
  expect(run.out).toContain("live is paused by an operator. Go on with: hallumaze resume live");
  expect(await counts()).toEqual({ queued: 2000 });
});

it("one model alone goes on, then all; paused live, nothing more starts and what was done stays", async () => {
  await say("resume", "live", "--model", "broken");
  await ledger.reach(`state = 'failed' AND ${live}`, 400);
  expect(await counts()).toEqual({ failed: 400, queued: 1600 });
  await say("resume", "live");
  await ledger.reach(`state = 'done' AND ${live}`, 50);
  await say("pause", "live");
  await probe("second");
  const before = await counts();
  await probe("third-one");
  expect(await counts()).toEqual(before);
  expect(before["running"]).toBeUndefined();
  expect((before["done"] ?? 0) + (before["queued"] ?? 0)).toBe(1600);
});

it("retry puts back exactly what its selectors mean", async () => {
  // Of each seed of the broken model: 2 sizes × 2 groups × 2 × mirage × 2 languages = 16.
  let failed = 400;
  const retry = async (selected: number, ...selectors: readonly string[]) => {
    const before = await counts("broken");
    expect(before["failed"] ?? 0).toBe(failed);
    const report = await say("retry", "live", ...selectors);
    expect(report, selectors.join(" ")).toMatchObject({ requeued: selected });
    failed -= selected;
    expect(await counts("broken")).toEqual(
      Object.fromEntries(Object.entries({ failed, queued: 400 - failed }).filter(([, count]) => count > 0)),
    );
    return report;
  };
  await retry(80, "--failed", "--seeds", "1001,1002..1005");
  await retry(80, "--failed", "--size", "7", "--language", "en");
  await retry(60, "--failed", "--group", "C", "--no-mirage");
  await retry(40, "--failed", "--mirage", "--size", "5", "--group", "A", "--model", "broken");
  expect(await retry(0, "--outcome", "timeout")).toMatchObject({ err: expect.stringContaining("nothing is selected") });
  await retry(0, "--failed", "--since", "2999-01-01");
  await retry(0, "--failed", "--model", "keyword");
  await retry(140, "--outcome", "transient_server", "--since", "2h");
});

it("an unknown word is a usage error that names the nearest, and a result is not bought again", async () => {
  const refused = async (...words: readonly string[]) => {
    const held = await runHeld(words, { variables });
    expect(held, words.join(" ")).toMatchObject({ code: 2 });
    return held.err;
  };
  expect(await refused("retry", "live", "--outcome", "timeuot")).toContain('did you mean "timeout"');
  expect(await refused("retry", "live", "--failed", "--model", "brokn")).toContain('did you mean "broken"');
  expect(await refused("cancel", "live", "--group", "D")).toContain('unknown group "D"');
  expect(await refused("retry", "live", "--failed", "--seeds", "5..x")).toContain("expected numbers, ranges");
  expect(await refused("retry", "live", "--failed", "--since", "yesterday")).toContain("expected 30s, 90m");
  expect(await refused("retry", "live", "--outcome", "truncated")).toContain("is a result, not a failure");
  expect(await refused("retry", "live", "--size", "5")).toContain("say which trials");
  expect(await refused("lanes", "park", "sim.orakle")).toContain('did you mean "sim.oracle"');
  expect(await refused("lanes", "limit", "sim.oracle", "rmp=5")).toContain('did you mean "rpm"');
  expect(await refused("pause", "alive")).toContain('the nearest is "live"');
});

it("cancel ends what its selectors mean and leaves the rest; only retry brings it back", async () => {
  expect(
    await say("cancel", "live", "--model", "broken", "--seeds", "1001..1005", "--mirage", "--language", "ko"),
  ).toMatchObject({ cancelled: 20, ending: 0, judgements: 0 });
  expect(await counts("broken")).toEqual({ queued: 380, cancelled: 20 });
  expect(await say("cancel", "live", "--model", "broken")).toMatchObject({ cancelled: 380 });
  expect(await counts("broken")).toEqual({ cancelled: 400 });
  expect(await say("cancel", "live", "--model", "broken")).toMatchObject({
    cancelled: 0,
    err: expect.stringContaining("nothing is selected"),
  });
  await say("submit", spec);
  expect(await counts("broken")).toEqual({ cancelled: 400 });
  expect(await say("retry", "live", "--outcome", "cancelled", "--size", "5", "--group", "A")).toMatchObject({
    requeued: 100,
  });
  expect(await counts("broken")).toEqual({ queued: 100, cancelled: 300 });
});

it("lanes are parked, limited and let go while the sweep runs, and say so", async () => {
  const before = await counts("keyword");
  expect(await say("lanes", "park", "keyword", "--reason", "repairs", "--for", "2h")).toMatchObject({
    lane: "sim.keyword",
    blocked: before["queued"],
  });
  expect(await counts("keyword")).toMatchObject({ blocked: before["queued"] });
  expect((await status()).lanes.find(({ lane }) => lane === "sim.keyword")?.control).toMatchObject({
    parked: { reason: "parked by an operator: repairs" },
  });
  expect(await say("resume", "live")).toMatchObject({ err: expect.stringContaining("sim.keyword stays parked") });
  await ledger.reach(`state = 'done' AND alias = 'oracle' AND ${live}`, (before["done"] ?? 0) + 20);
  expect((await counts("keyword"))["blocked"]).toBe(before["queued"]);
  expect(await say("lanes", "resume", "sim.keyword")).toMatchObject({ wasParked: true });
  await ledger.reach(`state = 'done' AND alias = 'keyword' AND ${live}`, (before["done"] ?? 0) + 1);
  await say("lanes", "limit", "sim/keyword", "concurrency=1", "rpm=60000");
  const listed = await runHeld(["lanes", "live"], { variables });
  expect(listed.out).toContain("sim.keyword: rpm 60000, concurrency 1 by an operator");
  expect(await say("lanes", "limit", "sim/keyword", "--reset")).toMatchObject({ limits: {} });
});

it("prioritize is in force at once and shown; reconcile fills a queue that lost everything", async () => {
  expect(await say("prioritize", "live", "--priority", "5", "--weight", "2.5")).toMatchObject({
    priority: 5,
    weight: 2.5,
  });
  expect((await status()).sweep).toMatchObject({ priority: 5, weight: 2.5 });
  await say("prioritize", "live", "--reset");
  expect((await status()).sweep).toMatchObject({ priority: 0, weight: 1 });
  worker.kill("SIGTERM");
  expect(await worker.ended).toMatchObject({ code: 0 });
  const left = (await counts())["queued"] ?? 0;
  expect(left).toBeGreaterThan(0);
  await ledger.sql("TRUNCATE bullmq.job CASCADE");
  expect(await say("reconcile")).toMatchObject({ redelivered: left, reclaimed: 0 });
  expect(await say("reconcile")).toMatchObject({ redelivered: 0 });
});

it("cancelled whole while it runs, it ends; the same run says so and restarts nothing", async () => {
  worker = stage.start(["worker", "--role", "solve", "--concurrency", "8"]);
  await ledger.reach(`state = 'running' AND ${live}`, 1);
  const report = (await say("cancel", "live")) as { readonly cancelled?: number };
  expect(report.cancelled).toBeGreaterThan(0);
  await ledger.reach(`state IN ('done', 'failed', 'cancelled') AND ${live}`, 2000);
  const before = await counts();
  expect(Object.keys(before).filter((state) => !["done", "failed", "cancelled"].includes(state))).toEqual([]);
  const run = await stage.run(["run", spec, "--json"]);
  expect(run).toMatchObject({ code: 3 });
  expect(run.err).toContain("were cancelled by an operator and stay so");
  expect(await counts()).toEqual(before);
  expect(await ledger.books("live")).toMatchObject({ repeated: 0, lateDuplicates: 0 });
});
