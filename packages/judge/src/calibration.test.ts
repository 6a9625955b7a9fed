import { describe, expect, it } from "vitest";

import { calibrateOn, goldSetOf, type Said, times, verdict } from "../test/gold-fixtures.ts";
import { decideRepeats } from "./calibration.ts";
import { fitLengthRule, levelByLength } from "./calibration-baselines.ts";
import { parseGoldSet } from "./gold-set.ts";
import type { Level } from "./judged.ts";

/** Ten items: four L1, three L2, three L3. */
const people: Level[] = [1, 1, 1, 1, 2, 2, 2, 3, 3, 3];
const said: Said[] = [1, 1, 2, 3, 2, 2, 1, 3, 3, null];
const tenItems = goldSetOf(people);

describe("calibrate", () => {
  const report = calibrateOn(tenItems, said);

  it("counts people's levels in rows, the judge's in columns, and the unscored beside them", () => {
    expect(report.n).toBe(10);
    expect(report.levels).toEqual({ human: { 1: 4, 2: 3, 3: 3 }, judge: { 1: 3, 2: 3, 3: 3 } });
    expect(report.confusion).toEqual({
      counts: [
        [2, 1, 1],
        [1, 2, 0],
        [0, 0, 2],
      ],
      unscored: [0, 0, 1],
    });
  });

  it("takes an unscored item as no agreement, in the share and in recall", () => {
    expect(report.agreement).toMatchObject({ count: 6, n: 10, share: 0.6 });
    // SOURCE: R binom.test(6, 10).
    expect(report.agreement.lo).toBeCloseTo(0.2623781, 6);
    expect(report.agreement.hi).toBeCloseTo(0.8784477, 6);
    expect(report.adjacent).toMatchObject({ count: 8, n: 10 });
    expect(report.perLevel).toEqual([
      { level: 1, n: 4, recall: 0.5, precision: 2 / 3 },
      { level: 2, n: 3, recall: 2 / 3, precision: 2 / 3 },
      { level: 3, n: 3, recall: 2 / 3, precision: 2 / 3 },
    ]);
    expect(report.unscored).toMatchObject({ count: 1, n: 10, reasons: { wrongNonce: 1 } });
  });

  it("tells kindness from harshness, and how often L3 is given away", () => {
    // +1, +2 and -1 over nine scored items.
    expect(report.signedBias).toBeCloseTo(2 / 9, 12);
    expect(report.falseL3).toMatchObject({ count: 1, n: 7 });
  });

  it("gives kappa over the scored items, with an interval around it", () => {
    // Observed 6/9; expected (4·3 + 3·3 + 2·3) / 81 = 1/3.
    expect(report.kappa).toMatchObject({ n: 9, value: expect.closeTo(0.5, 12), undefinedBecause: null });
    expect(report.kappa.lo ?? 1).toBeLessThan(0.5);
    expect(report.kappa.hi ?? 0).toBeGreaterThan(0.5);
    // Squared distances: observed 6/9; expected (4·15 + 3·6 + 2·15) / 81 = 4/3.
    expect(report.quadraticKappa).toMatchObject({ n: 9, value: expect.closeTo(0.5, 12) });
    expect(report.ordinalAlpha.n).toBe(9);
    // Kappas of 0.5 with the same n still differ in spread: a step of one level weighs less.
    expect(report.quadraticKappa.lo).not.toBe(report.kappa.lo);
  });

  it("lists each item on which judge and people differ, with the judge's reasoning", () => {
    expect(report.disagreements.map(({ line, human, judge }) => [line, human, judge])).toEqual([
      [3, 1, 2],
      [4, 1, 3],
      [7, 2, 1],
      [10, 3, null],
    ]);
    expect(report.disagreements[3]).toMatchObject({ unscoredReason: "wrongNonce", repeats: [null] });
    expect(report.disagreements[0]?.excerpt).toBe("It goes back to the junction.");
  });

  it("is the same for the same seed, and plain JSON", () => {
    expect(calibrateOn(tenItems, said)).toEqual(report);
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  it("says that kappa is undefined where people and judge know one level only", () => {
    const { kappa, quadraticKappa, ordinalAlpha, falseL3 } = calibrateOn(goldSetOf([3, 3, 3]), [3, 3, 3]);
    expect([kappa, quadraticKappa, ordinalAlpha].map(({ undefinedBecause }) => undefinedBecause)).toEqual(
      times(3, "singleClass"),
    );
    expect(falseL3).toEqual({ count: 0, n: 0, share: null, lo: null, hi: null });
  });

  it("counts an item that was never judged as unscored", () => {
    const { unscored, agreement } = calibrateOn(tenItems, [], { verdicts: new Map() });
    expect(unscored).toMatchObject({ count: 10, reasons: { notJudged: 10 } });
    expect(agreement.count).toBe(0);
  });

  it("measures the split that is asked for, and carries the number of looks", () => {
    const mixed = parseGoldSet(
      ["dev", "test", "test"]
        .map((split, index) =>
          JSON.stringify({
            scenario: { prompt: "p", expectedL3: "e" },
            response: `r${index}`,
            labels: [{ rater: "Kim", level: 1 }],
            split,
          }),
        )
        .join("\n"),
    );
    expect(calibrateOn(mixed, [1, 1, 1], { split: "test", lookCount: 4 })).toMatchObject({ n: 2, lookCount: 4 });
    expect(calibrateOn(mixed, [1, 1, 1], { split: "dev" }).n).toBe(1);
    expect(calibrateOn(mixed, [1, 1, 1], { split: "all" }).n).toBe(3);
  });

  it("cuts an excerpt short and takes control characters out of it", () => {
    const [item] = tenItems.items;
    const reasoning = `red \u001b[31m and \u202e back ${"x".repeat(400)}`;
    const verdicts = new Map([[item?.id ?? "", [verdict(3, { reasoning })]]]);
    const excerpt = calibrateOn(tenItems, [], { verdicts }).disagreements[0]?.excerpt ?? "";
    expect(excerpt).toMatch(/^red \[31m and back x+…$/);
    expect(Array.from(excerpt)).toHaveLength(281);
  });

  it("correlates levels with length, for judge and people", () => {
    const lengths = [10, 20, 30, 40].map((length, index) =>
      JSON.stringify({
        scenario: { prompt: "p", expectedL3: "e" },
        response: "x".repeat(length),
        labels: [{ rater: "Kim", level: [3, 2, 2, 1][index] }],
        split: "test",
      }),
    );
    const { length } = calibrateOn(parseGoldSet(lengths.join("\n")), [1, 2, 2, 3]);
    expect(length.judge.value).toBeGreaterThan(0.9);
    expect(length.human.value).toBeLessThan(-0.9);
  });
});

describe("repeats of a judgement", () => {
  it("come to their median, of an even number the lower, and to nothing where half are unscored", () => {
    expect(decideRepeats([3, 1, 2])).toBe(2);
    expect(decideRepeats([3, 3, 1])).toBe(3);
    expect(decideRepeats([2, 3])).toBe(2);
    expect(decideRepeats([2, null])).toBeNull();
    expect(decideRepeats([2, 2, null])).toBe(2);
    expect(decideRepeats([])).toBeNull();
  });

  it("that differ are flips, an unscored one among them included", () => {
    const { flips, unscored } = calibrateOn(goldSetOf([1, 2, 3, 3]), [[1, 1], [2, 3, 2], [3, 3, null], [3]]);
    expect(flips).toMatchObject({ count: 2, n: 3 });
    expect(unscored.calls).toMatchObject({ count: 1, n: 9 });
  });

  it("that settle nothing say why in the list", () => {
    const { disagreements } = calibrateOn(goldSetOf([2]), [[2, null]]);
    expect(disagreements[0]).toMatchObject({ judge: null, unscoredReason: "wrongNonce", repeats: [2, null] });
  });
});

describe("agreement of people among themselves", () => {
  it("counts ties too, and every item with two labels", () => {
    const labelled = [
      [3, 3],
      [1, 1],
      [1, 2],
      [2, 2],
    ].map((levels, index) =>
      JSON.stringify({
        scenario: { prompt: "p", expectedL3: "e" },
        response: `r${index}`,
        labels: levels.map((level, rater) => ({ rater: `r${rater}`, level })),
        split: "test",
      }),
    );
    const { humanAgreement, n } = calibrateOn(parseGoldSet(labelled.join("\n")), [3, 1, 2]);
    expect(n).toBe(3);
    expect(humanAgreement).toMatchObject({ raters: 2, n: 4, unanimous: 0.75 });
    expect(humanAgreement.ordinalAlpha.value).toBeGreaterThan(0.5);
  });

  it("is unknown of one rater", () => {
    expect(calibrateOn(tenItems, said).humanAgreement).toMatchObject({
      raters: 1,
      n: 0,
      unanimous: null,
      ordinalAlpha: { value: null, undefinedBecause: "noItems" },
    });
  });
});

describe("the baselines of a calibration", () => {
  it("stand on the same items, with the items that each side alone gets right", () => {
    const { majority, heuristic } = calibrateOn(tenItems, said).baselines;
    expect(majority).toMatchObject({ rule: "always L1", agreed: 4, share: 0.4, onlyJudge: 4, onlyBaseline: 2 });
    expect(majority.difference).toBeCloseTo(0.2, 12);
    // SOURCE: R binom.test(2, 6).
    expect(majority.p).toBeCloseTo(0.6875, 10);
    expect(heuristic).toMatchObject({ agreed: 4, missing: 0 });
  });

  it("know a heuristic that was not run from one that says nothing of some items", () => {
    expect(calibrateOn(tenItems, said, { heuristic: new Map() }).baselines.heuristic).toBeNull();
    const one = new Map([[tenItems.items[0]?.id ?? "", 1 as Said]]);
    expect(calibrateOn(tenItems, said, { heuristic: one }).baselines.heuristic).toMatchObject({
      agreed: 1,
      missing: 9,
    });
  });

  it("fit length on the dev split, and on the measured items only where there is no other", () => {
    const sized = (split: string, offset: number): string[] =>
      ([1, 2, 3] as const).flatMap((level) =>
        [0, 1].map((more) =>
          JSON.stringify({
            scenario: { prompt: "p", expectedL3: "e" },
            response: "x".repeat(level * 100 + more + offset),
            labels: [{ rater: "Kim", level }],
            split,
          }),
        ),
      );
    const both = parseGoldSet([...sized("dev", 0), ...sized("test", 10)].join("\n"));
    expect(calibrateOn(both, times(12, 1)).baselines.length).toMatchObject({ fittedOn: "dev", agreed: 6 });
    const alone = parseGoldSet(sized("test", 0).join("\n"));
    expect(calibrateOn(alone, times(6, 1)).baselines.length).toMatchObject({
      fittedOn: "measured items",
      agreed: 6,
    });
  });

  it("find that shorter is better too", () => {
    const items = ([3, 3, 2, 1] as const).map((level, index) => ({ level, response: "x".repeat(index * 10 + 5) }));
    const rule = fitLengthRule(items);
    expect(rule.longerIs).toBe("lower");
    expect(items.map(({ response }) => levelByLength(rule, response))).toEqual([3, 3, 2, 1]);
  });
});
