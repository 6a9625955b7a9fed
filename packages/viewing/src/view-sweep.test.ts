import { sweepSummary, sweepView } from "@hallumaze/contract";
import type { ModelProgress, SweepProgress, SweepRecord } from "@hallumaze/engine";
import { describe, expect, it } from "vitest";

import { type LaneState, type SweepParts, viewSummary, viewSweep } from "./view-sweep.ts";

const sweep: SweepRecord = {
  sweepId: "id",
  name: "night",
  specJson: '{"secret":"sk-abcdef"}',
  createdAtMs: 1000,
  estimate: null,
  paused: null,
  cancelledAtMs: null,
  priority: 0,
  weight: 1,
};
const states = { planned: 0, queued: 0, running: 0, done: 0, failed: 0, cancelled: 0, blocked: 0 };
const model = (change: Partial<ModelProgress>): ModelProgress => ({
  alias: "m",
  lane: "sim.m",
  states,
  reused: 0,
  outcomes: {},
  finishedPerSecond: 0,
  costUsd: null,
  costUnknown: 0,
  requests: 0,
  followUps: 0,
  failedRequests: 0,
  limiterMs: 0,
  ...change,
});
const lane = (name: string): LaneState => ({
  lane: name,
  depth: { waiting: 0, active: 0, delayed: 0 },
  limits: { rpm: 50 },
  use: null,
  control: null,
});
const partsOf = (models: readonly ModelProgress[], change: Partial<SweepProgress> = {}): SweepParts => ({
  progress: {
    sweep,
    models,
    failures: [],
    leftGrid: 0,
    lateDuplicates: 0,
    money: {
      budgetUsd: "20",
      spentUsd: "1.5",
      open: { count: 0, boundUsd: "0" },
      lost: { count: 0, boundUsd: "0", unpriced: 0 },
    },
    ...change,
  },
  lanes: [...new Set(models.map((one) => one.lane))].map(lane),
  judges: { states: {}, unscored: 0, failures: [] },
  findings: [],
  findingsScope: null,
  firstFailures: [{ alias: "m", outcome: "timeout", trialId: "t1" }],
  nowMs: 5000,
});

describe("a sweep's page", () => {
  it("waits for its slowest lane, over the models in it", () => {
    const fast = model({ alias: "a", lane: "x", states: { ...states, queued: 10 }, finishedPerSecond: 2 });
    const slow = model({ alias: "b", lane: "y", states: { ...states, running: 4 }, finishedPerSecond: 0.5 });
    const more = model({ alias: "c", lane: "y", states: { ...states, planned: 6 }, finishedPerSecond: 0.5 });
    const view = viewSweep(partsOf([fast, slow, more]));
    expect(sweepView.parse(view)).toEqual(view);
    expect(view.lanes.map(({ lane: name, open, etaMs }) => [name, open, etaMs])).toEqual([
      ["x", 10, 5000],
      ["y", 10, 10_000],
    ]);
    expect(view.etaMs).toBe(10_000);
  });

  it("knows no time where a lane with work stands still, and none is left where all is done", () => {
    const still = model({ lane: "x", states: { ...states, queued: 1 } });
    const done = model({ alias: "d", lane: "y", states: { ...states, done: 9 } });
    expect(viewSweep(partsOf([still, done])).etaMs).toBeNull();
    expect(viewSweep(partsOf([done])).etaMs).toBe(0);
  });

  it("names the first trial of each kind of failure, and holds nothing of the spec", () => {
    const failures = [
      { alias: "m", outcome: "timeout", count: 2, firstMessage: "no reply" },
      { alias: "m", outcome: "lane_parked", count: 1, firstMessage: "" },
    ];
    const view = viewSweep(partsOf([model({})], { failures }));
    expect(view.failures.map(({ firstTrialId }) => firstTrialId)).toEqual(["t1", null]);
    expect(JSON.stringify(view)).not.toContain("sk-");
  });
});

it("a sweep without counts is one without trials", () => {
  const view = viewSummary({ ...sweep, paused: { sinceMs: 7, models: ["m"] } }, null);
  expect(sweepSummary.parse(view)).toEqual(view);
  expect(view).toMatchObject({ states, spentUsd: "0", budgetUsd: null, paused: { sinceMs: 7, models: ["m"] } });
});
