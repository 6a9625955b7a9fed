import { laneReport, problem, steeringReport, sweepView } from "@hallumaze/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { expectAnswer, openPageStage, type PageStage } from "../test/page-stage.ts";

let stage: PageStage;

beforeAll(async () => {
  stage = await openPageStage();
}, 60_000);
afterAll(() => stage.close());

const change = (name: string, what: string, body: unknown = {}) =>
  stage.call("POST", `/api/sweeps/${name}/${what}`, { body });
const changeLane = (lane: string, what: string, body: unknown = {}) =>
  stage.call("POST", `/api/lanes/${encodeURIComponent(lane)}/${what}`, { body });
const statesOf = async (name: string) => {
  const { states } = await expectAnswer(stage.call("GET", `/api/sweeps/${name}`), 200, sweepView);
  return Object.fromEntries(Object.entries(states).filter(([, count]) => count > 0));
};

describe("every change", () => {
  const changes = [
    ["/api/sweeps/any/pause", {}],
    ["/api/sweeps/any/resume", {}],
    ["/api/sweeps/any/cancel", {}],
    ["/api/sweeps/any/retry", { failed: true }],
    ["/api/sweeps/any/prioritize", { priority: 1 }],
    ["/api/lanes/sim.oracle/park", {}],
    ["/api/lanes/sim.oracle/resume", {}],
    ["/api/lanes/sim.oracle/limit", { limits: { rpm: 5 } }],
  ] as const;

  it.each(changes)("%s needs the token, from this machine too, and no cookie stands for it", async (path, body) => {
    for (const given of [
      { token: null },
      { token: "another" },
      { token: null, headers: { cookie: "token=a-token-of-the-tests", origin: "http://localhost" } },
    ]) {
      await expectAnswer(stage.call("POST", path, { body, ...given }), 401, problem);
    }
    // A form of a foreign page can send no header of its own, and no JSON.
    const form = { token: null, body: "priority=1", headers: { "content-type": "application/x-www-form-urlencoded" } };
    await expectAnswer(stage.call("POST", path, form), 401, problem);
    expect(stage.changes).toEqual([]);
  });

  it.each(changes)("%s refuses a key that it does not know, and a body that is no JSON", async (path, body) => {
    await expectAnswer(stage.call("POST", path, { body: { ...body, everything: true } }), 400, problem);
    await expectAnswer(stage.call("POST", path, { body: "{" }), 400, problem);
    await expectAnswer(
      stage.call("POST", path, { body: JSON.stringify({ reason: "x".repeat(2_000_000) }) }),
      413,
      problem,
    );
  });

  it("404 for a sweep that is not there", async () => {
    for (const [path, body] of changes.slice(0, 5)) {
      await expectAnswer(stage.call("POST", path, { body }), 404, problem);
    }
  });
});

