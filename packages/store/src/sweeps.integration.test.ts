import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  cell,
  claim,
  collect,
  done,
  exchange,
  finish,
  only,
  openStage,
  type Stage,
  submit,
  submitOne,
} from "../test/ledger-stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const statesOf = async (sweepId: string) => only((await stage.store.progress(sweepId)).models).states;

describe("openSweep", () => {
  it("finds the sweep of that name again and keeps every submission's spec and provenance", async () => {
    const first = await submit(stage.store, "twice\u0000", [], { specJson: '{"v":1}' });
    const second = await submit(stage.store, "twice\u0000", [], { specJson: '{"v":2}' });
    expect(second.sweep).toEqual({ ...first.sweep, specJson: '{"v":2}' });
    expect(await stage.store.findSweep("twice\u0000")).toEqual(second.sweep);
    expect(await stage.store.listSweeps()).toContainEqual(second.sweep);
    const kept = await stage.sql("SELECT spec_json FROM submissions WHERE sweep_id = $1 ORDER BY id", [
      first.sweep.sweepId,
    ]);
    expect(kept.map((row) => row["spec_json"])).toEqual(['{"v":1}', '{"v":2}']);
    expect(await stage.store.findSweep("never submitted")).toBeNull();
  });
});

describe("insertCells", () => {
  it("adds nothing twice, whoever submits and however often", async () => {
    const cells = ["a", "b", "c"].map((name, ordinal) => cell(`once ${name}`, { ordinal }));
    const { sweep } = await submit(stage.store, "once", cells);
    const other = await stage.openAnother();
    const revision = await stage.store.beginGrid(sweep.sweepId);
    const reports = await Promise.all([
      stage.store.insertCells(sweep.sweepId, revision, [...cells, cell("once d"), cell("once d")]),
      other.insertCells(sweep.sweepId, revision, [...cells.toReversed(), cell("once d")]),
    ]);
    expect(reports).toContainEqual({ inserted: 1, existing: 3, reused: 0 });
    expect(reports).toContainEqual({ inserted: 0, existing: 4, reused: 0 });
    expect(await stage.store.closeGrid(sweep.sweepId, revision)).toBe(0);
    expect(await stage.store.insertCells(sweep.sweepId, revision, [])).toEqual({ inserted: 0, existing: 0, reused: 0 });
  });

  it("takes over finished answers of other sweeps, with their scores and reply, and runs them no more", async () => {
    await finish(stage.store, await submitOne(stage.store, "seller", "sold"), 0.3);
    const { sweep, queued } = await submit(stage.store, "buyer", [cell("sold", { alias: "mine" }), cell("unsold")]);
    expect(queued).toHaveLength(1);
    const [unsold, sold] = await collect(stage.store.streamTrials(sweep.sweepId, 1));
    expect(unsold).toMatchObject({ cellId: "unsold", state: "queued", reused: false, scores: {}, usage: null });
    expect(sold).toMatchObject({ alias: "mine", state: "done", outcome: "ok", reused: true, latencyMs: 250 });
    expect(sold?.scores.robust?.score).toBe(0.3);
    expect(await collect(stage.store.streamReplies(sweep.sweepId, 10))).toMatchObject([
      { replies: [{ text: "FINAL_PATH: (0,0)" }] },
    ]);
  });

  it("takes over through a chain of sweeps from the one that has the exchange", async () => {
    await finish(stage.store, await submitOne(stage.store, "chain 1", "link"), 0.6);
    await submit(stage.store, "chain 2", [cell("link")]);
    const { sweep } = await submit(stage.store, "chain 3", [cell("link")]);
    expect(only(await collect(stage.store.streamTrials(sweep.sweepId, 10))).scores.seed?.score).toBe(0.6);
  });

  it("buys again where the sweep is fresh, and never takes over what has failed", async () => {
    const failing = await submitOne(stage.store, "failing", "shared cell");
    const held = await claim(stage.store, failing);
    await stage.store.endTry(held.trialId, held.fence, { kind: "failed", outcome: "bad_request", message: "no" });
    expect((await submit(stage.store, "after failure", [cell("shared cell")])).queued).toHaveLength(1);
    await finish(stage.store, await submitOne(stage.store, "first buyer", "bought"));
    expect((await submit(stage.store, "fresh buyer", [cell("bought")], { fresh: true })).queued).toHaveLength(1);
  });

  it("keeps the rows that a changed grid leaves out, does not run them, and takes them back unchanged", async () => {
    const [left, stays, comes] = ["left", "stays", "comes"].map((name) => cell(`grid ${name}`));
    if (left === undefined || stays === undefined || comes === undefined) throw new Error("three cells");
    const { sweep, queued } = await submit(stage.store, "grid", [left, stays]);
    const leaving = queued.find((trial) => trial.trialId !== undefined && trial === queued[0]);
    await submit(stage.store, "grid", [comes]);
    expect((await stage.store.progress(sweep.sweepId)).leftGrid).toBe(2);
    expect(await statesOf(sweep.sweepId)).toMatchObject({ queued: 1, planned: 0 });
    expect(await stage.store.claim({ ...(leaving ?? only([])), workerId: "host/1/1", leaseMs: 1000 })).toEqual({
      kind: "nothing",
    });
    expect(await collect(stage.store.listOpen("sim.dfs", 1000))).not.toContainEqual(expect.objectContaining(leaving));
    const again = await submit(stage.store, "grid", [left, stays, comes]);
    expect(again.queued).toEqual([]);
    expect(await statesOf(sweep.sweepId)).toMatchObject({ queued: 3 });
  });

  it("refuses a sweep that does not exist", async () => {
    await expect(stage.store.beginGrid("00000000-0000-4000-8000-000000000000")).rejects.toMatchObject({
      code: "sweep-unknown",
    });
    await expect(stage.store.progress("17")).rejects.toMatchObject({ code: "sweep-unknown" });
  });
});

