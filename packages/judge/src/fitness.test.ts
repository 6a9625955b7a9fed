import { createRandom } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import { times } from "../test/gold-fixtures.ts";
import type { ConfusionMatrix } from "./confusion.ts";
import { correctedMean, type Fitness, type FitnessInput, predictionPoweredMean } from "./fitness.ts";
import type { GateDecision } from "./gate.ts";
import type { Level } from "./judged.ts";

const open: GateDecision = { open: true, refusals: [], codes: [] };
/** A judge that calls a fifth of L1 and of L2 one level too high. */
const kind: ConfusionMatrix = {
  counts: [
    [40, 10, 0],
    [0, 40, 10],
    [0, 0, 50],
  ],
  unscored: [0, 0, 0],
};

function levelsOf(ones: number, twos: number, threes: number): Level[] {
  return [...times(ones, 1 as const), ...times(twos, 2 as const), ...times(threes, 3 as const)];
}

function input(levels: readonly (Level | null)[], more: Partial<FitnessInput> = {}): FitnessInput {
  return { levels, confusion: kind, gate: open, bootstrap: { random: createRandom(1001), resamples: 500 }, ...more };
}

function found(fitness: Fitness): Extract<Fitness, { kind: "fitness" }> {
  if (fitness.kind === "refused") throw new Error(fitness.message);
  return fitness;
}

