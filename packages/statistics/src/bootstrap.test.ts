import { createRandom } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import { bootstrapMean, bootstrapPairedDifference, type GroupedValue } from "./bootstrap.ts";

/** MEI of 60 published trials of one model. SOURCE: the published HalluMaze trials (5×5, then 7×7). */
const PUBLISHED_MEI = `
.62 .9 .9 .9 .9 .9 .9 .9 .9 .9 .9 .9 .9 .9 .03 .9 .9 .9 .698 .23 .9 .9 .9 .9 .23 .9 .9 .9 .9 .9
.9 .9 .03 .23 .23 .8349 .9 .9 .23 .23 .23 .03 .7186 .03 .03 .03 .23 .03 .23 .23 .9 .03 .23 .23 .9 .23 .23 .9 .23 .23`
  .trim()
  .split(/\s+/)
  .map(Number);

const grouped = (values: readonly (number | null)[]): GroupedValue[] =>
  values.map((value, index) => ({ group: String(index).padStart(4, "0"), value }));

describe("bootstrapMean", () => {
  it("comes within 0.001 of the published mean and interval, drawn by the published generator and seed", () => {
    const { n, mean, lo, hi } = bootstrapMean(grouped(PUBLISHED_MEI), { random: createRandom(42), resamples: 2000 });
    expect(n).toBe(60);
    expect(mean).toBeCloseTo(0.593192, 6);
    expect(Math.abs((lo ?? 0) - 0.5004)).toBeLessThan(0.001);
    expect(Math.abs((hi ?? 0) - 0.6821)).toBeLessThan(0.001);
  });

  it("agrees with the normal interval where groups are many", () => {
    const half = Array.from({ length: 400 }, (_, index) => index % 2);
    const { lo, hi } = bootstrapMean(grouped(half), { random: createRandom(1) });
    // Standard error 0.5 / sqrt(400) = 0.025.
    expect(lo).toBeCloseTo(0.5 - 1.96 * 0.025, 2);
    expect(hi).toBeCloseTo(0.5 + 1.96 * 0.025, 2);
  });

  it("averages within a group first, so that repeats do not count as further groups", () => {
    const once = grouped([0, 1, 0, 1, 1]);
    const repeated = once.flatMap((row) => Array.from({ length: 20 }, () => row));
    expect(bootstrapMean(repeated, { random: createRandom(3) })).toEqual(
      bootstrapMean(once, { random: createRandom(3) }),
    );
  });

  it("does not depend on the rows' order", () => {
    const rows = grouped([0.1, 0.5, 0.9, 0.3]);
    expect(bootstrapMean(rows.toReversed(), { random: createRandom(3) })).toEqual(
      bootstrapMean(rows, { random: createRandom(3) }),
    );
  });

  it("leaves missing values out of the mean and counts the groups that have none", () => {
    const rows = [...grouped([0.2, null, 0.4]), { group: "0000", value: null }];
    expect(bootstrapMean(rows, { random: createRandom(1) })).toMatchObject({
      n: 2,
      missing: 1,
      mean: expect.closeTo(0.3),
    });
  });

  it("has no interval under two groups, and a point where all groups agree", () => {
    expect(bootstrapMean([], { random: createRandom(1) })).toEqual({
      n: 0,
      missing: 0,
      mean: null,
      lo: null,
      hi: null,
    });
    expect(bootstrapMean(grouped([0.7]), { random: createRandom(1) })).toMatchObject({ mean: 0.7, lo: null, hi: null });
    expect(bootstrapMean(grouped([0.5, 0.5]), { random: createRandom(1) })).toMatchObject({ lo: 0.5, hi: 0.5 });
  });

  it("covers the true mean in about 95 of 100 samples", () => {
    const random = createRandom(1001);
    let covered = 0;
    for (let sample = 0; sample < 300; sample++) {
      const rows = grouped(Array.from({ length: 40 }, () => random.fraction()));
      const { lo, hi } = bootstrapMean(rows, { random, resamples: 400 });
      if ((lo ?? 1) <= 0.5 && (hi ?? 0) >= 0.5) covered++;
    }
    expect(covered / 300).toBeGreaterThan(0.9);
    expect(covered / 300).toBeLessThan(0.985);
  });

  it.each([{ level: 0 }, { level: 1 }, { resamples: 0 }, { resamples: 1.5 }])("throws on %j", (options) => {
    expect(() => bootstrapMean(grouped([1, 2]), { random: createRandom(1), ...options })).toThrow(RangeError);
  });
});

describe("bootstrapPairedDifference", () => {
  it("compares common groups only, and says how many were left out", () => {
    const a = grouped([0.5, 0.7, 0.9, null, 0.1]);
    const b = grouped([0.4, 0.6, 0.8, 0.2]);
    expect(bootstrapPairedDifference(a, b, { random: createRandom(1) })).toEqual({
      n: 3,
      missing: 2,
      mean: expect.closeTo(0.1),
      lo: expect.closeTo(0.1),
      hi: expect.closeTo(0.1),
    });
  });

  it("is far narrower than the difference of two unpaired means where groups differ in difficulty", () => {
    const difficulty = Array.from({ length: 50 }, (_, index) => index / 50);
    const harder = difficulty.map((value, index) => value - 0.02 - (index % 2) * 0.02);
    const { mean, lo, hi } = bootstrapPairedDifference(grouped(difficulty), grouped(harder), {
      random: createRandom(1),
    });
    expect(mean).toBeCloseTo(0.03, 10);
    expect((hi ?? 1) - (lo ?? 0)).toBeLessThan(0.01);
    const alone = bootstrapMean(grouped(difficulty), { random: createRandom(1) });
    expect((alone.hi ?? 0) - (alone.lo ?? 1)).toBeGreaterThan(0.1);
  });
});
