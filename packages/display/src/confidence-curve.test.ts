import { expect, it } from "vitest";

import { confidenceRuns, runPath } from "./confidence-curve.ts";

it("an attempt without a confidence leaves a gap", () => {
  expect(confidenceRuns([0.5, 0.6, null, 0.9])).toEqual([
    [
      { x: 0, y: 0.5 },
      { x: 1, y: 0.6 },
    ],
    [{ x: 3, y: 0.9 }],
  ]);
});

it("a dip of one attempt in 20,000 is still drawn", () => {
  const confidences = Array.from({ length: 20_000 }, (_, at) => (at === 12_345 ? 0.01 : 0.9));
  const points = confidenceRuns(confidences).flat();
  expect(points.length).toBeLessThanOrEqual(1200);
  expect(points).toContainEqual({ x: 12_345, y: 0.01 });
});

it("certainty is at the top, and attempts stand in the middle of equal shares", () => {
  const run = [
    { x: 0, y: 1 },
    { x: 1, y: 0 },
  ];
  expect(runPath(run, { width: 100, height: 50, length: 2 })).toBe("M25 0L75 50");
});
