import { expect, it } from "vitest";

import { bandsOf } from "./bands.ts";
import { words } from "./words.ts";

it("a band holds its own threshold where high is better, and the next holds it where low is", () => {
  const signOf = (metric: string, value: number) => bandsOf(metric, value)[0]?.sign;
  expect([0.7, 0.699, 0.4, 0.399].map((value) => signOf("mei", value))).toEqual(["●", "◑", "◑", "○"]);
  expect([0.149, 0.15, 0.4].map((value) => signOf("ce", value))).toEqual(["●", "◑", "○"]);
  expect([0.8, 0.6, 0.4, 0.1].map((value) => signOf("score", value))).toEqual(["●", "◕", "◑", "○"]);
});

it("MEI has both of its scales, what has none no band, and what is not known none either", () => {
  expect(bandsOf("mei", 0.45).map(({ name }) => name)).toEqual(["mei1", "meiOfScore2"]);
  expect([bandsOf("hrr", 1), bandsOf("toString", 1), bandsOf("mei", null)]).toEqual([[], [], []]);
});

it("every band has a name", () => {
  const values = [-1, 0.2, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95];
  const named = ["mei", "ce", "brs", "score"].flatMap((metric) => values.flatMap((value) => bandsOf(metric, value)));
  expect(named.filter(({ name }) => !(`band.${name}` in words.en))).toEqual([]);
});
