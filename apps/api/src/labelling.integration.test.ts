import {
  agreementView,
  calibrationList,
  disagreementList,
  gateList,
  labellingDrawn,
  labellingView,
  labelReport,
  pairList,
  peopleMaze,
  peopleTrialCreated,
  problem,
  trialView,
} from "@hallumaze/contract";
import { goldItemId, parseGoldSet } from "@hallumaze/judge";
import { generateMaze } from "@hallumaze/maze";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { openingCalibration } from "../test/api-stage.ts";
import { expectAnswer, openPageStage, type PageStage } from "../test/page-stage.ts";

let stage: PageStage;

beforeAll(async () => {
  stage = await openPageStage();
  await stage.finish(await stage.submit("labelled", { seeds: [1, 2, 3] }));
}, 60_000);
afterAll(() => stage.close());

describe("labelling", () => {
  const next = (rater: string) =>
    expectAnswer(stage.call("GET", `/api/labelling/labelled?rater=${rater}`), 200, labellingView);
  const say = (rater: string, itemId: string, level: number) =>
    expectAnswer(
      stage.call("POST", "/api/labelling/labelled/labels", { body: { rater, itemId, level } }),
      200,
      labelReport,
    );
  const labelAll = async (rater: string, level: number): Promise<void> => {
    for (let { item } = await next(rater); item !== null; { item } = await next(rater)) {
      await say(rater, item.itemId, level);
    }
  };
  const agreement = () => expectAnswer(stage.call("GET", "/api/labelling/labelled/agreement"), 200, agreementView);

  it("is of a set that is drawn once, with the token, and stays as it was drawn", async () => {
    const early = await expectAnswer(stage.call("GET", "/api/labelling/labelled?rater=ann"), 409, problem);
    expect(early.code).toBe("not-drawn");
    await expectAnswer(stage.call("POST", "/api/labelling/labelled", { body: {}, token: null }), 401, problem);
    await expectAnswer(stage.call("POST", "/api/labelling/nobody", { body: {} }), 404, problem);
    const draw = () => expectAnswer(stage.call("POST", "/api/labelling/labelled", { body: {} }), 200, labellingDrawn);
    expect(await draw()).toEqual({ set: "labelled", total: 3 });
    const first = await next("ann");
    await stage.finish(await stage.submit("labelled", { seeds: [1, 2, 3, 4, 5] }));
    expect(await draw()).toEqual({ set: "labelled", total: 3 });
    expect((await next("ann")).item).toEqual(first.item);
  });

  it("is blind: same items in the same order for each, no agreement and no gold set before two have finished", async () => {
    const [forAnn, forBen] = [await next("ann"), await next("ben")];
    expect(forAnn.item).toEqual(forBen.item);
    expect(JSON.stringify(forAnn.item)).not.toMatch(/dfs-honest|Seed:/);
    await labelAll("ann", 2);
    expect(await next("ann")).toMatchObject({ done: 3, total: 3, item: null });
    expect((await next("ben")).item).toEqual(forBen.item);
    expect(await agreement()).toMatchObject({ isComplete: false, agreement: null });
    const gold = await expectAnswer(stage.call("GET", "/api/labelling/labelled/gold.jsonl"), 409, problem);
    expect(gold.code).toBe("labelling-under-way");
  });

  it("ends with the raters' agreement and a gold set that judge calibrate reads; a second word replaces the first", async () => {
    const { item } = await next("ben");
    expect(await say("ben", item?.itemId ?? "", 1)).toEqual({ done: 1, total: 3 });
    expect(await say("ben", item?.itemId ?? "", 3)).toEqual({ done: 1, total: 3 });
    await labelAll("ben", 2);
    const shown = await agreement();
    expect(shown).toMatchObject({ isComplete: true, agreement: { items: 3, agreed: 2 } });
    expect(shown.agreement?.differing[0]?.itemId).toBe(item?.itemId);
    const text = await (await stage.call("GET", "/api/labelling/labelled/gold.jsonl")).text();
    const { items, ties, problems } = parseGoldSet(text);
    expect([items.length, ties.length, problems]).toEqual([2, 1, []]);
  });

  it("refuses items of another set, levels that are none, and names that are none", async () => {
    const post = (body: object) => stage.call("POST", "/api/labelling/labelled/labels", { body });
    const label = { rater: "ann", itemId: "00000000-0000-4000-8000-000000000000", level: 1 };
    expect((await expectAnswer(post(label), 404, problem)).code).toBe("not-found");
    expect((await expectAnswer(post({ ...label, itemId: "'; --" }), 404, problem)).code).toBe("not-found");
    for (const bad of [{ level: 4 }, { level: "L1" }, { rater: "<b>" }, { rater: "" }, { model: "gpt" }]) {
      expect((await post({ ...label, ...bad })).status).toBe(400);
    }
    expect((await stage.call("GET", "/api/labelling/labelled?rater=%00")).status).toBe(400);
  });
});