describe("correctedMean", () => {
  it("finds the shares that make the judge say what it said", () => {
    // Of 50 L1, 30 L2 and 20 L3 this judge says 40 L1, 34 L2 and 26 L3.
    const fitness = found(correctedMean(input(levelsOf(40, 34, 26))));
    expect(fitness.shares?.map((share) => share.toFixed(12))).toEqual([
      "0.500000000000",
      "0.300000000000",
      "0.200000000000",
    ]);
    expect(fitness.mean).toBeCloseTo(1.7, 12);
    expect(fitness).toMatchObject({ judgeMean: 1.86, n: 100, missing: 0, goldItems: 150, clipped: false });
    expect(fitness.lo ?? 3).toBeLessThan(1.7);
    expect(fitness.hi ?? 1).toBeGreaterThan(1.7);
  });

  it("changes nothing where the judge never errs", () => {
    const perfect = {
      counts: [
        [9, 0, 0],
        [0, 9, 0],
        [0, 0, 9],
      ],
      unscored: [0, 0, 0],
    };
    const fitness = found(correctedMean(input(levelsOf(1, 2, 1), { confusion: perfect })));
    expect(fitness.mean).toBeCloseTo(fitness.judgeMean, 12);
  });

  it("is wider where the gold set is smaller, for its errors are less sure", () => {
    const small = {
      counts: [
        [4, 1, 0],
        [0, 4, 1],
        [0, 0, 5],
      ],
      unscored: [0, 0, 0],
    };
    const width = ({ lo, hi }: { lo: number | null; hi: number | null }): number => (hi ?? 9) - (lo ?? 0);
    const levels = levelsOf(40, 34, 26);
    expect(width(found(correctedMean(input(levels, { confusion: small }))))).toBeGreaterThan(
      width(found(correctedMean(input(levels)))),
    );
  });

  it("covers the true mean in about 95 of 100 samples", { timeout: 60_000 }, () => {
    const random = createRandom(2002);
    const rates = [
      [0.8, 0.2, 0],
      [0.1, 0.8, 0.1],
      [0, 0.1, 0.9],
    ];
    const say = (level: number): Level => {
      const at = random.fraction();
      const [first = 0, second = 0] = rates[level - 1] ?? [];
      return at < first ? 1 : at < first + second ? 2 : 3;
    };
    let covered = 0;
    for (let sample = 0; sample < 200; sample++) {
      const counts = [
        [0, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
      ];
      for (const level of levelsOf(30, 30, 30)) {
        const row = counts[level - 1] ?? [];
        const column = say(level) - 1;
        row[column] = (row[column] ?? 0) + 1;
      }
      // True shares 0.5, 0.3, 0.2: mean 1.7.
      const levels = times(120, 0).map(() => {
        const at = random.fraction();
        return say(at < 0.5 ? 1 : at < 0.8 ? 2 : 3);
      });
      const confusion = { counts, unscored: [0, 0, 0] };
      const { lo, hi } = found(correctedMean(input(levels, { confusion, bootstrap: { random, resamples: 200 } })));
      if ((lo ?? 3) <= 1.7 && (hi ?? 1) >= 1.7) covered++;
    }
    expect(covered / 200).toBeGreaterThan(0.9);
  });

  it("takes the nearest possible shares where chance puts one below 0, and says so", () => {
    const fitness = found(correctedMean(input(levelsOf(50, 0, 50))));
    expect(fitness.clipped).toBe(true);
    expect(Math.min(...(fitness.shares ?? [-1]))).toBeGreaterThanOrEqual(0);
    expect(fitness.shares?.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
  });

  it("counts what the judge left unscored, and leaves it out", () => {
    const fitness = found(correctedMean(input([...levelsOf(40, 34, 26), null, null])));
    expect(fitness).toMatchObject({ n: 100, missing: 2, mean: expect.closeTo(1.7, 12) });
  });

  it.each([
    ["gateClosed", { gate: { open: false, refusals: ["No."], codes: ["noItems"] } satisfies GateDecision }],
    ["noLevels", { levels: [null, null] }],
    [
      "levelAbsent",
      {
        confusion: {
          counts: [
            [0, 0, 0],
            [0, 0, 0],
            [0, 0, 3],
          ],
          unscored: [0, 0, 0],
        },
      },
    ],
    [
      "singular",
      {
        confusion: {
          counts: [
            [0, 0, 5],
            [0, 0, 5],
            [0, 0, 90],
          ],
          unscored: [0, 0, 0],
        },
      },
    ],
    [
      "singular",
      {
        confusion: {
          counts: [
            [5, 5, 5],
            [5, 5, 5],
            [0, 0, 9],
          ],
          unscored: [0, 0, 0],
        },
      },
    ],
  ])("refuses with %s", (reason, more) => {
    expect(correctedMean(input(levelsOf(1, 1, 1), more))).toMatchObject({ kind: "refused", reason });
  });
});

describe("predictionPoweredMean", () => {
  it("adds the error that people found to the judge's mean", () => {
    const fitness = found(predictionPoweredMean({ ...input(levelsOf(40, 34, 26)), samePopulation: true }));
    // 20 of 150 labelled items are called one level too high.
    expect(fitness.mean).toBeCloseTo(1.86 - 20 / 150, 12);
    expect(fitness).toMatchObject({ method: "prediction-powered", shares: null, clipped: false });
    // Standard errors of 0.0799 (100 levels) and 0.0278 (150 labels): 0.0846 together.
    expect(fitness.lo).toBeCloseTo(fitness.mean - 1.96 * 0.0846, 1);
    expect(fitness.hi).toBeCloseTo(fitness.mean + 1.96 * 0.0846, 1);
  });

  it("needs no judge that tells the levels apart", () => {
    const constant = {
      counts: [
        [0, 0, 5],
        [0, 0, 5],
        [0, 0, 90],
      ],
      unscored: [0, 0, 0],
    };
    const fitness = predictionPoweredMean({
      ...input(levelsOf(0, 0, 9), { confusion: constant }),
      samePopulation: true,
    });
    expect(found(fitness).mean).toBeCloseTo(3 - 0.15, 12);
  });

  it("refuses labels of another population, and a closed gate", () => {
    expect(predictionPoweredMean({ ...input([1]), samePopulation: false })).toMatchObject({
      reason: "otherPopulation",
    });
    const gate: GateDecision = { open: false, refusals: ["No."], codes: ["noItems"] };
    expect(predictionPoweredMean({ ...input([1], { gate }), samePopulation: true })).toMatchObject({
      reason: "gateClosed",
      message: "The gate is closed: No.",
    });
  });
});
