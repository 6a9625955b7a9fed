import { createRandom } from "@hallumaze/foundation";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { adjustPValues } from "./adjust-p-values.ts";
import { fisherExact } from "./fisher-exact.ts";
import { normalTwoSided, normalUpperTail } from "./normal-distribution.ts";
import { signFlipTest } from "./sign-flip.ts";
import { wilcoxonSignedRank } from "./wilcoxon.ts";

/**
 * Darwin's plants, crossed minus self-fertilised, in eighths of an inch. SOURCE: Darwin (1876), The Effects of Cross and
 * Self Fertilisation in the Vegetable Kingdom, table of Zea mays; tested in Fisher (1935), The Design of Experiments, ch. 3.
 */
const darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];
/** Extra hours of sleep, second drug minus first. SOURCE: Student (1908), Biometrika 6:1-25; R's data set `sleep`. */
const sleep = [1.2, 2.4, 1.3, 1.3, 0, 1.0, 1.8, 0.8, 4.6, 1.4];

describe("the normal distribution", () => {
  it.each([
    // SOURCE: scipy.stats.norm.sf, scipy 1.17.1.
    [0, 0.5],
    [0.5, 0.3085375387259869],
    [1, 0.15865525393145707],
    [1.96, 0.024997895148220435],
    [3, 0.0013498980316300933],
    [4.6228, 1.8929735264313844e-6],
    [8, 6.22096057427174e-16],
    [10, 7.61985302416047e-24],
    [-1.5, 0.9331927987311419],
  ])("has above %d the chance %d", (z, chance) => {
    expect(normalUpperTail(z) / chance).toBeCloseTo(1, 12);
  });

  it("is symmetric, and two-sided never above 1", () => {
    expect(normalTwoSided(-1.96)).toBe(normalTwoSided(1.96));
    expect(normalTwoSided(0)).toBe(1);
  });
});

describe("Wilcoxon's signed-rank test", () => {
  it("is exact on few differences: Darwin's plants", () => {
    // SOURCE: scipy.stats.wilcoxon(mode="exact"), scipy 1.17.1; R's wilcox.test gives V = 96, p = 0.04126.
    expect(wilcoxonSignedRank(darwin)).toMatchObject({ n: 15, zeros: 0, wPlus: 96, wMinus: 24, method: "exact" });
    expect(wilcoxonSignedRank(darwin).p).toBeCloseTo(0.041259765625, 12);
  });

  it("is exact with ties: the share of all sign patterns, counted one by one", () => {
    const tied = [1, 1, 2, -1, 3, -2, 2, 4, 4, 0, 0, -3, 1];
    // SOURCE: enumeration of the 2^11 patterns in Python with scipy.stats.rankdata, scipy 1.17.1.
    expect(wilcoxonSignedRank(tied)).toMatchObject({ n: 11, zeros: 2, wPlus: 49, p: 0.181640625 });
  });

  it.each([
    // SOURCE: scipy.stats.wilcoxon(method="approx", correction=False, zero_method="wilcox"), scipy 1.17.1.
    ["without ties", [0.05, -0.02, 0.11, 0.03, -0.07, 0.2, 0.08, 0.01, -0.04, 0.15], 0.11412832776223863],
    ["with ties and zeros", [1, 1, 2, -1, 3, -2, 2, 4, 4, 0, 0, -3, 1], 0.1515853081499213],
    ["with a zero and one tie", sleep, 0.007632441648205508],
  ])("gives scipy's normal approximation %s", (_, differences, p) => {
    expect(wilcoxonSignedRank(differences, { method: "normal" }).p).toBeCloseTo(p, 12);
  });

  it("has no p-value without a difference", () => {
    expect(wilcoxonSignedRank([0, 0])).toMatchObject({ n: 0, zeros: 2, p: null });
    expect(() => wilcoxonSignedRank([Number.NaN])).toThrow(RangeError);
  });

  it("is certain of nothing where the ranks balance", () => {
    expect(wilcoxonSignedRank([1, -1, 2, -2]).p).toBe(1);
  });
});