describe("people", () => {
  const query = "size=5&seed=2&mirage=on&language=en";
  const walkOf = (size: number, seed: number) => {
    const { solution } = generateMaze({ size, seed });
    const steps = solution.slice(0, -1).map((from, at) => {
      const [row, col] = solution[at + 1] ?? from;
      const dir = row > from[0] ? "S" : row < from[0] ? "N" : col > from[1] ? "E" : "W";
      return { from, dir, confidence: 0.8 };
    });
    return {
      participant: "Ann",
      size,
      seed,
      mirage: true,
      language: "en",
      confidence: true,
      steps,
      finalPath: solution,
      latencyMs: 60_000,
    };
  };

  it("get the maze that a model gets, without its solution", async () => {
    const maze = await expectAnswer(stage.call("GET", `/api/people/maze?${query}`), 200, peopleMaze);
    expect(maze).toMatchObject({ size: 5, seed: 2, mirage: true });
    for (const bad of ["size=2&seed=2", "size=5&seed=-1", "size=1000&seed=1", "size=5", `${query}&cheat=1`]) {
      expect((await stage.call("GET", `/api/people/maze?${bad}`)).status).toBe(400);
    }
  });

  it("have their walk kept as a trial, shown as a model's, and beside the models of its maze", async () => {
    const post = () => stage.call("POST", "/api/people/trials", { body: walkOf(5, 2) });
    const kept = await expectAnswer(post(), 201, peopleTrialCreated);
    expect(kept).toMatchObject({ outcome: "ok", sr: 1 });
    expect(await expectAnswer(post(), 201, peopleTrialCreated)).toEqual(kept);
    const view = await expectAnswer(stage.call("GET", `/api/trials/${kept.trialId}`), 200, trialView);
    expect(view).toMatchObject({ kind: "human", model: "Ann", sweep: null, walk: { counts: { sr: 1 } } });
    expect(view.profiles.every(({ isStored }) => isStored)).toBe(true);
    const pairs = await expectAnswer(
      stage.call("GET", `/api/sweeps/labelled/pairs?trial=${kept.trialId}`),
      200,
      pairList,
    );
    expect(pairs.pairs).toMatchObject([{ model: "sim/dfs-honest", relation: "model" }]);
    const [model] = pairs.pairs;
    const back = await expectAnswer(
      stage.call("GET", `/api/sweeps/labelled/pairs?trial=${model?.trialId}`),
      200,
      pairList,
    );
    expect(back.pairs).toMatchObject([{ relation: "human", trialId: kept.trialId, model: "Ann", sr: 1 }]);
  });

  it("need the token to keep a walk, and a walk that is one", async () => {
    const walk = walkOf(5, 2);
    const post = (body: object, token?: null) =>
      stage.call("POST", "/api/people/trials", { body, ...(token === undefined ? {} : { token }) });
    expect((await post(walk, null)).status).toBe(401);
    for (const bad of [{ participant: "=cmd()" }, { steps: [] }, { size: 4000 }, { latencyMs: -1 }, { score: 1 }]) {
      expect((await post({ ...walk, ...bad })).status).toBe(400);
    }
  });

  it("404 for a person's trial that is not there", async () => {
    const id = "human-00000000-0000-4000-8000-000000000000-1";
    expect((await expectAnswer(stage.call("GET", `/api/trials/${id}`), 404, problem)).code).toBe("not-found");
  });
});

describe("judges", () => {
  it("have nothing to show before the first calibration", async () => {
    expect(await expectAnswer(stage.call("GET", "/api/judge/calibrations"), 200, calibrationList)).toEqual({
      calibrations: [],
    });
    const none = await expectAnswer(stage.call("GET", "/api/judge/disagreements"), 200, disagreementList);
    expect(none).toEqual({ calibrationId: null, disagreements: [] });
  });

  it("show their calibrations, newest first, and their gate", async () => {
    await stage.house.store.addCalibration(openingCalibration());
    await stage.house.store.addCalibration(openingCalibration({ open: false, refusals: ["Too few."], items: 40 }));
    const { calibrations } = await expectAnswer(stage.call("GET", "/api/judge/calibrations"), 200, calibrationList);
    expect(calibrations.map(({ open, items }) => [open, items])).toEqual([
      [false, 40],
      [true, 54],
    ]);
    const { gates, service } = await expectAnswer(stage.call("GET", "/api/judge/gate"), 200, gateList);
    expect(service).toBe("sim/judge");
    expect(gates).toMatchObject([{ judge: { judgeModel: "sim/judge" }, open: false, refusals: ["Too few."] }]);
    const id = calibrations[1]?.calibrationId;
    const asked = await expectAnswer(
      stage.call("GET", `/api/judge/disagreements?calibration=${id}`),
      200,
      disagreementList,
    );
    expect(asked.calibrationId).toBe(id);
    const unknown = "/api/judge/disagreements?calibration=00000000-0000-4000-8000-000000000000";
    expect((await expectAnswer(stage.call("GET", unknown), 404, problem)).code).toBe("not-found");
  });

  it("show the texts on which they differ from people, where the ledger has them", async () => {
    const scenario = { prompt: "Why?", expectedL3: "Because.", criteriaL1: null, criteriaL2: null };
    const item = { scenario, response: "<script>So.</script>" };
    await stage.house.store.goldResults("texts", [item]);
    const id = goldItemId(item);
    const told = { line: 1, human: 1, judge: 3, repeats: [3], confidence: 0.9, unscoredReason: null, excerpt: "…" };
    const reportJson = JSON.stringify({ disagreements: [{ id, ...told }] });
    await stage.house.store.addCalibration(openingCalibration({ goldSetId: "texts", reportJson }));
    const { disagreements } = await expectAnswer(stage.call("GET", "/api/judge/disagreements"), 200, disagreementList);
    expect(disagreements).toMatchObject([{ human: 1, judge: 3, prompt: "Why?", response: "<script>So.</script>" }]);
  });
});