describe("findAnswered", () => {
  it("tells what this sweep has answered, what another has, and what is known here", async () => {
    await finish(stage.store, await submitOne(stage.store, "elsewhere", "answered elsewhere"));
    const { queued } = await submit(stage.store, "here", [cell("answered here"), cell("open here")]);
    await finish(stage.store, queued[0] ?? only([]));
    const here = await collect(stage.store.streamTrials((await stage.store.findSweep("here"))?.sweepId ?? "", 10));
    const answered = here.find((trial) => trial.state === "done")?.cellId ?? "";
    const ids = ["answered here", "open here", "answered elsewhere", "never seen"];
    expect(await stage.store.findAnswered("here", ids)).toEqual({
      inSweep: [answered],
      elsewhere: ["answered elsewhere"],
      known: ["answered here", "open here"],
    });
    expect(await stage.store.findAnswered("not yet submitted", ids)).toMatchObject({ inSweep: [], known: [] });
  });
});

describe("listPlanned, listOpen and listOpenLanes", () => {
  it("give trials in lane and ordinal order, in pages of any size, with what each has to wait", async () => {
    const lanes = ["b.two", "a.one"];
    const cells = lanes.flatMap((lane) => [2, 0, 1].map((ordinal) => cell(`${lane} ${ordinal}`, { lane, ordinal })));
    const { sweep, queued } = await submit(stage.store, "order", cells);
    expect(queued.map((trial) => trial.lane)).toEqual(["a.one", "a.one", "a.one", "b.two", "b.two", "b.two"]);
    const held = await claim(stage.store, queued[0] ?? only([]));
    await stage.store.endTry(held.trialId, held.fence, {
      kind: "retry",
      outcome: "timeout",
      message: "",
      afterMs: 5000,
      spends: "try",
    });
    for (const pageSize of [1, 2, 100]) {
      const open = await collect(stage.store.listOpen("a.one", pageSize));
      expect(open.map((trial) => trial.trialId)).toEqual(queued.slice(0, 3).map((trial) => trial.trialId));
      expect(open.map((trial) => trial.delayMs > 0)).toEqual([true, false, false]);
    }
    expect(await stage.store.listOpenLanes(sweep.sweepId)).toEqual([
      { lane: "a.one", open: 3 },
      { lane: "b.two", open: 3 },
    ]);
    expect(await stage.store.listOpenLanes(null)).toContainEqual({ lane: "b.two", open: 3 });
    await stage.store.markQueued(["17"]);
  });
});

