import {
  comparisonView,
  gridView,
  leaderboardView,
  pairList,
  problem,
  sweepList,
  sweepView,
  trialView,
} from "@hallumaze/contract";
import type { ChatResult, SweepRecord } from "@hallumaze/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { expectAnswer, openPageStage, type PageStage } from "../test/page-stage.ts";

let stage: PageStage;
let done: SweepRecord;
let hinted: SweepRecord;

beforeAll(async () => {
  stage = await openPageStage();
  done = await stage.submit("finished sweep", {
    models: ["sim/dfs-honest", "sim/random-walk"],
    seeds: [1, 2, 3, 4],
    mirage: [true, false],
    budgetUsd: 5,
  });
  await stage.finish(done);
  hinted = await stage.submit("hinted", { models: ["sim/hint-taker"], seeds: ["1..6"], groups: ["A", "B"] });
  await stage.finish(hinted);
}, 120_000);
afterAll(() => stage.close());

const path = (rest = "", name = "finished sweep"): string => `/api/sweeps/${encodeURIComponent(name)}${rest}`;
const oneTrial = async (name = "finished sweep"): Promise<string> => {
  const { cells } = await expectAnswer(stage.call("GET", path("/grid", name)), 200, gridView);
  return cells.trialId[0] ?? "";
};

describe("every route that reads", () => {
  const routes = ["", "/grid", "/leaderboard", "/compare?a=sim/dfs-honest&b=sim/random-walk"];

  it.each(routes)("%s: 404 for an unknown name, whatever stands in it", async (route) => {
    for (const name of ["nobody", "../../etc/passwd", "' OR 1=1 --", "<script>", "\u202Eevil", "%00"]) {
      const told = await expectAnswer(stage.call("GET", path(route, name)), 404, problem);
      expect(told).toMatchObject({ code: "not-found" });
      expect(JSON.stringify(told)).not.toContain("script");
    }
  });

  it.each(routes)("%s: needs the token from elsewhere, under a foreign name, and for a foreign page", async (route) => {
    for (const given of [
      { address: "192.0.2.7" },
      { headers: { host: "rebound.example" } },
      { headers: { origin: "https://evil.example" } },
      { headers: { origin: "http://localhost:3000" } },
      { headers: { origin: "null" } },
      { headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" } },
    ]) {
      await expectAnswer(stage.call("GET", path(route), { token: null, ...given }), 401, problem);
      expect((await stage.call("GET", path(route), given)).status).toBe(200);
    }
    for (const headers of [{}, { origin: "http://localhost" }, { "sec-fetch-site": "same-origin" }]) {
      expect((await stage.call("GET", path(route), { token: null, headers })).status).toBe(200);
    }
  });

  it("refuses a query that it does not know, naming it", async () => {
    for (const route of ["/grid?metric=robust.secret", "/grid?shape=round", "/leaderboard?size=2", "/compare?a=x"]) {
      const told = await expectAnswer(stage.call("GET", path(route)), 400, problem);
      expect(told.errors?.length).toBeGreaterThan(0);
    }
  });

  it("stands in the OpenAPI document", async () => {
    const { paths } = (await (await stage.call("GET", "/openapi.json")).json()) as { readonly paths: object };
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        "/api/sweeps",
        "/api/sweeps/{name}",
        "/api/sweeps/{name}/grid",
        "/api/sweeps/{name}/pairs",
        "/api/sweeps/{name}/leaderboard",
        "/api/sweeps/{name}/compare",
        "/api/sweeps/{name}/retry",
        "/api/lanes/{lane}/park",
        "/api/trials/{trialId}",
        "/api/events",
      ]),
    );
  });
});

