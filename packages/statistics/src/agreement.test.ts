import { createRandom } from "@hallumaze/foundation";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { bootstrapDraws, bootstrapStatistic, resample } from "./bootstrap-statistic.ts";
import { cohenKappa } from "./cohen-kappa.ts";
import { krippendorffAlphaOrdinal, krippendorffAlphaOrdinalOfTable } from "./krippendorff-alpha.ts";
import { mcnemarExact } from "./mcnemar-exact.ts";
import { countResampler } from "./resample-counts.ts";
import { averageRanks, spearman } from "./spearman.ts";

describe("cohenKappa", () => {
  // SOURCE: Cohen (1960), table 1; the vcd package's SexualFun (0.1293, and 0.3320 with Fleiss-Cohen weights, in Friendly,
  // Visualizing Categorical Data); the irrCAC package's cont3x3abstractors (0.7964094 and 0.8921569 on its manual page).
  const cohen = [
    [88, 10, 2],
    [14, 40, 6],
    [18, 10, 12],
  ];
  const couples = [
    [7, 7, 2, 3],
    [2, 8, 3, 7],
    [1, 5, 4, 9],
    [2, 8, 9, 14],
  ];
  const abstractors = [
    [13, 0, 0],
    [0, 20, 7],
    [0, 4, 56],
  ];

  it("gives the published kappa of published tables", () => {
    expect(cohenKappa(cohen).value).toBeCloseTo(0.492, 3);
    expect(cohenKappa(couples).value).toBeCloseTo(0.1293, 4);
    expect(cohenKappa(abstractors).value).toBeCloseTo(0.7964094, 7);
  });

  it("gives the published kappa with quadratic weights", () => {
    expect(cohenKappa(couples, "quadratic").value).toBeCloseTo(0.332, 4);
    expect(cohenKappa(abstractors, "quadratic").value).toBeCloseTo(0.8921569, 7);
  });

  it("is undefined, not 1, where both raters know one class only", () => {
    const one = [
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 3],
    ];
    expect(cohenKappa(one)).toEqual({ value: null, n: 3, undefinedBecause: "singleClass" });
    expect(cohenKappa(one, "quadratic").undefinedBecause).toBe("singleClass");
    expect(cohenKappa([[0]])).toEqual({ value: null, n: 0, undefinedBecause: "noItems" });
  });

  it("is 0 for a rater who always says one class", () => {
    const constant = [
      [0, 0, 5],
      [0, 0, 5],
      [0, 0, 90],
    ];
    expect(cohenKappa(constant).value).toBeCloseTo(0, 12);
  });

  it.each([[[[1, 2]]], [[[1.5]]], [[[-1]]]])("throws on %j", (table) => {
    expect(() => cohenKappa(table)).toThrow(RangeError);
  });
});

describe("krippendorffAlphaOrdinal", () => {
  // SOURCE: Krippendorff (2011), section C: four observers, twelve units, gaps; ordinal alpha 0.815.
  const observers = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, null, null, null],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, null, 3],
    [null, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, null],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, null],
  ];
  const units = Array.from({ length: 12 }, (_, unit) => observers.map((ratings) => ratings[unit] ?? null));

  it("gives Krippendorff's own figure, and leaves out the unit that one observer rated", () => {
    const alpha = krippendorffAlphaOrdinal(units);
    expect(alpha.value).toBeCloseTo(0.815, 3);
    expect(alpha.n).toBe(11);
  });

  it("does not depend on the distance between values", () => {
    const stretched = units.map((row) => row.map((value) => (value === null ? null : 10 ** value)));
    expect(krippendorffAlphaOrdinal(stretched).value).toBeCloseTo(krippendorffAlphaOrdinal(units).value ?? 0, 12);
  });

  it("is undefined where all ratings are one value, or none can be compared", () => {
    expect(
      krippendorffAlphaOrdinal([
        [3, 3],
        [3, 3],
      ]),
    ).toEqual({ value: null, n: 2, undefinedBecause: "singleClass" });
    expect(
      krippendorffAlphaOrdinal([
        [1, null],
        [null, 3],
      ]),
    ).toEqual({ value: null, n: 0, undefinedBecause: "noItems" });
  });

  it("is the same from the table of two raters", () => {
    const table = [
      [2, 1, 1],
      [1, 2, 0],
      [0, 0, 2],
    ];
    const pairs = table.flatMap((row, first) =>
      row.flatMap((count, second) => Array.from({ length: count }, () => [first, second])),
    );
    const fromRatings = krippendorffAlphaOrdinal(pairs);
    expect(krippendorffAlphaOrdinalOfTable(table)).toEqual({
      ...fromRatings,
      value: expect.closeTo(fromRatings.value ?? 2, 12),
    });
    expect(
      krippendorffAlphaOrdinalOfTable([
        [0, 0],
        [0, 3],
      ]),
    ).toMatchObject({ undefinedBecause: "singleClass", n: 3 });
    expect(krippendorffAlphaOrdinalOfTable([[0]]).undefinedBecause).toBe("noItems");
    expect(() => krippendorffAlphaOrdinalOfTable([[1, 2]])).toThrow(RangeError);
  });

  it("is 1 at full agreement, and below 0 where raters contradict each other", () => {
    expect(
      krippendorffAlphaOrdinal([
        [1, 1],
        [2, 2],
        [3, 3],
      ]).value,
    ).toBe(1);
    expect(
      krippendorffAlphaOrdinal([
        [1, 3],
        [3, 1],
      ]).value,
    ).toBeLessThan(0);
  });
});

