import { expect, it } from "vitest";

import { bandOf, meiSign } from "./bands.ts";

it.each([
  ["mei", 0.7, "high"],
  ["mei", 0.69999, "partial"],
  ["mei", 0.4, "partial"],
  ["mei", 0.39999, "deficient"],
  ["ce", 0.14999, "well calibrated"],
  ["ce", 0.15, "moderate"],
  ["ce", 0.39999, "moderate"],
  ["ce", 0.4, "severely miscalibrated"],
  ["brs", 0.85, "resistant"],
  ["brs", 0.5, "mixed"],
  ["brs", 0.49999, "vulnerable"],
  ["score", 0.8, "excellent"],
  ["score", 0.6, "good"],
  ["score", 0.4, "limited"],
  ["score", 0.39999, "deficient"],
  ["meiOfScore", 0.5, "good"],
  ["meiOfScore", 0.3, "limited"],
  ["meiOfScore", 0, "deficient"],
] as const)("%s %d is %s: a band holds its own threshold", (metric, value, label) => {
  expect(bandOf(metric, value)?.label).toBe(label);
});

it("gives no band to a missing value", () => {
  expect(bandOf("ce", null)).toBeNull();
  expect([0.9, 0.5, 0.1, null].map(meiSign)).toEqual(["●", "◑", "○", "-"]);
});
