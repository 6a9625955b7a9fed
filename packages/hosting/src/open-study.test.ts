import type { StoredReply, TrialRow } from "@hallumaze/engine";
import { describe, expect, it } from "vitest";

import { type StudyStore, studiesApart } from "./open-study.ts";

const sweep = {
  sweepId: "id",
  name: "studied",
  specJson: JSON.stringify({ name: "studied", models: ["sim/oracle", "sim/silent"], seeds: ["1..300"], sizes: [5] }),
  createdAtMs: 0,
  estimate: null,
  paused: null,
  cancelledAtMs: null,
  priority: 0,
  weight: 1,
};
const scores = { sr: 1, hc: 0, fhr: -1, bt: 0, lt: 0, hrr: 1, mei: 0.9, ce: null, brs: 1, score: 0.8 } as const;

/** 300 trials each of two models, one of which is half as good. */
const rows: readonly TrialRow[] = ["sim/oracle", "sim/silent"].flatMap((alias, at) =>
  Array.from({ length: 300 }, (_, seed): TrialRow => {
    const own = { ...scores, mei: at === 0 ? 0.9 : (seed % 10) / 20 };
    return {
      trialId: `${alias} ${seed}`,
      cellId: `${alias} ${seed}`,
      sweep: "studied",
      alias,
      plan: {
        format: 1,
        provider: "sim",
        model: alias,
        baseUrl: null,
        temperature: null,
        params: {},
        maxTokens: 1000,
        promptVersion: "v1.1",
        generator: "dfs",
        placement: "path-order",
        seed: seed + 1,
        size: 5,
        group: "A",
        mirage: true,
        language: "en",
        confidence: false,
        repeat: 0,
        rehearsal: false,
      },
      state: "done",
      outcome: "ok",
      tries: 1,
      message: null,
      reused: false,
      scores: { seed: own, robust: own, published: own },
      readingJson: null,
      usage: null,
      servedModel: null,
      costUsd: null,
      latencyMs: null,
      finishedAtMs: null,
    };
  }),
);

const storeOf = (trials: readonly TrialRow[]): StudyStore => ({
  streamTrials: async function* () {
    if (trials.length > 0) yield trials;
  },
  streamReplies: async function* (): AsyncGenerator<readonly StoredReply[]> {},
  repliesOf: async () => [],
  judgementsOfSweep: async function* () {},
  streamImported: async function* () {},
  progress: () => Promise.reject(new Error("nobody counts here")),
});

const open = (trials: readonly TrialRow[], signal = new AbortController().signal) =>
  studiesApart({ ...storeOf(trials), progress: async () => ({ models: [] }) as never })(sweep, signal);

describe("a study in a process of its own", { timeout: 60_000 }, () => {
  it("says what the trials hold, and runs it while this process goes on", async () => {
    const study = await open(rows);
    expect(study.held).toHaveLength(12);
    expect(study.held.find(({ experiment }) => experiment === "mirage")?.whyNot).toContain("one kind of maze text");
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 5);
    const [models, outcomes] = await Promise.all([study.run("models"), study.run("outcomes")]);
    clearInterval(counting);
    expect(models.experiment).toBe("models");
    expect(outcomes.experiment).toBe("outcomes");
    expect(models.tables[0]?.rows[0]).toMatchObject({ model: "sim/oracle", answered: 300 });
    expect(turns).toBeGreaterThan(5);
    expect(study.run("models")).toBe(study.run("models"));
    study.close();
  });

  it("that was closed gives what it was asked before, and refuses more in a way that may be tried again", async () => {
    const study = await open(rows.slice(0, 20));
    const asked = study.run("outcomes");
    study.close();
    expect((await asked).experiment).toBe("outcomes");
    await expect(study.run("models")).rejects.toMatchObject({ code: "study-closed", retry: true });
  });

  it("holds nothing where there is no trial, and ends with its signal", async () => {
    const stop = new AbortController();
    const study = await open([], stop.signal);
    stop.abort();
    await expect(study.run("models")).rejects.toMatchObject({ code: "study-closed" });
  });

  it("cannot be opened where the trials cannot be read", async () => {
    await expect(studiesApart(storeOf([]))(sweep, new AbortController().signal)).rejects.toThrow("nobody counts here");
  });
});