describe("requeue", () => {
  it("puts back exactly the selected failures, with a full new budget and a new generation", async () => {
    const cells = [5, 7].flatMap((size) =>
      ["a", "b"].map((alias) => cell(`retry ${size} ${alias}`, { alias, plan: { size } })),
    );
    const { sweep, queued } = await submit(stage.store, "retry", cells);
    for (const trial of queued) {
      const first = await claim(stage.store, trial);
      await stage.store.endTry(trial.trialId, first.fence, {
        kind: "retry",
        outcome: "timeout",
        message: "",
        afterMs: 0,
        spends: "try",
      });
      const second = await claim(stage.store, trial);
      await stage.store.endTry(trial.trialId, second.fence, { kind: "failed", outcome: "timeout", message: "" });
    }
    expect(await stage.store.requeue(sweep.sweepId, { outcomes: ["overloaded"] })).toEqual([]);
    expect(await stage.store.requeue(sweep.sweepId, { states: ["cancelled", "done"] })).toEqual([]);
    expect(await stage.store.requeue(sweep.sweepId, { models: ["sim/other"] })).toEqual([]);
    const back = only(
      await stage.store.requeue(sweep.sweepId, {
        states: ["failed"],
        outcomes: ["timeout"],
        models: ["b"],
        sizes: [7],
      }),
    );
    const chosen = (await collect(stage.store.streamTrials(sweep.sweepId, 10))).find(
      (trial) => trial.trialId === back.trialId,
    );
    expect(chosen).toMatchObject({ alias: "b", plan: { size: 7 }, state: "queued", tries: 0, outcome: null });
    expect(back.generation).toBe(1);
    const held = await claim(stage.store, back);
    expect(held).toMatchObject({ tries: 0, emptyRetries: 0, waits: 0, recorded: [] });
    expect(await stage.store.requeue(sweep.sweepId, { models: ["dfs-honest"] })).toHaveLength(3);
  });
});

describe("streamTrials", () => {
  it("gives every trial once in a fixed order, whatever the page size", async () => {
    const cells = ["B", "a"].flatMap((alias) =>
      [11, 5].flatMap((size) =>
        [3, 1].flatMap((seed) =>
          [true, false].map((mirage) =>
            cell(`${alias} ${size} ${seed} ${mirage}`, { alias, plan: { size, seed, mirage } }),
          ),
        ),
      ),
    );
    const { sweep } = await submit(stage.store, "pages", cells);
    const expected = ["B", "a"].flatMap((alias) =>
      [5, 11].flatMap((size) =>
        [1, 3].flatMap((seed) => [false, true].map((mirage) => `${alias} ${size} ${seed} ${mirage}`)),
      ),
    );
    for (const pageSize of [1, 3, 100]) {
      const rows = await collect(stage.store.streamTrials(sweep.sweepId, pageSize));
      expect(rows.map((row) => row.cellId)).toEqual(expected);
    }
    expect(await collect(stage.store.streamTrials("17", 10))).toEqual([]);
  });
});

describe("repliesOf", () => {
  it("gives of the trials named those that have an answer, as streamReplies gives them", async () => {
    const cells = ["c", "a", "b", "open"].map((alias) => cell(`named ${alias}`, { alias }));
    const { sweep, queued } = await submit(stage.store, "named", cells);
    for (const trial of queued.slice(0, 3)) await finish(stage.store, trial);
    const all = await collect(stage.store.streamReplies(sweep.sweepId, 10));
    expect(all).toHaveLength(3);
    const named = [...queued.map(({ trialId }) => trialId).toReversed(), "17"];
    expect(await stage.store.repliesOf(named)).toEqual(all);
    expect(await stage.store.repliesOf([all[1]?.trialId ?? ""])).toEqual([all[1]]);
    expect(await stage.store.repliesOf([])).toEqual([]);
  });
});

