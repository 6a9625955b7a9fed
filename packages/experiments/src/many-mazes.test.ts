import { createRandom } from "@hallumaze/foundation";
import { trialTable } from "@hallumaze/trials";
import { expect, it } from "vitest";

import { madeRow } from "../test/made-rows.ts";
import { estimateIn, rowOf } from "../test/read-tables.ts";
import { difficultyCurve, measureMirage } from "./index.ts";

const mazesOfSize = 1700;
const random = createRandom("many mazes");
/** 5,100 mazes of three sizes, answered with hints and without; MEI falls by 0.1 a step, and by 0.05 with hints. */
const rows = [5, 7, 9].flatMap((size) =>
  Array.from({ length: mazesOfSize }, (_, seed) => {
    const own = 0.9 - 0.05 * (size - 5) - 0.2 * random.fraction();
    return [true, false].map((mirage) => {
      const mei = own - (mirage ? 0.05 * 2 * random.fraction() : 0);
      return madeRow({ plan: { size, seed, mirage }, scores: { mei, brs: random.fraction() } });
    });
  }).flat(),
);
const table = trialTable(rows);

it("a slope over thousands of mazes has the interval of least squares, and nothing is drawn for it", () => {
  const result = difficultyCurve(table, { resamples: 100 });
  const { value, lo, hi } = estimateIn(rowOf(result, "difficulty-slope"), "meiRobust");
  expect(value).toBeCloseTo(-0.1, 2);
  // A maze's mean has the spread of 0.2 and half of 0.1, even: 0.0595. Steps are 2.5, 3.5 and 4.5.
  const deviation = Math.sqrt((0.2 ** 2 + 0.05 ** 2) / 12);
  const half = (1.96 * deviation) / Math.sqrt(2 * mazesOfSize);
  expect(((hi ?? 0) - (lo ?? 0)) / 2 / half).toBeCloseTo(1, 1);
  expect(((hi ?? 0) + (lo ?? 0)) / 2).toBeCloseTo(value ?? 0, 5);
  // Two slopes; each size alone has too few mazes, and is drawn.
  expect(result.provenance.expanded).toEqual({ intervals: 2, mazesMin: 5000 });
});

it("a paired difference over thousands of mazes finds the effect that was built in, and says that it was not drawn", () => {
  const result = measureMirage(table, { resamples: 100, permutations: 999 });
  const row = rowOf(result, "mirage", { metric: "seed MEI" });
  const { value, lo, hi } = estimateIn(row, "difference");
  expect(value).toBeCloseTo(0.05, 2);
  const half = (1.96 * 0.1) / Math.sqrt(12) / Math.sqrt(Number(row["mazes"]));
  expect(((hi ?? 0) - (lo ?? 0)) / 2 / half).toBeCloseTo(1, 1);
  expect(row["p"]).toBe(0.001);
  expect(result.provenance.expanded?.intervals).toBeGreaterThan(3);
});
