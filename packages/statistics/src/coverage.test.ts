import { createRandom, type Random } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import { coverageOf } from "../bench/coverage-of-intervals.ts";
import { bootstrapMean } from "./bootstrap.ts";
import { signFlipTest } from "./sign-flip.ts";
import { wilcoxonSignedRank } from "./wilcoxon.ts";

describe("95 % intervals over mazes of three repeats, in 1,000 samples", () => {
  it.each(["smooth", "twoPeaks"] as const)(
    "with 120 mazes cover the mean of %s in 93 to 97 of 100",
    (population) => {
      const coverage = coverageOf(population, { mazes: 120, method: "bca", repetitions: 1000, resamples: 500 });
      expect(coverage).toBeGreaterThanOrEqual(0.93);
      expect(coverage).toBeLessThanOrEqual(0.97);
    },
    120_000,
  );

  it("cover less where nearly all values lie at the ceiling and mazes are few, BCa less badly so", () => {
    const few = { mazes: 30, repetitions: 1000, resamples: 300 };
    const [percentile, bca] = (["percentile", "bca"] as const).map((method) =>
      coverageOf("nearCeiling", { ...few, method }),
    );
    expect(percentile).toBeLessThan(0.91);
    expect(bca).toBeGreaterThan((percentile ?? 1) + 0.01);
  }, 120_000);
});

describe("ways to read an interval", () => {
  const published = [
    0.62, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.03, 0.9, 0.9, 0.9, 0.698, 0.23, 0.9, 0.9,
    0.9, 0.9, 0.23, 0.9, 0.9, 0.9, 0.9, 0.9,
  ];
  const exponential = Array.from({ length: 40 }, (_, at) => -Math.log(1 - (at + 0.5) / 40));
  const grouped = (values: readonly number[]) =>
    values.map((value, at) => ({ group: String(at).padStart(3, "0"), value }));

  it.each([
    // SOURCE: scipy.stats.bootstrap(np.mean, n_resamples=200000), scipy 1.17.1. Ours draws 20,000.
    { name: "published MEI", values: published, method: "bca" as const, lo: 0.69147, hi: 0.87093 },
    { name: "published MEI", values: published, method: "percentile" as const, lo: 0.721, hi: 0.88133 },
    { name: "exponential scores", values: exponential, method: "bca" as const, lo: 0.74241, hi: 1.35237 },
    { name: "exponential scores", values: exponential, method: "percentile" as const, lo: 0.71373, hi: 1.30433 },
  ])("of $name agree with scipy where read as $method", ({ values, method, lo, hi }) => {
    const interval = bootstrapMean(grouped(values), { random: createRandom(7), resamples: 20_000, method });
    expect(Math.abs((interval.lo ?? 0) - lo)).toBeLessThan(0.008);
    expect(Math.abs((interval.hi ?? 0) - hi)).toBeLessThan(0.012);
  });

  it.each(["percentile", "bca", "studentised"] as const)("are a point where all values agree: %s", (method) => {
    const same = bootstrapMean(grouped([0.7, 0.7, 0.7]), { random: createRandom(1), resamples: 200, method });
    expect(same.lo).toBeCloseTo(0.7, 12);
    expect(same.hi).toBeCloseTo(0.7, 12);
  });

  it("are far narrower within sizes, where sizes differ and their numbers are fixed", () => {
    const rows = Array.from({ length: 60 }, (_, at) => ({
      group: String(at),
      value: (at % 2) * 0.8 + (at % 10) / 100,
      stratum: at % 2 === 0 ? "5" : "7",
    }));
    const width = (values: Parameters<typeof bootstrapMean>[0]): number => {
      const { lo, hi } = bootstrapMean(values, { random: createRandom(2), resamples: 1000, method: "bca" });
      return (hi ?? 0) - (lo ?? 0);
    };
    expect(width(rows)).toBeLessThan(0.1 * width(rows.map(({ group, value }) => ({ group, value }))));
  });
});

describe("false alarms of a 5 % test where nothing has an effect, in 500 samples", () => {
  /** Sixty paired differences as MEI gives them: many of 0, the others of a few sizes and either sign. */
  const nullDifferences = (random: Random): number[] =>
    Array.from({ length: 60 }, () => {
      const size = [0, 0, 0, 0.03, 0.2, 0.67][random.below(6)] ?? 0;
      return random.below(2) === 0 ? size : -size;
    });

  it.each([
    {
      test: "sign-flip",
      pOf: (values: readonly number[], random: Random) => signFlipTest(values, { random, permutations: 400 }).p,
    },
    { test: "exact Wilcoxon", pOf: (values: readonly number[]) => wilcoxonSignedRank(values).p },
    { test: "normal Wilcoxon", pOf: (values: readonly number[]) => wilcoxonSignedRank(values, { method: "normal" }).p },
  ])(
    "are raised by $test in at most 7.5 of 100, and in some",
    ({ pOf }) => {
      const random = createRandom(20_260_322);
      let alarms = 0;
      for (let sample = 0; sample < 500; sample++) {
        if ((pOf(nullDifferences(random), random) ?? 1) <= 0.05) alarms += 1;
      }
      expect(alarms / 500).toBeLessThanOrEqual(0.075);
      expect(alarms / 500).toBeGreaterThan(0.02);
    },
    60_000,
  );
});