describe("sweeps", () => {
  it("are listed with their counts, oldest first", async () => {
    const { sweeps } = await expectAnswer(stage.call("GET", "/api/sweeps"), 200, sweepList);
    const shown = sweeps.filter(({ name }) => name === "finished sweep" || name === "hinted");
    expect(shown).toMatchObject([
      { name: "finished sweep", states: { done: 16, failed: 0 }, budgetUsd: "5", spentUsd: "0", rehearsal: false },
      { name: "hinted", states: { done: 12 }, budgetUsd: null },
    ]);
  });

  it("show what status shows, and no spec, no key", async () => {
    const response = await stage.call("GET", path());
    const text = await response.clone().text();
    const view = await expectAnswer(response, 200, sweepView);
    expect(view).toMatchObject({ name: "finished sweep", states: { done: 16 }, etaMs: 0, paused: null, failures: [] });
    expect(view.models.map(({ alias, states }) => [alias, states["done"]])).toEqual([
      ["sim/dfs-honest", 8],
      ["sim/random-walk", 8],
    ]);
    expect(view.lanes.map(({ lane, open }) => [lane, open])).toEqual([
      ["sim.dfs-honest", 0],
      ["sim.random-walk", 0],
    ]);
    expect(text).not.toMatch(/specJson|keyEnv|postgres:/);
  });
});

describe("the grid", () => {
  it("has every cell once, with its state, or a profile's number as the ledger has it", async () => {
    const states = await expectAnswer(stage.call("GET", path("/grid")), 200, gridView);
    expect(states.cells.trialId).toHaveLength(16);
    expect(new Set(states.cells.state.map((at) => states.states[at]))).toEqual(new Set(["done"]));
    const grid = await expectAnswer(stage.call("GET", path("/grid?metric=robust.mei")), 200, gridView);
    const known = new Map<string, number | undefined>();
    for await (const page of stage.house.store.streamTrials(done.sweepId, 100)) {
      for (const { trialId, scores } of page) known.set(trialId, scores.robust?.mei);
    }
    expect(new Map(grid.cells.trialId.map((id, at) => [id, grid.cells.value[at]]))).toEqual(known);
    expect(grid.range).toEqual({ lo: 0, hi: 1, better: "high" });
  });

  it("of 10,000 cells is answered within 60 MB and some seconds", async () => {
    const large = await stage.submit("large", { models: ["sim/oracle", "sim/silent"], seeds: ["1..5000"] });
    const call = () => expectAnswer(stage.call("GET", path("/grid?metric=seed.mei", "large")), 200, gridView);
    await call();
    const before = process.memoryUsage().rss;
    const startedMs = performance.now();
    const grid = await call();
    expect(performance.now() - startedMs).toBeLessThan(5000);
    expect(grid.cells.trialId).toHaveLength(10_000);
    expect(grid).toMatchObject({ truncated: false, range: null });
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
    await stage.house.store.cancelTrials(large.sweepId, {}, { now: true });
  });
});