describe("mcnemarExact", () => {
  // SOURCE: Fagerland, Lydersen & Laake (2013), table 1 (1 and 7 discordant pairs): 0.0703; the others are R's
  // binom.test(b, b + c) as scipy 1.17.1 gives it too.
  it.each([
    [1, 7, 0.0703125],
    [6, 2, 0.2890625],
    [10, 2, 0.0385742],
    [150, 86, 0.0000371594],
    [800, 900, 0.0163206825],
    [4, 4, 1],
    [0, 0, 1],
  ])("of %d and %d is %d", (first, second, p) => {
    expect(mcnemarExact(first, second)).toBeCloseTo(p, 7);
    expect(mcnemarExact(second, first)).toBe(mcnemarExact(first, second));
  });

  it("throws on a count that is not whole", () => {
    expect(() => mcnemarExact(1.5, 2)).toThrow(RangeError);
    expect(() => mcnemarExact(1, -2)).toThrow(RangeError);
  });
});

describe("spearman", () => {
  it("gives a textbook's figure", () => {
    // SOURCE: Wikipedia, Spearman's rank correlation coefficient, the example of IQ and hours of television: -29/165.
    const iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110];
    const hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17];
    expect(spearman(iq, hours).value).toBeCloseTo(-29 / 165, 12);
  });

  it("lets equal values share a rank, so that their order in the list is without effect", () => {
    expect(averageRanks([5, 1, 5, 9])).toEqual([2.5, 1, 2.5, 4]);
    // SOURCE: scipy.stats.spearmanr 1.17.1.
    expect(spearman([1, 2, 2, 3], [1, 1, 2, 3]).value).toBeCloseTo(0.8333333, 7);
    expect(spearman([1, 2, 2, 3], [1, 2, 1, 3]).value).toBeCloseTo(0.8333333, 7);
  });

  it("leaves out pairs with a gap, and is undefined where a side has one value", () => {
    expect(spearman([1, null, 2, 3], [1, 5, 2, 3])).toMatchObject({ value: 1, n: 3 });
    expect(spearman([3, 3, 3], [1, 2, 3])).toEqual({ value: null, n: 3, undefinedBecause: "singleClass" });
    expect(spearman([1], [1]).undefinedBecause).toBe("noItems");
    expect(() => spearman([1, 2], [1])).toThrow(RangeError);
  });

  it("stays when either side is stretched without a change of order (property)", () => {
    const lists = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 })), { minLength: 2 });
    fc.assert(
      fc.property(lists, (pairs) => {
        const [xs, ys] = [pairs.map(([x]) => x), pairs.map(([, y]) => y)];
        const plain = spearman(xs, ys);
        const stretched = spearman(
          xs.map((x) => Math.exp(x)),
          ys,
        );
        expect(stretched.value ?? 2).toBeCloseTo(plain.value ?? 2, 10);
      }),
      { seed: 1001 },
    );
  });
});

