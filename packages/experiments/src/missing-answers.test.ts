import { type Estimate, trialTable } from "@hallumaze/trials";
import { describe, expect, it } from "vitest";

import { lostRow, madeRow } from "../test/made-rows.ts";
import { boundsIn, estimateIn, rowOf } from "../test/read-tables.ts";
import { compareModels } from "./compare-models.ts";
import { findMissingClusters } from "./missing-alarm.ts";
import { describeOutcomes } from "./outcomes-and-coverage.ts";

const options = { resamples: 500, permutations: 500 };

/** Two models on sixty mazes with and without hints; MEI by maze, the same under every condition. */
const full = Array.from({ length: 60 }, (_, seed) =>
  ["steady", "flaky"].flatMap((alias) =>
    [true, false].map((mirage) =>
      madeRow({ alias, plan: { seed, mirage }, scores: { mei: seed % 2 === 0 ? 0.9 : 0.5 } }),
    ),
  ),
).flat();
/** `flaky` loses two thirds of its answers where hints are shown, whatever they would have been. */
const lossy = full.map((row) =>
  row.alias === "flaky" && row.plan.mirage && row.plan.seed % 6 < 4 ? lostRow({ alias: "flaky", plan: row.plan }) : row,
);

function modelRow(rows: typeof full, model: string, condition: string) {
  const result = compareModels(trialTable(rows), options);
  return rowOf(result, "models", { model, condition });
}

describe("answers that are lost in one condition", { timeout: 60_000 }, () => {
  it("raise an alarm that names the condition and how much it lost", () => {
    const { warnings } = compareModels(trialTable(lossy), options);
    expect(warnings).toContainEqual({
      code: "missing-not-at-random",
      message: expect.stringMatching(
        /concentrated in model flaky, .*mirage=on.*: 40 of 60 trials \(67 %\) against 0 %/,
      ),
    });
    expect(warnings).toContainEqual({ code: "low-coverage", message: expect.stringContaining("80 of 120") });
    expect(findMissingClusters(trialTable(full))).toEqual([]);
  });

  it("widen the bounds and do not move the mean: a lost answer is no 0", () => {
    const [before, after] = [
      modelRow(full, "flaky", "group=A mirage=on language=ko confidence=on"),
      modelRow(lossy, "flaky", "group=A mirage=on language=ko confidence=on"),
    ];
    expect(before).toMatchObject({
      coverage: 1,
      mei: { value: expect.closeTo(0.7) },
      meiBounds: [expect.closeTo(0.7), expect.closeTo(0.7)],
    });
    expect(after).toMatchObject({
      planned: 60,
      answered: 20,
      coverage: expect.closeTo(1 / 3),
      mei: { value: expect.closeTo(0.7) },
    });
    const [lowest, highest] = boundsIn(after, "meiBounds");
    expect(lowest).toBeCloseTo(0.7 / 3, 10);
    expect(highest).toBeCloseTo((0.7 + 2) / 3, 10);
    const width = ({ lo, hi }: Estimate): number => (hi ?? 0) - (lo ?? 0);
    expect(width(estimateIn(after, "mei"))).toBeGreaterThan(width(estimateIn(before, "mei")));
    expect(modelRow(lossy, "steady", "group=A mirage=on language=ko confidence=on")).toEqual(
      modelRow(full, "steady", "group=A mirage=on language=ko confidence=on"),
    );
  });

  it("are compared on common mazes only, and the bounds of the difference say what could be", () => {
    const result = compareModels(trialTable(lossy), options);
    const pair = rowOf(result, "model-pairs", { metric: "seed MEI" });
    expect(pair).toMatchObject({ mazes: 60, difference: { value: 0, lo: 0, hi: 0 }, p: 1 });
    const [lowest, highest] = boundsIn(pair, "bounds");
    expect(lowest).toBeLessThan(0);
    expect(highest).toBeGreaterThan(0);
  });

  it("stand in the table of outcomes by their kind, apart from the model's own non-answers", () => {
    const refused = madeRow({
      alias: "flaky",
      plan: { seed: 99 },
      outcome: "refused",
      scores: { sr: 0, mei: 0, brs: null },
    });
    const result = describeOutcomes(trialTable([...lossy, refused]), options);
    expect(result.tables[0]?.rows[0]).toMatchObject({
      model: "flaky",
      planned: 121,
      "outcome-ok": 80,
      "outcome-refused": 1,
      "outcome-timeout": 40,
    });
    expect(result.tables[1]?.rows[0]).toMatchObject({ answered: 81, nonAnswers: 1, srFull: 1 });
    expect(estimateIn(rowOf(result, "coverage", { model: "flaky" }), "sr").value).toBeCloseTo(80 / 81, 10);
    expect(result.reading[0]).toMatch(
      /^flaky: 81 of 121 planned trials answered \(67 %\).*its robust MEI lies in \[0\.4\d, 0\.\d\d\]/,
    );
  });
});