describe("a trial", () => {
  it("is shown with what the ledger scored, each parsed line where it stands in the reply", async () => {
    const view = await expectAnswer(stage.call("GET", `/api/trials/${await oneTrial()}`), 200, trialView);
    expect(view).toMatchObject({ sweep: "finished sweep", kind: "model", state: "done", isReused: false });
    expect(view.profiles.every(({ isStored }) => isStored)).toBe(true);
    expect(view.exchanges).toMatchObject([{ reply: 0, outcome: null }]);
    const [line] = view.reading?.lines ?? [];
    expect(view.replies[0]?.text.slice(line?.span.start, line?.span.end)).toMatch(/^STEP 1\b/);
  });

  it("shows where its hint was given, and its whole conversation", async () => {
    const { cells } = await expectAnswer(stage.call("GET", path("/grid", "hinted")), 200, gridView);
    const views = await Promise.all(
      cells.trialId.map((id) => expectAnswer(stage.call("GET", `/api/trials/${id}`), 200, trialView)),
    );
    const talked = views.filter(({ group, replies }) => group === "B" && replies.length > 1);
    expect(talked.length).toBeGreaterThan(0);
    expect(talked.every(({ walk }) => walk?.steps.some(({ marks }) => marks.includes("hint")))).toBe(true);
    const shadows = views.filter(({ group, replies }) => group === "A" && replies.length > 1);
    expect(shadows.every(({ replies }) => replies[1]?.isScored === false)).toBe(true);
    expect(views.flatMap(({ profiles }) => profiles).every(({ isStored }) => isStored)).toBe(true);
  });

  it("that was taken over shows the answer of the sweep that has it", async () => {
    const again = await stage.submit("again", { models: ["sim/dfs-honest"], seeds: [1], mirage: [true] });
    await stage.finish(again);
    const view = await expectAnswer(stage.call("GET", `/api/trials/${await oneTrial("again")}`), 200, trialView);
    expect(view).toMatchObject({ sweep: "again", isReused: true });
    expect(view.replies).toHaveLength(1);
    expect(view.profiles.map(({ isStored }) => isStored)).toEqual([true, true, true]);
  });

  it("passes hostile text on as it came, as text", async () => {
    const hostile =
      '<script>alert(1)</script>\u0000\u202E \uD800 =HYPERLINK("x") <img src=x onerror=y>\nSTEP 1: (0,0) → S → (1,0)';
    const sweep = await stage.submit("hostile", { seeds: [77] });
    await stage.finish(sweep, { complete: async () => replyOf(hostile) });
    const response = await stage.call("GET", `/api/trials/${await oneTrial("hostile")}`);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    const view = await expectAnswer(response, 200, trialView);
    expect(view).toMatchObject({ state: "done", message: null });
    expect(view.replies[0]?.text).toBe(hostile);
    expect(view.reading?.lines).toHaveLength(1);
  });

  it("404 where there is none, 400 for what is no id", async () => {
    await expectAnswer(stage.call("GET", "/api/trials/00000000-0000-4000-8000-000000000000"), 404, problem);
    await expectAnswer(stage.call("GET", "/api/trials/no-such-trial"), 404, problem);
    for (const id of ["..%2F..%2Fetc", "%27%3B--", "%00"]) {
      await expectAnswer(stage.call("GET", `/api/trials/${id}`), 400, problem);
    }
  });

  it("lists the trials on its maze, mirage on and off first", async () => {
    const trial = await oneTrial();
    const { pairs } = await expectAnswer(stage.call("GET", path(`/pairs?trial=${trial}`)), 200, pairList);
    expect(pairs.map(({ relation }) => relation)).toEqual(["mirage", "model", "condition"]);
    await expectAnswer(stage.call("GET", path(`/pairs?trial=${trial}`, "hinted")), 404, problem);
  });
});

describe("the leaderboard", () => {
  it("ranks the models in each profile, with coverage and the way each interval was made", async () => {
    for (const profile of ["seed", "robust", "published"]) {
      const view = await expectAnswer(stage.call("GET", path(`/leaderboard?profile=${profile}`)), 200, leaderboardView);
      expect(view.rows.map(({ model, planned, mazes }) => [model, planned, mazes])).toEqual([
        ["sim/dfs-honest", 8, 4],
        ["sim/random-walk", 8, 4],
      ]);
      expect(view.rows[0]).toMatchObject({ rank: 1, coverage: 1, sr: { method: "wilson" } });
    }
    const some = await expectAnswer(stage.call("GET", path("/leaderboard?mirage=off")), 200, leaderboardView);
    expect(some.rows.map(({ planned }) => planned)).toEqual([4, 4]);
    expect(some.choices).toMatchObject({ sizes: [5], mirages: [false, true] });
  });

  it("compares two models on common mazes; an unknown one is 404, a metric that the profile lacks 422", async () => {
    const pair = "/compare?a=sim/dfs-honest&b=sim/random-walk";
    const view = await expectAnswer(stage.call("GET", path(pair)), 200, comparisonView);
    expect(view).toMatchObject({ mazes: 4, metric: "mei", profile: "robust" });
    await expectAnswer(stage.call("GET", path("/compare?a=sim/dfs-honest&b=nobody")), 404, problem);
    const lacks = await expectAnswer(stage.call("GET", path(`${pair}&metric=ce&profile=published`)), 422, problem);
    expect(lacks.code).toBe("no-such-metric");
  });
});

function replyOf(text: string): ChatResult {
  return {
    kind: "reply",
    text,
    reasoning: null,
    finishReason: "stop",
    rawBody: null,
    servedModel: null,
    usage: { inputTokens: null, outputTokens: null, cachedTokens: null, reasoningTokens: null },
    httpMs: 1,
    ttftMs: null,
    servedBy: null,
    nativeFinishReason: null,
    effectiveParams: {},
    limits: {},
    sideRequests: [],
  };
}