describe("streamTrials in part", () => {
  it("gives of a reading its walk and Ariadne record as they are, whole what the database cannot take apart, and scores alone", async () => {
    const readings = [
      '{"outcome":"ok","claims":[1],"walk":{"mirageResistance":0.5,"solutionMovesReached":3},"ariadne":{"turns":[]}}',
      '{"outcome":"ok"}',
      '{"outcome":"ok","said":"\\u0000 \\ud800","walk":{"mirageResistance":null,"solutionMovesReached":1}}',
      "\u0000 no JSON",
    ];
    const cells = readings.map((_, place) => cell(`walk ${place}`, { alias: `m${place}`, ordinal: place }));
    const { sweep, queued } = await submit(stage.store, "walks", cells);
    for (const [at, trial] of queued.entries()) {
      const held = await claim(stage.store, trial);
      await stage.store.recordExchange(exchange(held));
      const { scored, ...end } = done();
      const told = { ...end, scored: { ...scored, readingJson: readings[at] ?? "" } };
      expect(await stage.store.endTry(trial.trialId, held.fence, told)).toBe("ended");
    }
    const rows = await collect(stage.store.streamTrials(sweep.sweepId, 10, "walk"));
    expect(rows.map(({ readingJson }) => readingJson)).toEqual([
      '{"walk" : {"mirageResistance":0.5,"solutionMovesReached":3}, "ariadne" : {"turns":[]}}',
      '{"walk" : null, "ariadne" : null}',
      readings[2],
      readings[3],
    ]);
    const whole = await collect(stage.store.streamTrials(sweep.sweepId, 10));
    expect(whole.map(({ readingJson }) => readingJson)).toEqual(readings);
    expect(rows.map((row) => ({ ...row, readingJson: null }))).toEqual(
      whole.map((row) => ({ ...row, readingJson: null })),
    );
    const untold = {
      readingJson: null,
      usage: null,
      servedModel: null,
      costUsd: null,
      latencyMs: null,
      finishedAtMs: null,
    };
    const scores = await collect(stage.store.streamTrials(sweep.sweepId, 10, "scores"));
    expect(scores).toEqual(whole.map((row) => ({ ...row, ...untold })));
  });
});

describe("saveScores", () => {
  it("adds the numbers of a new reader, shows the newest, and leaves the sweep they came from alone", async () => {
    await finish(stage.store, await submitOne(stage.store, "source", "rescored"), 0.1);
    const { sweep } = await submit(stage.store, "taker", [cell("rescored")]);
    const reply = only(await collect(stage.store.streamReplies(sweep.sweepId, 10)));
    const { scored } = done(0.9, "2");
    await stage.store.saveScores([{ trialId: reply.trialId, scored: { ...scored, outcome: "truncated" } }]);
    await stage.store.saveScores([{ trialId: reply.trialId, scored: { ...scored, outcome: "truncated" } }]);
    const taken = only(await collect(stage.store.streamTrials(sweep.sweepId, 10)));
    expect(taken).toMatchObject({ outcome: "truncated", scores: { seed: { score: 0.9 } } });
    const source = await stage.store.findSweep("source");
    const original = only(await collect(stage.store.streamTrials(source?.sweepId ?? "", 10)));
    expect(original).toMatchObject({ outcome: "ok", scores: { seed: { score: 0.1 } } });
  });
});

describe("progress", () => {
  it("counts by model, state and outcome, with the speed of the last minute and the first message of each failure", async () => {
    const cells = ["one", "two", "three"].map((name, ordinal) => cell(`count ${name}`, { ordinal }));
    const { sweep, queued } = await submit(stage.store, "count", cells);
    const [first, second, third] = queued;
    if (first === undefined || second === undefined || third === undefined) throw new Error("three cells");
    await finish(stage.store, first);
    for (const [trial, message] of [
      [second, "first"],
      [third, "second"],
    ] as const) {
      const held = await claim(stage.store, trial);
      await stage.store.recordExchange(exchange(held, { text: null, outcome: "auth" }));
      await stage.store.endTry(trial.trialId, held.fence, { kind: "failed", outcome: "auth", message });
    }
    const progress = await stage.store.progress(sweep.sweepId);
    const model = only(progress.models);
    expect(model).toMatchObject({
      alias: "dfs",
      lane: "sim.dfs",
      states: { done: 1, failed: 2 },
      outcomes: { ok: 1, auth: 2 },
      reused: 0,
    });
    expect(model.finishedPerSecond).toBeGreaterThan(0.05);
    expect(model.finishedPerSecond).toBeLessThanOrEqual(3);
    expect(progress.failures).toEqual([{ alias: "dfs", outcome: "auth", count: 2, firstMessage: "first" }]);
  });
});
