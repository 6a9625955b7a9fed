import { createRandom } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import { coverageOf } from "../bench/coverage-of-intervals.ts";
import { bootstrapMean } from "./bootstrap.ts";
import { expandedFlips, expandedInterval } from "./expanded-interval.ts";
import { resampledInterval } from "./resampled-interval.ts";
import { signFlipTest } from "./sign-flip.ts";

/** So many of each value. */
function units(counts: readonly (readonly [value: number, count: number])[]): readonly number[] {
  return counts.flatMap(([value, count]) => Array.from({ length: count }, () => value));
}

const twoSizes = [
  units([
    [0.9, 2700],
    [0.6, 200],
    [0.2, 100],
  ]),
  units([
    [0.9, 900],
    [0.7, 100],
    [0.2, 1600],
    [0, 400],
  ]),
];
const nearCeiling = [
  units([
    [0.9, 4800],
    [0, 200],
  ]),
];

describe("an interval of thousands of mazes that is worked out from moments", () => {
  it.each([
    // SOURCE: the exact law of the resampled mean, by numpy's FFT of each size's shares to the power of its mazes; quantiles
    // halfway through each step, bias and acceleration of BCa from the same law.
    { method: "percentile" as const, lo: 0.621620502, hi: 0.635063068 },
    { method: "bca" as const, lo: 0.621637783, hi: 0.635080525 },
  ])("is the exact one to seven digits: two sizes, $method", ({ method, lo, hi }) => {
    const found = expandedInterval(twoSizes, { level: 0.95, method });
    expect(found?.lo).toBeCloseTo(lo, 7);
    expect(found?.hi).toBeCloseTo(hi, 7);
  });

  it.each([
    { method: "percentile" as const, lo: 0.858976, hi: 0.868849 },
    { method: "bca" as const, lo: 0.858798, hi: 0.868676 },
  ])("is the exact one within half a step of a resampled mean where 200 of 5,000 mazes differ: $method", (exact) => {
    const found = expandedInterval(nearCeiling, { level: 0.95, method: exact.method });
    const halfStep = 0.9 / 5000 / 2;
    expect(Math.abs((found?.lo ?? 0) - exact.lo)).toBeLessThan(halfStep);
    expect(Math.abs((found?.hi ?? 0) - exact.hi)).toBeLessThan(halfStep);
  });

  it.each(["percentile", "bca", "studentised"] as const)(
    "lies where 10,000 drawn resamples put it, within what those leave: %s",
    (method) => {
      const drawn = resampledInterval(twoSizes, { random: createRandom(3), resamples: 10_000, method });
      const found = expandedInterval(twoSizes, { level: 0.95, method });
      const error = 0.00343;
      expect(Math.abs((found?.lo ?? 0) - drawn.lo)).toBeLessThan(0.08 * error);
      expect(Math.abs((found?.hi ?? 0) - drawn.hi)).toBeLessThan(0.08 * error);
    },
    60_000,
  );

  it("is a point where all mazes have one value", () => {
    expect(expandedInterval([units([[0.5, 6000]])], { level: 0.95, method: "bca" })).toEqual({ lo: 0.5, hi: 0.5 });
  });

  it("is left to draws with fewer than 5,000 mazes, and where fewer than about a hundred differ from the rest", () => {
    const few = [
      units([
        [0.9, 2000],
        [0.2, 2999],
      ]),
    ];
    const rare = [
      units([
        [0.9, 9940],
        [0, 60],
      ]),
    ];
    expect(expandedInterval(few, { level: 0.95, method: "bca" })).toBeNull();
    expect(expandedInterval(rare, { level: 0.95, method: "bca" })).toBeNull();
  });
});

describe("the mean over mazes", () => {
  const grouped = (values: readonly number[]) => values.map((value, at) => ({ group: String(at), value }));

  it("says whether its interval was drawn, and draws nothing where it was not", () => {
    const untouched = createRandom(7);
    const many = bootstrapMean(grouped(twoSizes.flat()), { random: untouched, method: "bca" });
    expect(many.isExpanded).toBe(true);
    expect(untouched.uint32()).toBe(createRandom(7).uint32());
    const fewer = bootstrapMean(grouped(twoSizes.flat().slice(0, 4999)), { random: createRandom(7), resamples: 100 });
    expect(fewer).not.toHaveProperty("isExpanded");
  });

  it.each(["twoPeaks", "nearCeiling"] as const)(
    "of 5,000 mazes is held by its interval in 93 to 97 of 100 samples at 95 %: %s",
    (population) => {
      const coverage = coverageOf(population, { mazes: 5000, method: "bca", repetitions: 500, resamples: 1 });
      expect(coverage).toBeGreaterThanOrEqual(0.93);
      expect(coverage).toBeLessThanOrEqual(0.97);
    },
    240_000,
  );
});

describe("the p-value of flipped signs of thousands of differences", () => {
  it.each([
    // SOURCE: scipy.stats.binom(6000, 0.5), both tails.
    { sum: 60, p: 0.44624965 },
    { sum: 150, p: 0.05439798 },
    { sum: 200, p: 0.01019104 },
  ])("is the binomial's within what 10,000 draws leave where all are of one size: a sum of $sum", ({ sum, p }) => {
    const signs = units([
      [1, (6000 + sum) / 2],
      [-1, (6000 - sum) / 2],
    ]);
    expect(Math.abs((expandedFlips(signs) ?? 0) - p)).toBeLessThan(2 * Math.sqrt((p * (1 - p)) / 10_000));
  });

  it("is what draws say of mixed sizes, is never below what they could say, and is drawn where a few are most of the sum", () => {
    const mixed = Array.from({ length: 6000 }, (_, at) => Math.sin(at) + 0.03);
    const counted = signFlipTest(mixed.slice(0, 4999), { random: createRandom(1), permutations: 4000 }).p ?? 0;
    const { p } = signFlipTest(mixed.slice(0, 5000), { random: createRandom(1), permutations: 4000 });
    expect(Math.abs((p ?? 0) - counted)).toBeLessThan(3 * Math.sqrt((counted * (1 - counted)) / 4000));
    const far = signFlipTest(
      mixed.map((difference) => difference + 1),
      { random: createRandom(1), permutations: 999 },
    );
    expect(far.p).toBe(0.001);
    expect(expandedFlips([...mixed, 1000])).toBeNull();
    expect(expandedFlips(mixed.slice(0, 4999))).toBeNull();
  });
});