describe("bootstrapStatistic", () => {
  const shareOfOnes = (items: readonly number[]): number | null =>
    items.length === 0 ? null : items.reduce((sum, item) => sum + item, 0) / items.length;

  it("agrees with the normal interval of a share where items are many", () => {
    const items = Array.from({ length: 400 }, (_, index) => index % 2);
    const { value, lo, hi } = bootstrapStatistic(items, shareOfOnes, { random: createRandom(1), resamples: 4000 });
    expect(value).toBe(0.5);
    expect(lo).toBeCloseTo(0.5 - 1.96 * 0.025, 2);
    expect(hi).toBeCloseTo(0.5 + 1.96 * 0.025, 2);
  });

  it("is the same for the same seed", () => {
    const once = bootstrapStatistic([0, 1, 1, 0, 1], shareOfOnes, { random: createRandom(7), resamples: 200 });
    const again = bootstrapStatistic([0, 1, 1, 0, 1], shareOfOnes, { random: createRandom(7), resamples: 200 });
    expect(again).toEqual(once);
  });

  it("counts the resamples in which the statistic is undefined, and leaves them out", () => {
    const spread = (items: readonly number[]): number | null => (new Set(items).size === 1 ? null : 1);
    const estimate = bootstrapStatistic([0, 1, 1], spread, { random: createRandom(1), resamples: 900 });
    // All three draws alike: (1/3)^3 + (2/3)^3 = 1/3.
    expect(estimate.undefinedResamples / 900).toBeCloseTo(1 / 3, 1);
    expect(estimate).toMatchObject({ value: 1, lo: 1, hi: 1 });
  });

  it("has no interval where the statistic is undefined for most resamples or for the items", () => {
    const seldom = bootstrapDraws(1, (random) => (random.below(10) === 0 ? 1 : null), {
      random: createRandom(1),
      resamples: 100,
    });
    expect(seldom).toMatchObject({ value: 1, lo: null, hi: null });
    expect(bootstrapStatistic([], shareOfOnes, { random: createRandom(1) })).toEqual({
      value: null,
      lo: null,
      hi: null,
      undefinedResamples: 0,
    });
  });

  it("draws as many items as there are", () => {
    expect(resample(["a", "b", "c"], createRandom(1))).toHaveLength(3);
    expect(resample([], createRandom(1))).toEqual([]);
  });

  it.each([{ level: 1 }, { resamples: 0 }])("throws on %j", (options) => {
    expect(() => bootstrapStatistic([1], shareOfOnes, { random: createRandom(1), ...options })).toThrow(RangeError);
  });
});

describe("countResampler", () => {
  it("has the mean, spread and covariance of drawing item by item", () => {
    const random = createRandom(5);
    const draw = countResampler([50, 30, 0, 20]);
    const draws = Array.from({ length: 20_000 }, () => draw(random));
    const mean = (of: (counts: readonly number[]) => number): number =>
      draws.reduce((sum, counts) => sum + of(counts), 0) / draws.length;
    expect(draws.every((counts) => counts.reduce((sum, count) => sum + count, 0) === 100)).toBe(true);
    expect(mean(([first = 0]) => first)).toBeCloseTo(50, 0);
    expect(mean(([, second = 0]) => second)).toBeCloseTo(30, 0);
    expect(mean(([, , none = 0]) => none)).toBe(0);
    // n p (1 - p) = 25 and 21; covariance -n p q = -15.
    expect(mean(([first = 0]) => (first - 50) ** 2) / 25).toBeCloseTo(1, 1);
    expect(mean(([, second = 0]) => (second - 30) ** 2) / 21).toBeCloseTo(1, 1);
    expect(mean(([first = 0, second = 0]) => (first - 50) * (second - 30)) / -15).toBeCloseTo(1, 1);
  });

  it("gives each small outcome its exact chance", () => {
    const random = createRandom(6);
    const draw = countResampler([1, 2]);
    const firsts = Array.from({ length: 30_000 }, () => draw(random)[0] ?? 0);
    // Binomial(3, 1/3): 8/27, 12/27, 6/27, 1/27.
    for (const [count, chance] of [8, 12, 6, 1].entries()) {
      expect(firsts.filter((first) => first === count).length / 30_000).toBeCloseTo(chance / 27, 2);
    }
  });

  it("gives what there is where there is one kind or nothing, and throws on a part of an item", () => {
    expect(countResampler([0, 7, 0])(createRandom(1))).toEqual([0, 7, 0]);
    expect(countResampler([0, 0])(createRandom(1))).toEqual([0, 0]);
    expect(() => countResampler([1.5])).toThrow(RangeError);
  });
});
