import type { ProfileScores } from "@hallumaze/metrics";
import { describe, expect, it } from "vitest";

import { contrast, describeDifferences } from "./contrast.ts";
import { openDraws } from "./draws.ts";
import { boundsOf, countTrials, mazeMean, plainMean, repeatCorrelation, successRate } from "./maze-means.ts";
import { rankCorrelation } from "./rank-correlation.ts";
import { answerKind, type TrialSource } from "./trial-source.ts";
import { type Trial, trialTable } from "./trial-table.ts";

const solved: ProfileScores = { sr: 1, hc: 0, fhr: -1, bt: 0, lt: 0, hrr: 1, mei: 0.9, ce: 0.1, brs: 1, score: 0.92 };

function row(
  mei: number | null,
  plan: Partial<TrialSource["plan"]> = {},
  more: Partial<TrialSource> = {},
): TrialSource {
  const seed: ProfileScores = { ...solved, mei: mei ?? 0, sr: (mei ?? 0) >= 0.9 ? 1 : 0 };
  return {
    alias: "model",
    plan: {
      generator: "dfs",
      placement: "path-order",
      seed: 1,
      size: 5,
      group: "A",
      mirage: true,
      language: "ko",
      confidence: true,
      repeat: 0,
      ...plan,
    },
    state: mei === null ? "failed" : "done",
    outcome: mei === null ? "timeout" : "ok",
    scores: mei === null ? {} : { seed, robust: seed },
    readingJson: null,
    ...more,
  };
}

const trialsOf = (rows: readonly TrialSource[]): readonly Trial[] => trialTable(rows).ofModel("model");
const draws = () => openDraws("test", { resamples: 200, permutations: 200 });

describe("a table of trials", () => {
  it("gives back every number as it came, also of a column with more different ones than two bytes count", () => {
    const meiOf = (at: number): number | null => (at % 1000 === 7 ? null : (at * 0.7) / 100_000);
    const rows = Array.from({ length: 100_000 }, (_, at) => row(meiOf(at), { repeat: at }));
    const trials = trialsOf(rows);
    expect(trials).toHaveLength(rows.length);
    expect(trials.findIndex((trial, at) => !Object.is(trial.value("mei"), meiOf(at)))).toBe(-1);
    expect(trials.findIndex((trial) => trial.value("level") !== null)).toBe(-1);
  });

  it("gives a model's trials by maze, condition and repeat, whatever the order of the rows", () => {
    const rows = [
      row(0.1, { seed: 2 }),
      row(0.2, { repeat: 1 }),
      row(0.3),
      row(0.4, { mirage: false }),
      row(0.5, {}, { alias: "z" }),
    ];
    const values = (given: readonly TrialSource[]) => trialsOf(given).map((trial) => trial.value("mei"));
    expect(values(rows)).toEqual([0.3, 0.2, 0.4, 0.1]);
    expect(values(rows.toReversed())).toEqual(values(rows));
    expect(trialTable(rows).models()).toEqual(["model", "z"]);
  });

  it("knows a maze by its plan: its traps, its solution, the share of it that was reached", () => {
    const readingJson = JSON.stringify({ walk: { mirageResistance: 0.5, solutionMovesReached: 6 } });
    const [trial] = trialsOf([row(0.5, { seed: 1001 }, { readingJson })]);
    expect(trial).toMatchObject({ traps: 2, maze: { key: "dfs 5 1001", solutionMoves: 12 } });
    expect(trial?.value("reached")).toBe(0.25);
    expect(trial?.value("mirageResistance")).toBe(0.5);
    expect(trial?.value("level")).toBeNull();
  });

  it("has no value of a missing trial, and of an imported one only what was published", () => {
    const imported = row(0.9, { seed: 2 }, { scores: { published: { ...solved, mei: 0.62 } } });
    const [missing, published] = trialsOf([row(null), imported]);
    expect(missing).toMatchObject({ kind: "missing", outcome: "timeout" });
    expect(missing?.value("mei")).toBeNull();
    expect(published?.kind).toBe("full");
    expect([published?.value("mei"), published?.value("meiPublished")]).toEqual([null, 0.62]);
  });

  it("tells a cut-off with a walk from a non-answer, and both from a loss", () => {
    const walked = { seed: { ...solved, sr: 0, brs: 1 } } as const;
    expect(answerKind({ state: "done", outcome: "truncated", scores: walked })).toBe("cutOff");
    expect(answerKind({ state: "done", outcome: "refused", scores: walked })).toBe("nonAnswer");
    expect(answerKind({ state: "done", outcome: "truncated", scores: { seed: { ...solved, sr: 0, brs: null } } })).toBe(
      "nonAnswer",
    );
    expect(answerKind({ state: "queued", outcome: null, scores: walked })).toBe("missing");
  });
});

