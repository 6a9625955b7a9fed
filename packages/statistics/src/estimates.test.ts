import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { clopperPearson } from "./clopper-pearson.ts";
import { normalQuantile } from "./normal-quantile.ts";
import { summarise } from "./summarise.ts";
import { wilsonInterval } from "./wilson-interval.ts";

describe("wilsonInterval", () => {
  // SOURCE: Newcombe (1998), Statistics in Medicine 17:857-872, table I, method 3 (score).
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])("gives Newcombe's published bounds of %d in %d", (successes, trials, lo, hi) => {
    const interval = wilsonInterval(successes, trials);
    expect(interval?.lo).toBeCloseTo(lo, 4);
    expect(interval?.hi).toBeCloseTo(hi, 4);
  });

  it("is null without trials, and ends at 0 and 1 exactly", () => {
    expect(wilsonInterval(0, 0)).toBeNull();
    expect(wilsonInterval(0, 7)?.lo).toBe(0);
    expect(wilsonInterval(7, 7)?.hi).toBe(1);
  });

  it.each([
    [-1, 5],
    [6, 5],
    [1.5, 5],
    [Number.NaN, 5],
  ])("throws on %d of %d", (successes, trials) => {
    expect(() => wilsonInterval(successes, trials)).toThrow(RangeError);
  });

  it("holds the share, mirrors failures, and widens with the level (property)", () => {
    const counts = fc
      .integer({ min: 1, max: 100_000 })
      .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)));
    fc.assert(
      fc.property(counts, ([successes, trials]) => {
        const narrow = wilsonInterval(successes, trials, 0.9) ?? { lo: 1, hi: 0 };
        const wide = wilsonInterval(successes, trials, 0.99) ?? { lo: 1, hi: 0 };
        const failures = wilsonInterval(trials - successes, trials, 0.9) ?? { lo: 1, hi: 0 };
        expect(narrow.lo).toBeLessThanOrEqual(successes / trials);
        expect(narrow.hi).toBeGreaterThanOrEqual(successes / trials);
        expect(wide.lo).toBeLessThanOrEqual(narrow.lo);
        expect(wide.hi).toBeGreaterThanOrEqual(narrow.hi);
        expect(failures.hi).toBeCloseTo(1 - narrow.lo, 12);
      }),
      { seed: 1001 },
    );
  });
});

describe("clopperPearson", () => {
  // SOURCE: Newcombe (1998), Statistics in Medicine 17:857-872, table I, method 5 (exact).
  it.each([
    [81, 263, 0.2527, 0.3676],
    [15, 148, 0.0578, 0.1617],
    [0, 20, 0, 0.1684],
    [1, 29, 0.0009, 0.1776],
  ])("gives Newcombe's published bounds of %d in %d", (successes, trials, lo, hi) => {
    const interval = clopperPearson(successes, trials);
    expect(interval?.lo).toBeCloseTo(lo, 4);
    expect(interval?.hi).toBeCloseTo(hi, 4);
  });

  // SOURCE: scipy.stats.binomtest(successes, trials).proportion_ci(0.95, "exact"), scipy 1.17.1; R's binom.test gives the same.
  it.each([
    [36, 36, 0.902606244085508, 1],
    [35, 36, 0.854710735253147, 0.999296974794065],
    [53, 54, 0.901084840492148, 0.999531261596182],
    [96, 100, 0.90074284328734, 0.988995506013812],
    [170, 180, 0.900206381405208, 0.973040660516993],
    [682, 925, 0.707668264079042, 0.765406558241523],
    [3000, 10_000, 0.291027611309894, 0.309088996975974],
  ])("gives the exact bounds of %d in %d to 12 digits", (successes, trials, lo, hi) => {
    const interval = clopperPearson(successes, trials);
    expect(interval?.lo).toBeCloseTo(lo, 12);
    expect(interval?.hi).toBeCloseTo(hi, 12);
  });

  it("is (tail)^(1/n) where all succeed", () => {
    expect(clopperPearson(20, 20, 0.9)?.lo).toBeCloseTo(0.05 ** (1 / 20), 13);
  });

  it("is null without trials, and ends at 0 and 1 exactly", () => {
    expect(clopperPearson(0, 0)).toBeNull();
    expect(clopperPearson(0, 7)?.lo).toBe(0);
    expect(clopperPearson(7, 7)?.hi).toBe(1);
  });

  it.each([
    [-1, 5, 0.95],
    [6, 5, 0.95],
    [1.5, 5, 0.95],
    [1, 5, 1],
  ])("throws on %d of %d at %d", (successes, trials, level) => {
    expect(() => clopperPearson(successes, trials, level)).toThrow(RangeError);
  });

  it("holds the share and mirrors failures (property)", () => {
    const counts = fc
      .integer({ min: 1, max: 2000 })
      .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)));
    fc.assert(
      fc.property(counts, ([successes, trials]) => {
        const exact = clopperPearson(successes, trials) ?? { lo: 1, hi: 0 };
        const mirrored = clopperPearson(trials - successes, trials) ?? { lo: 1, hi: 0 };
        expect(exact.lo).toBeLessThanOrEqual(successes / trials);
        expect(exact.hi).toBeGreaterThanOrEqual(successes / trials);
        expect(mirrored.hi).toBeCloseTo(1 - exact.lo, 12);
      }),
      { seed: 1001 },
    );
  });
});

describe("normalQuantile", () => {
  // SOURCE: the three check values printed with AS 241 (0.25, 0.001, 1e-20), and the usual 97.5 % point.
  it.each([
    [0.25, -0.674_489_750_196_081_7],
    [0.001, -3.090_232_306_167_813],
    [0.975, 1.959_963_984_540_054],
    [1e-20, -9.262_340_089_798_41],
  ])("of %d is %d", (probability, quantile) => {
    expect(normalQuantile(probability)).toBeCloseTo(quantile, 12);
  });

  it.each([0, 1, -0.1, Number.NaN])("throws on %d", (probability) => {
    expect(() => normalQuantile(probability)).toThrow(RangeError);
  });
});

describe("summarise", () => {
  it("gives n, mean, median and the sample's deviation, and counts what is missing", () => {
    const summary = summarise([2, null, 4, 4, 4, 5, 5, 7, 9, null]);
    expect(summary).toMatchObject({ n: 8, missing: 2, mean: 5, median: 4.5 });
    // The squares of the deviations sum to 32.
    expect(summary.sd).toBeCloseTo(Math.sqrt(32 / 7), 12);
  });

  it("knows nothing of an empty list, and no deviation of one value", () => {
    expect(summarise([null])).toEqual({ n: 0, missing: 1, mean: null, median: null, sd: null });
    expect(summarise([3])).toEqual({ n: 1, missing: 0, mean: 3, median: 3, sd: null });
  });

  it("throws on a value that is no number", () => {
    expect(() => summarise([1, Number.NaN])).toThrow(RangeError);
  });
});
