import { describe, expect, it } from "vitest";

import { planDetectable } from "./detectable.ts";

describe("what a grid can tell apart", () => {
  it("shrinks with the root of its mazes", () => {
    const few = planDetectable({ seeds: 30, sizes: 1 }, { sd: 0.36, wished: null });
    const many = planDetectable({ seeds: 30, sizes: 4 }, { sd: 0.36, wished: null });
    expect(few.mazes).toBe(30);
    // Normal theory: (1.96 + 0.84) × sd × √2 / √n, a little more for the t distribution.
    expect(few.difference).toBeGreaterThan((2.8 * 0.36 * Math.SQRT2) / Math.sqrt(30));
    expect((few.difference ?? 0) / (many.difference ?? 1)).toBeCloseTo(2, 0);
  });

  it("names the seeds of a wished difference, and these find it", () => {
    const { seedsNeeded } = planDetectable({ seeds: 30, sizes: 2 }, { sd: 0.36, wished: 0.1 });
    expect(seedsNeeded).toBeGreaterThan(90);
    const found = (seeds: number) => planDetectable({ seeds, sizes: 2 }, { sd: 0.36, wished: null }).difference ?? 1;
    expect(found(seedsNeeded ?? 0)).toBeLessThanOrEqual(0.1);
    expect(found((seedsNeeded ?? 0) - 2)).toBeGreaterThan(0.1);
  });

  it("knows nothing of a single maze", () => {
    expect(planDetectable({ seeds: 1, sizes: 1 }, { sd: 0.36, wished: null }).difference).toBeNull();
  });
});