describe("means over mazes", () => {
  const trials = trialsOf([
    row(0.9, { seed: 1 }),
    row(0.5, { seed: 1, repeat: 1 }),
    row(0.1, { seed: 2 }),
    row(null, { seed: 3 }),
  ]);

  it("average repeats within their maze first, and count what is missing", () => {
    expect(mazeMean(trials, "mei", draws(), "x")).toMatchObject({
      value: expect.closeTo(0.4),
      mazes: 2,
      trials: 3,
      missing: 1,
    });
    expect(plainMean(trials, "mei")).toBeCloseTo(0.4, 12);
    expect(countTrials(trials)).toMatchObject({ planned: 4, answered: 3, coverage: 0.75, mazes: 2 });
    expect(boundsOf(trials, "mei")).toEqual([expect.closeTo(0.8 / 3), expect.closeTo(1.8 / 3)]);
    expect(successRate(trials, 0.95).value).toBeCloseTo(1 / 3, 12);
  });

  it("are unknown, not 0, without a value", () => {
    expect(mazeMean([], "mei", draws(), "x")).toMatchObject({ value: null, lo: null, hi: null });
    expect(plainMean([], "mei")).toBeNull();
    expect(successRate([], 0.95)).toEqual({ value: null, lo: null, hi: null });
    expect(boundsOf([], "mei")).toBeNull();
  });

  it("find repeats alike that agree", () => {
    const alike = trialsOf([0.1, 0.9].flatMap((mei, seed) => [0, 1].map((repeat) => row(mei, { seed, repeat }))));
    expect(repeatCorrelation(alike, "mei").value).toBe(1);
    expect(repeatCorrelation(trialsOf([row(0.1), row(0.9, { seed: 2 })]), "mei").value).toBeNull();
  });
});

describe("a paired difference", () => {
  it("pairs within maze and condition, and averages a maze's pairs", () => {
    const a = trialsOf([row(0.9, { mirage: true }), row(0.5, { mirage: false }), row(0.7, { seed: 2 })]);
    const b = trialsOf([row(0.5, { mirage: true }), row(0.3, { mirage: false }), row(0.7, { seed: 3 })]);
    const found = contrast({ a, b }, "mei", draws(), { name: "x" });
    expect(found).toMatchObject({ value: expect.closeTo(0.3), mazes: 1, unpaired: 2, p: 1, detectable: null });
    expect(found.differences).toEqual([expect.closeTo(0.3)]);
  });

  it("takes what repeats' averages leave in the last bit for no difference", () => {
    const repeats = (values: readonly number[]) => trialsOf(values.map((mei, repeat) => row(mei, { repeat })));
    const found = contrast({ a: repeats([0.1, 0.2, 0.3]), b: repeats([0.3, 0.1, 0.2]) }, "mei", draws(), { name: "x" });
    expect(found).toMatchObject({ p: 1, wilcoxonP: null });
    const values = [0.1 + 0.2 - 0.3, 0].map((value, maze) => ({ group: String(maze), value }));
    expect(describeDifferences(values, draws(), "x")).toMatchObject({ differences: [0, 0], standardised: null });
  });

  it("has bounds over what either side lost", () => {
    const side = (mei: number | null) => trialsOf([row(0.5), row(mei, { seed: 2 })]);
    expect(contrast({ a: side(0.5), b: side(null) }, "mei", draws(), { name: "x" }).bounds).toEqual([-0.25, 0.25]);
    expect(contrast({ a: [], b: [] }, "mei", draws(), { name: "x" })).toMatchObject({
      value: null,
      bounds: null,
      p: null,
    });
  });
});

describe("a rank correlation over mazes", () => {
  const pairs = Array.from({ length: 60 }, (_, at) => ({ maze: String(at % 20), x: at % 7, y: (at % 7) ** 2 }));

  it("is 1 with its interval where the order is the same", () => {
    const { value, lo, hi, n, mazes } = rankCorrelation(pairs, draws(), "x");
    expect([value, lo, hi]).toEqual([expect.closeTo(1), expect.closeTo(1), expect.closeTo(1)]);
    expect([n, mazes]).toEqual([60, 20]);
  });

  it("is unknown where a side never changes, and has no interval with one maze", () => {
    expect(
      rankCorrelation(
        pairs.map(({ maze, x }) => ({ maze, x, y: 1 })),
        draws(),
        "x",
      ),
    ).toMatchObject({ value: null, lo: null });
    expect(
      rankCorrelation(
        pairs.map(({ x, y }) => ({ maze: "1", x, y })),
        draws(),
        "x",
      ),
    ).toMatchObject({ lo: null, hi: null });
  });
});