describe("a sweep", () => {
  it("is paused, resumed, cancelled and taken up again as by the commands", async () => {
    await stage.submit("steered", { models: ["sim/oracle", "sim/silent"], seeds: ["1..5"] });
    const paused = await expectAnswer(change("steered", "pause", { models: ["silent"] }), 200, steeringReport);
    expect(paused.paused?.models).toEqual(["sim/silent"]);
    const resumed = await expectAnswer(change("steered", "resume"), 200, steeringReport);
    expect(resumed).toMatchObject({ paused: null, requeued: 10 });
    const some = await expectAnswer(
      change("steered", "cancel", { models: ["sim/silent"], seeds: ["1..2"] }),
      200,
      steeringReport,
    );
    expect(some).toMatchObject({ cancelled: 2, ending: 0, nothing: null });
    expect(await statesOf("steered")).toEqual({ queued: 8, cancelled: 2 });
    const back = await expectAnswer(change("steered", "retry", { outcomes: ["cancelled"] }), 200, steeringReport);
    expect(back.requeued).toBe(2);
    expect(await statesOf("steered")).toEqual({ queued: 10 });
    expect(stage.changes).toEqual(
      expect.arrayContaining(["sweep paused", "sweep resumed", "trials cancelled", "trials put back"]),
    );
  });

  it("gets another priority and weight, over its spec until reset", async () => {
    await stage.submit("ranked");
    const ranked = await expectAnswer(change("ranked", "prioritize", { priority: 5, weight: 2 }), 200, steeringReport);
    expect(ranked).toMatchObject({ priority: 5, weight: 2, requeued: 2 });
    const reset = await expectAnswer(change("ranked", "prioritize", { reset: true }), 200, steeringReport);
    expect(reset).toMatchObject({ priority: 0, weight: 1 });
    await expectAnswer(change("ranked", "prioritize"), 400, problem);
    await expectAnswer(change("ranked", "prioritize", { priority: 11 }), 400, problem);
  });

  it("is refused in the commands' words: an unknown model with the nearest, an answer as a failure, a retry of nothing named", async () => {
    await stage.submit("refusing");
    const refused = async (what: string, body: unknown) =>
      (await expectAnswer(change("refusing", what, body), 422, problem)).detail;
    expect(await refused("pause", { models: ["dfs-honset"] })).toContain('did you mean "dfs-honest"?');
    expect(await refused("retry", { outcomes: ["empty"] })).toContain("is a result, not a failure");
    expect(await refused("retry", {})).toContain("say which trials");
    expect(await refused("retry", { failed: true, since: "soon" })).toContain("is no time");
    expect(await refused("cancel", { outcomes: ["timeuot"] })).toContain('did you mean "timeout"?');
  });

  it("says so where nothing was selected: that would look like success", async () => {
    await stage.submit("empty");
    const report = await expectAnswer(change("empty", "retry", { failed: true }), 200, steeringReport);
    expect(report).toMatchObject({ requeued: 0, nothing: "failed trial" });
  });
});

describe("a lane", () => {
  it("is parked with a reason and for a time, shown so, and goes on", async () => {
    await stage.submit("laned", { models: ["sim/oracle"], seeds: ["100..103"] });
    const parked = await expectAnswer(
      changeLane("sim/oracle", "park", { reason: "key is <b>changed</b>", for: "2h" }),
      200,
      laneReport,
    );
    expect(parked.lanes).toMatchObject([{ lane: "sim.oracle", parked: true }]);
    const view = await expectAnswer(stage.call("GET", "/api/sweeps/laned"), 200, sweepView);
    expect(view.lanes[0]?.control?.parked?.reason).toContain("key is <b>changed</b>");
    const resumed = await expectAnswer(changeLane("sim.oracle", "resume"), 200, laneReport);
    expect(resumed.lanes).toMatchObject([{ lane: "sim.oracle", wasParked: true }]);
  });

  it("is limited over every spec, until reset", async () => {
    await stage.submit("limited", { models: ["sim/silent"] });
    await expectAnswer(changeLane("sim.silent", "limit", { limits: { rpm: 50, concurrency: 2 } }), 200, laneReport);
    const limits = async () =>
      (await expectAnswer(stage.call("GET", "/api/sweeps/limited"), 200, sweepView)).lanes[0]?.limits;
    expect(await limits()).toMatchObject({ rpm: 50, concurrency: 2 });
    await expectAnswer(changeLane("sim.silent", "limit", { reset: true }), 200, laneReport);
    expect(await limits()).not.toHaveProperty("rpm");
    for (const body of [{}, { limits: {} }, { limits: { rpm: 5 }, reset: true }, { limits: { rpm: 0 } }]) {
      await expectAnswer(changeLane("sim.silent", "limit", body), 400, problem);
    }
  });

  it("that is not known is refused with the nearest, whatever the word", async () => {
    const refused = await expectAnswer(changeLane("sim.orakle", "park"), 422, problem);
    expect(refused.detail).toContain('did you mean "sim.oracle"?');
    await expectAnswer(changeLane("../../x\u0000", "park"), 422, problem);
    await expectAnswer(changeLane("sim.oracle", "park", { for: "soon" }), 400, problem);
  });
});
