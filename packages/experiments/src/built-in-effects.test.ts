import { type Estimate, trialTable } from "@hallumaze/trials";
import { describe, expect, it } from "vitest";

import { estimateIn, rowOf, rowsOf } from "../test/read-tables.ts";
import { simRows, simTrial } from "../test/sim-rows.ts";
import { ablate } from "./ablation.ts";
import { measureAriadne } from "./ariadne-effect.ts";
import { compareModels } from "./compare-models.ts";
import { confidenceTrial, measureConfidence } from "./confidence-calibration.ts";
import { difficultyCurve } from "./difficulty-curve.ts";
import { measureMirage } from "./mirage-effect.ts";
import { compareProfiles } from "./profile-comparison.ts";
import type { ExperimentResult } from "./result.ts";

const options = { resamples: 500, permutations: 999 };

function estimate(
  result: ExperimentResult,
  table: string,
  cells: Readonly<Record<string, string>>,
  key: string,
): Estimate {
  return estimateIn(rowOf(result, table, cells), key);
}

describe("agents of known behaviour show what was built into them", { timeout: 120_000 }, () => {
  it("one that takes traps has a Mirage Δ off 0, one that knows the way none", () => {
    const rows = (["mirage-prone", "oracle"] as const).flatMap((solver) =>
      [true, false].flatMap((mirage) => simRows(60, { solver, mirage })),
    );
    const result = measureMirage(trialTable(rows), options);
    const prone = estimate(result, "mirage", { model: "mirage-prone", metric: "robust MEI" }, "difference");
    expect(prone.lo).toBeGreaterThan(0.05);
    expect(rowsOf(result, "mirage", { model: "mirage-prone", metric: "robust MEI" })[0]?.["holm"]).toBeLessThan(0.01);
    expect(estimate(result, "mirage", { model: "oracle", metric: "robust MEI" }, "difference")).toEqual({
      value: 0,
      lo: 0,
      hi: 0,
    });
    expect(estimate(result, "mirage-resistance", { model: "oracle" }, "mirageResistance").value).toBe(1);
    expect(estimate(result, "mirage-resistance", { model: "mirage-prone" }, "mirageResistance").hi).toBeLessThan(0.6);
    expect(result.reading[0]).toMatch(
      /^mirage-prone: the tempting hints cost it 0\.\d\d \[0\.\d\d, 0\.\d\d\] robust MEI/,
    );
    expect(result.reading[1]).toMatch(/^oracle: no effect of the tempting hints can be shown/);
    expect(result.warnings).toEqual([]);
  });

  it("one that takes hints has TI above 0.3 with its interval, one that is deaf to them no effect", () => {
    const rows = (["hint-taker", "hint-deaf"] as const).flatMap((solver) =>
      (["A", "B", "C"] as const).flatMap((group) => simRows(40, { solver, group })),
    );
    const result = measureAriadne(trialTable(rows), options);
    expect(estimate(result, "ariadne", { model: "hint-taker" }, "ti").lo).toBeGreaterThan(0.3);
    expect(rowsOf(result, "ariadne", { model: "hint-taker" })[0]).toMatchObject({ tiLevel: "high", hir: 0 });
    expect(rowsOf(result, "ariadne", { model: "hint-deaf" })[0]).toMatchObject({ tiLevel: "low", hir: 1, nrsGain: 0 });
    expect(estimate(result, "ariadne-delta", { model: "hint-deaf", metric: "seed MEI" }, "difference").value).toBe(0);
    expect(result.reading.find((sentence) => sentence.startsWith("hint-deaf"))).toContain("no detectable effect");
  });

  it("one that walks through walls at 100 % shows pattern B, one that falls in doubt pattern A", () => {
    const trials = (["overconfident", "error-aware", "calibrated"] as const).flatMap((solver) =>
      Array.from({ length: 40 }, (_, at) => {
        const { row, walk } = simTrial({ solver, seed: at + 1, size: 7 });
        return confidenceTrial(row, walk);
      }),
    );
    const result = measureConfidence(trials, options);
    expect(estimate(result, "patterns", { model: "overconfident" }, "b").lo).toBeGreaterThan(0.5);
    expect(estimate(result, "patterns", { model: "error-aware" }, "a").lo).toBeGreaterThan(0.5);
    const bias = (model: string) => estimate(result, "calibration", { model, target: "move is legal" }, "bias");
    expect(bias("overconfident").lo).toBeGreaterThan(0);
    expect(bias("calibrated").lo).toBeLessThanOrEqual(0);
    expect(bias("calibrated").hi).toBeGreaterThanOrEqual(0);
    expect(result.reading.find((sentence) => sentence.startsWith("overconfident"))).toContain("Pattern B");
  });

  it("an honest search is above a forgetful one by robust MEI, and a perfect one raises the ceiling warning", () => {
    const rows = (["dfs-honest", "dfs-forgetful", "oracle"] as const).flatMap((solver) =>
      simRows(40, { solver, size: 7 }),
    );
    const result = compareModels(trialTable(rows), options);
    const pair = rowOf(result, "model-pairs", { a: "dfs-honest", b: "dfs-forgetful", metric: "robust MEI" });
    expect(estimateIn(pair, "difference").lo).toBeGreaterThan(0);
    expect(pair["holm"]).toBeLessThan(0.01);
    expect(result.tables[0]?.rows.map(({ model }) => model)).toEqual(["oracle", "dfs-honest", "dfs-forgetful"]);
    expect(result.warnings).toContainEqual({ code: "at-ceiling", message: expect.stringContaining("oracle: 100 %") });
    expect(result.reading[0]).toContain("oracle 1.00 [1.00, 1.00], dfs-honest");
  });

  it("a forgetful search falls with size, one that knows the way does not", () => {
    const rows = (["dfs-forgetful", "oracle"] as const).flatMap((solver) =>
      [5, 7, 9].flatMap((size) => simRows(30, { solver, size })),
    );
    const result = difficultyCurve(trialTable(rows), options);
    expect(estimate(result, "difficulty-slope", { model: "dfs-forgetful" }, "meiRobust").hi).toBeLessThan(0);
    expect(estimate(result, "difficulty-slope", { model: "oracle" }, "meiRobust")).toEqual({ value: 0, lo: 0, hi: 0 });
    expect(rowsOf(result, "difficulty", { model: "oracle" }).map(({ size, mazes }) => [size, mazes])).toEqual([
      [5, 30],
      [7, 30],
      [9, 30],
    ]);
  });

  it("words without a walk are worth something to the published profile only", () => {
    const result = compareProfiles(trialTable(simRows(40, { solver: "keyword" })), options);
    const mei = (profile: string) => estimate(result, "profiles", { model: "keyword", profile }, "mei").value ?? -1;
    expect(mei("published")).toBeGreaterThan(0.2);
    expect(mei("robust")).toBe(0);
  });

  it("an index taken apart and put together again is itself, in both profiles", () => {
    const rows = (["dfs-honest", "error-aware", "greedy-se", "overconfident"] as const).flatMap((solver) =>
      simRows(30, { solver }),
    );
    const result = ablate(trialTable(rows), options);
    const ablated = (profile: string, removed: string, model: string) =>
      rowOf(result, "ablation", { profile, removed, model });
    // One that errs and admits it at once lives on HRR; one that solves without an error has all parts at their highest.
    expect(ablated("seed", "HRR", "dfs-honest")).toMatchObject({
      full: expect.closeTo(0.9),
      left: expect.closeTo(0.9),
    });
    expect(ablated("robust", "F", "dfs-honest")["left"]).toBeGreaterThan(
      ablated("robust", "F", "dfs-honest")["full"] as number,
    );
    expect(rowsOf(result, "ablation", {})).toHaveLength(2 * 4 * 4);
  });
});