describe("the sign-flip test", () => {
  it("gives Fisher's own p-value of Darwin's plants within the error of the draw", () => {
    // SOURCE: Fisher (1935), section 21: 1,726 of 32,768 patterns are as extreme, 5.267 %.
    const { p, exact, permutations } = signFlipTest(darwin, { random: createRandom(1), permutations: 40_000 });
    expect({ exact, permutations }).toEqual({ exact: false, permutations: 40_000 });
    expect(Math.abs((p ?? 0) - 0.05267333984375)).toBeLessThan(0.004);
  });

  it("draws a bit a sign: the p-values of released reports come out again", () => {
    const waves = (count: number) => Array.from({ length: count }, (_, at) => Math.sin(at) + 0.1);
    expect(signFlipTest(waves(45), { random: createRandom(3) }).p).toBe(0.34466553344665535);
    expect(signFlipTest(waves(70), { random: createRandom(3), permutations: 1000 }).p).toBe(0.23676323676323677);
  });

  it("looks at all patterns where they are few", () => {
    expect(signFlipTest([1, 2, 3], { random: createRandom(1) })).toEqual({
      n: 3,
      p: 0.25,
      permutations: 8,
      exact: true,
    });
    expect(signFlipTest([0, 0], { random: createRandom(1) }).p).toBe(1);
    expect(signFlipTest([], { random: createRandom(1) }).p).toBeNull();
  });

  it("is never 0 where patterns are drawn, and does not depend on the order", () => {
    const all = Array.from({ length: 40 }, (_, at) => 1 + at / 100);
    const options = { permutations: 999 };
    expect(signFlipTest(all, { random: createRandom(1), ...options }).p).toBe(0.001);
    const mixed = all.map((value, at) => (at % 3 === 0 ? -value : value));
    expect(signFlipTest(mixed.toReversed(), { random: createRandom(1), ...options })).toEqual(
      signFlipTest(mixed, { random: createRandom(1), ...options }),
    );
  });
});

describe("corrections for many tests", () => {
  /** SOURCE: Benjamini & Hochberg (1995), section 4: 15 tests of thrombolysis, of which BH finds 4 at 0.05, Bonferroni 3. */
  const thrombolysis = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1,
  ];

  it("BH finds what its paper found, and gives scipy's adjusted values", () => {
    const adjusted = adjustPValues(thrombolysis, "bh");
    expect(adjusted.filter((p) => (p ?? 1) <= 0.05)).toHaveLength(4);
    expect(adjustPValues(thrombolysis, "bonferroni").filter((p) => (p ?? 1) <= 0.05)).toHaveLength(3);
    // SOURCE: scipy.stats.false_discovery_control, scipy 1.17.1, to the digits that it printed.
    const known = [
      0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.06385714, 0.06385714, 0.0645, 0.0765, 0.486, 0.58118182, 0.714875,
      0.75323077, 0.81321429, 1,
    ];
    for (const [at, value] of known.entries()) expect(adjusted[at]).toBeCloseTo(value, 7);
  });

  it("Holm gives the worked values, whatever the order, and leaves out what was not tested", () => {
    // SOURCE: Holm's rule by hand: 4·0.005, max(0.02, 3·0.01), 2·0.03 = 0.06, max(0.06, 0.04).
    expect(adjustPValues([0.01, 0.04, null, 0.03, 0.005], "holm")).toEqual([0.03, 0.06, null, 0.06, 0.02]);
    expect(adjustPValues([0.6, 0.7], "holm")).toEqual([1, 1]);
    expect(adjustPValues([null], "bh")).toEqual([null]);
  });

  it("never make a p-value smaller, and BH is never above Holm, which is never above Bonferroni", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }), (pValues) => {
        const [bh, holm, bonferroni] = (["bh", "holm", "bonferroni"] as const).map((by) => adjustPValues(pValues, by));
        for (const [at, p] of pValues.entries()) {
          const [low, middle, high] = [bh?.[at] ?? -1, holm?.[at] ?? -1, bonferroni?.[at] ?? -1];
          expect(p).toBeLessThanOrEqual(low + 1e-15);
          expect(low).toBeLessThanOrEqual(middle + 1e-15);
          expect(middle).toBeLessThanOrEqual(high + 1e-15);
        }
      }),
      { seed: 6 },
    );
  });

  it("refuse what is no p-value", () => {
    expect(() => adjustPValues([1.2], "holm")).toThrow(RangeError);
  });
});

describe("Fisher's exact test", () => {
  it.each([
    // SOURCE: the lady tasting tea, Fisher (1935), ch. 2; the others scipy.stats.fisher_exact, scipy 1.17.1.
    [3, 4, 1, 4, 0.48571428571428565],
    [8, 10, 1, 6, 0.034965034965034975],
    [0, 10, 7, 10, 0.0030959752321981426],
    [12, 100, 40, 100, 9.338904074500399e-6],
    [2, 1000, 15, 1000, 0.0022575656828957816],
  ])("of %d of %d against %d of %d", (hits, trials, otherHits, otherTrials, p) => {
    expect(fisherExact({ hits, trials }, { hits: otherHits, trials: otherTrials }) / p).toBeCloseTo(1, 8);
  });

  it("says nothing where a side is empty, and is quick on a million", () => {
    expect(fisherExact({ hits: 0, trials: 0 }, { hits: 3, trials: 9 })).toBe(1);
    expect(fisherExact({ hits: 0, trials: 9 }, { hits: 0, trials: 9 })).toBe(1);
    expect(fisherExact({ hits: 500, trials: 500_000 }, { hits: 900, trials: 500_000 })).toBeLessThan(1e-20);
  });
});
