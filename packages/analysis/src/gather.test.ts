import type { StoredReply, SweepRecord, TrialRow } from "@hallumaze/engine";
import { analysePaired } from "@hallumaze/experiments";
import { parseImport, type StoredImportedTrial } from "@hallumaze/imports";
import { describe, expect, it } from "vitest";

import { gatherData, walkStepOf } from "./gather.ts";
import { runExperiment } from "./run-experiments.ts";
import { type TrialRecord, figureRecords } from "./trial-record.ts";

const sweep: SweepRecord = {
  sweepId: "s",
  name: "s",
  specJson: JSON.stringify({ name: "s", models: ["sim/dfs-honest"], seeds: [1], sizes: [5] }),
  createdAtMs: 0,
  estimate: null,
  paused: null,
  cancelledAtMs: null,
  priority: 0,
  weight: 1,
};

const signal = new AbortController().signal;

type StoredRecord = TrialRecord & { readonly row: TrialRow };

/** Answered trials of one model on a maze each, every step with a confidence. */
async function* records(count: number): AsyncGenerator<StoredRecord> {
  for (let seed = 1; seed <= count; seed++) {
    const plan: TrialRecord["row"]["plan"] = {
      format: 1,
      provider: "sim",
      model: "dfs-honest",
      baseUrl: null,
      temperature: null,
      params: {},
      maxTokens: 2500,
      promptVersion: "seed-v1",
      generator: "dfs",
      placement: "path-order",
      seed,
      size: 5,
      group: "A",
      mirage: true,
      language: "en",
      confidence: true,
      repeat: 0,
      rehearsal: false,
    };
    const text = "STEP 1: (0,0) -> (0,1) [confidence: 80%]\nSTEP 2: (0,0) -> (1,0) [confidence: 60%]";
    yield {
      row: {
        trialId: `t${seed}`,
        cellId: `c${seed}`,
        sweep: "s",
        alias: "m",
        plan,
        state: "done",
        outcome: "ok",
        tries: 1,
        message: null,
        reused: false,
        scores: {},
        readingJson: null,
        usage: null,
        servedModel: null,
        costUsd: null,
        latencyMs: null,
        finishedAtMs: null,
      },
      conversation: { replies: [{ text, finishReason: "stop" }], shadow: false, isPruned: false },
    };
  }
}

async function* imported(...trials: readonly StoredImportedTrial[]): AsyncGenerator<readonly StoredImportedTrial[]> {
  yield trials;
}

describe("more walks than memory should hold", () => {
  it("are read evenly over the sweep, and the experiments that need them say so", async () => {
    const data = await gatherData(records(10), imported(), { expected: 10, walksMax: 4, signal });
    expect(data.table.size()).toBe(10);
    expect(data.walkStep).toBe(3);
    expect(data.confidences.map(({ mazeKey }) => mazeKey)).toHaveLength(3);
    const options = { seed: "s", resamples: 100, permutations: 100, level: 0.95, interval: "bca" } as const;
    const told = runExperiment("confidence", data, options).warnings.filter(({ code }) => code === "walks-sampled");
    expect(told).toEqual([{ code: "walks-sampled", message: expect.stringContaining("one trial in 3") }]);
    expect(runExperiment("outcomes", data, options).warnings.map(({ code }) => code)).not.toContain("walks-sampled");
  });

  it("nothing is said where all of them are read", async () => {
    const data = await gatherData(records(4), imported(), { expected: 4, walksMax: 4, signal });
    expect(data.confidences).toHaveLength(4);
    const options = { seed: "s", resamples: 100, permutations: 100, level: 0.95, interval: "bca" } as const;
    expect(runExperiment("confidence", data, options).warnings.map(({ code }) => code)).not.toContain("walks-sampled");
  });
});

describe("a sweep of more walks than are kept", () => {
  it("is read without the replies of the others, and gives the same data", async () => {
    const known: StoredRecord[] = [];
    for await (const record of records(10)) known.push(record);
    const asked: string[] = [];
    const store = {
      streamTrials: async function* () {
        yield known.slice(0, 4).map(({ row }) => row);
        yield known.slice(4).map(({ row }) => row);
      },
      streamReplies: (): AsyncGenerator<readonly StoredReply[]> => {
        throw new Error("reads every reply");
      },
      repliesOf: async (trialIds: readonly string[]) => {
        asked.push(...trialIds);
        return known.flatMap(({ row: { trialId, plan }, conversation }) =>
          conversation !== null && trialIds.includes(trialId) ? [{ trialId, plan, ...conversation }] : [],
        );
      },
      judgementsOfSweep: async function* () {},
    };
    const step = walkStepOf(10, 4);
    expect(step).toBe(3);
    const options = { expected: 10, walksMax: 4, signal };
    const sparing = await gatherData(figureRecords(store, sweep, step), imported(), options);
    expect(asked).toEqual(["t3", "t6", "t9"]);
    const whole = await gatherData(records(10), imported(), options);
    expect(JSON.stringify(sparing.confidences)).toBe(JSON.stringify(whole.confidences));
    expect(sparing.walkStep).toBe(whole.walkStep);
  });
});

it("places of errors are kept only where there are people to compare them with", async () => {
  expect((await gatherData(records(3), imported(), { expected: 3, signal })).errors).toEqual([]);
});

it("people whose file gives them a model's name are not counted as that model", async () => {
  const reading = parseImport({
    fileName: "logs.json",
    bytes: new TextEncoder().encode(
      JSON.stringify([
        { participant: "P1", model: "m", size: 5, seed: 1, mirage: true, log: "STEP 1: (0,0) -> (0,1)" },
      ]),
    ),
    as: null,
    model: null,
    skipBad: false,
  });
  if (reading.kind === "refused") throw new Error("refused");
  const { kind } = reading.file;
  const stored = reading.rows.map((row) => ({ ...row, importId: "i", kind }));
  const data = await gatherData(records(3), imported(...stored), { expected: 3, signal });
  expect(data.people).toEqual(["m (people)"]);
  expect(data.table.size()).toBe(4);
  const options = { seed: "s", resamples: 100, permutations: 100, level: 0.95, interval: "bca" } as const;
  const compared = runExperiment("models", data, options).tables[0]?.rows.map(({ model }) => model);
  expect(new Set(compared)).toEqual(new Set(["m"]));
  const { models } = analysePaired(data.table, options);
  expect(Object.entries(models).map(([name, { planned }]) => [name, planned])).toEqual([
    ["m", 3],
    ["m (people)", 1],
  ]);
});
