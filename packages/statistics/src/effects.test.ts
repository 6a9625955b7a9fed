import { describe, expect, it } from "vitest";

import { detectableDifference, groupsNeeded } from "./detectable-effect.ts";
import { glassDelta } from "./glass-delta.ts";
import { intraclassCorrelation } from "./intraclass-correlation.ts";
import { missingBounds } from "./missing-bounds.ts";
import { clusteredWilsonInterval, wilsonInterval } from "./wilson-interval.ts";

describe("the detectable difference", () => {
  // SOURCE: the noncentral t distribution solved in scipy 1.17.1 (stats.nct): power of the two-sided paired t-test, 5 %.
  it.each([
    [10, 0.9960013714554435],
    [20, 0.6604416546230263],
    [30, 0.5292356151129529],
    [60, 0.3677043160873462],
    [120, 0.2578353924450132],
    [500, 0.1255323195466901],
  ])("with %d groups is the t-test's within 3 %% (1 %% from 20 on)", (groups, exact) => {
    const ratio = (detectableDifference(1, groups) ?? 0) / exact;
    expect(Math.abs(ratio - 1)).toBeLessThan(groups < 20 ? 0.03 : 0.01);
  });

  it.each([
    [0.2, 0.8, 198.15],
    [0.3, 0.8, 89.149],
    [0.5, 0.8, 33.367],
    [0.8, 0.8, 14.303],
    [0.2, 0.9, 264.614],
    [1, 0.9, 12.585],
  ])(
    "of %d standard deviations with power %d needs the t-test's %d groups, give or take one",
    (effect, power, exact) => {
      expect(Math.abs((groupsNeeded(1, effect, { power }) ?? 0) - Math.ceil(exact))).toBeLessThanOrEqual(1);
    },
  );

  it("is unknown with too few groups, and no number finds nothing", () => {
    expect(detectableDifference(1, 1)).toBeNull();
    expect(groupsNeeded(1, 0)).toBeNull();
    expect(groupsNeeded(0, 0.1)).toBe(2);
    expect(() => groupsNeeded(-1, 0.1)).toThrow(RangeError);
    expect(() => groupsNeeded(1, 0.1, { power: 1 })).toThrow(RangeError);
  });
});

describe("bounds over what is missing", () => {
  const range = { lo: 0, hi: 1 };

  it("are the mean where nothing is, and widen with every missing value", () => {
    const full = [0.5, 0.7].map((value, at) => ({ group: String(at), value }));
    expect(missingBounds(full, range)).toEqual({ lo: expect.closeTo(0.6), hi: expect.closeTo(0.6) });
    const lost = [...full, { group: "2", value: null }];
    expect(missingBounds(lost, range)).toEqual({ lo: expect.closeTo(0.4), hi: expect.closeTo(2.2 / 3) });
    expect(missingBounds([], range)).toBeNull();
  });

  it("weigh a lost repeat within its maze only", () => {
    const values = [
      { group: "a", value: 1 },
      { group: "a", value: null },
      { group: "b", value: 0 },
    ];
    expect(missingBounds(values, range)).toEqual({ lo: 0.25, hi: 0.5 });
  });
});

describe("the intraclass correlation", () => {
  it("is that of the published table of four judges, read as one-way", () => {
    // SOURCE: Shrout & Fleiss (1979), table 2 (six targets, four judges): ICC(1,1) = .17.
    const ratings = [
      [9, 2, 5, 8],
      [6, 1, 3, 2],
      [8, 4, 6, 8],
      [7, 1, 2, 6],
      [10, 5, 6, 9],
      [6, 2, 4, 7],
    ];
    const values = ratings.flatMap((row, at) => row.map((value) => ({ group: String(at), value })));
    expect(intraclassCorrelation(values)).toEqual({ value: expect.closeTo(0.1657, 4), groups: 6, values: 24 });
  });

  it("is 1 where repeats agree, and unknown without repeats or without any difference", () => {
    const pairs = (values: readonly (readonly number[])[]) =>
      values.flatMap((row, at) => row.map((value) => ({ group: String(at), value })));
    expect(
      intraclassCorrelation(
        pairs([
          [1, 1],
          [0, 0, 0],
        ]),
      ).value,
    ).toBe(1);
    expect(intraclassCorrelation(pairs([[1], [0]]))).toEqual({ value: null, groups: 0, values: 0 });
    expect(
      intraclassCorrelation(
        pairs([
          [0.3, 0.3],
          [0.3, 0.3],
        ]),
      ).value,
    ).toBeNull();
  });
});

describe("Wilson's interval over groups", () => {
  it("is Wilson's own with one trial a group", () => {
    const groups = Array.from({ length: 30 }, (_, at) => ({ successes: at < 22 ? 1 : 0, trials: 1 }));
    expect(clusteredWilsonInterval(groups)).toEqual({ ...wilsonInterval(22, 30), trials: 30 });
  });

  it("counts repeats that always agree once", () => {
    const groups = Array.from({ length: 30 }, (_, at) => ({ successes: at < 22 ? 5 : 0, trials: 5 }));
    const { trials, lo } = clusteredWilsonInterval(groups) ?? { trials: 0, lo: 0 };
    expect(trials).toBeCloseTo(30, 10);
    expect(lo).toBeCloseTo(wilsonInterval(22, 30)?.lo ?? 0, 10);
    const solved = Array.from({ length: 30 }, () => ({ successes: 5, trials: 5 }));
    expect(clusteredWilsonInterval(solved)).toEqual({ ...wilsonInterval(30, 30), trials: 30 });
  });

  it("does not count independent trials as more than they are", () => {
    const groups = Array.from({ length: 20 }, () => ({ successes: 3, trials: 6 }));
    expect(clusteredWilsonInterval(groups)?.trials).toBe(120);
    expect(clusteredWilsonInterval([])).toBeNull();
  });
});

describe("Glass's delta", () => {
  it("is the distance from the constant in standard deviations", () => {
    expect(glassDelta([1, 2, 3], 4)).toBe(2);
    expect(glassDelta([1, 2, 3], 0)).toBe(2);
    expect(glassDelta([2, 2], 4)).toBeNull();
    expect(glassDelta([2], 4)).toBeNull();
  });
});
