import { expect, it } from "vitest";

import { countStates, layOutGrid, meanOf, trialAt, trialsOfRow } from "./grid-layout.ts";

// Two models; the second lacks a condition, and one cell of the first is missing.
const cells = { model: [1, 0, 0, 0], condition: [0, 0, 0, 1], seed: [1, 0, 1, 1] };
const layout = layOutGrid(cells, 2);

it("rows are the models' conditions that occur, models together", () => {
  expect(layout.rows).toEqual([
    { model: 0, condition: 0, first: true },
    { model: 0, condition: 1, first: false },
    { model: 1, condition: 0, first: true },
  ]);
});

it("a place without a trial, or outside, has none", () => {
  const at = (row: number, column: number) => trialAt(layout, row, column);
  expect([at(0, 0), at(0, 1), at(1, 0), at(1, 1), at(2, 1), at(3, 0), at(0, 2), at(-1, 0)]).toEqual([
    1,
    2,
    null,
    3,
    0,
    null,
    null,
    null,
  ]);
});

it("a row's trials are counted by state and averaged over the known values", () => {
  const trials = trialsOfRow(layout, 0);
  expect(countStates(trials, [0, 0, 1, 0], 2)).toEqual([1, 1]);
  expect(meanOf(trials, [9, 0.5, null, 9])).toEqual({ mean: 0.5, n: 1 });
  expect(meanOf([], [])).toEqual({ mean: null, n: 0 });
});
