import { describe, expect, it } from "vitest";

import { calibrateOn, goldSetOf, judge, type Said, seedGoldSet, times } from "../test/gold-fixtures.ts";
import { decideGate, gateKey } from "./gate.ts";
import { parseGoldSet } from "./gold-set.ts";
import type { Level } from "./judged.ts";

/** n items of all levels in turn, of which the judge gets all but `wrong` right: it calls those one level off. */
function judged(n: number, wrong: number) {
  const people = Array.from({ length: n }, (_, index) => ([1, 2, 3] as const)[index % 3] ?? 1);
  const said = people.map((level, index): Said => (index < wrong ? (level === 2 ? 1 : 2) : level));
  return decideGate(calibrateOn(goldSetOf(people), said));
}

describe("decideGate", () => {
  it.each([
    [36, 0],
    [54, 1],
    [100, 4],
    [180, 10],
  ])("opens on %d items with %d wrong", (n, wrong) => {
    expect(judged(n, wrong)).toEqual({ open: true, refusals: [], codes: [] });
  });

  it.each([
    [35, 0],
    [36, 1],
    [54, 2],
    [100, 5],
    [180, 11],
  ])("stays closed on %d items with %d wrong: 90 % is seen, and not shown", (n, wrong) => {
    expect(judged(n, wrong).codes).toEqual(["lowerBoundBelow90"]);
  });

  it("stays closed below 90 %, and says both", () => {
    const { open, codes, refusals } = judged(100, 11);
    expect(open).toBe(false);
    expect(codes).toEqual(["agreementBelow90", "lowerBoundBelow90"]);
    expect(refusals[0]).toBe("Agreement is 89 of 100 (89.0 %): 90 % is needed.");
  });

  it("refuses the seed's own gold set, three items that are all L3, with these reasons", () => {
    const goldSet = parseGoldSet(seedGoldSet);
    const { open, codes, refusals } = decideGate(calibrateOn(goldSet, [3, 3, 3], { split: "all" }));
    expect(open).toBe(false);
    expect(codes).toEqual(["lowerBoundBelow90", "levelAbsent", "levelAbsent", "notAboveMajority", "notAboveLength"]);
    expect(refusals[0]).toContain("3 of 3 is 0.2924");
    expect(refusals[1]).toContain("No measured item is of level L1");
  });

  it("refuses a judge that always says L3, though nine of ten items are L3", () => {
    const people: Level[] = [...times(25, 1 as const), ...times(25, 2 as const), ...times(450, 3 as const)];
    const { codes } = decideGate(calibrateOn(goldSetOf(people), times(500, 3)));
    expect(codes).toEqual([
      "lowerBoundBelow90",
      "levelNeverFound",
      "levelNeverFound",
      "notAboveMajority",
      "notAboveLength",
    ]);
  });

  it("refuses a judge that always says L3 on a set so one-sided that its bound would do", () => {
    const people: Level[] = [...times(5, 1 as const), ...times(5, 2 as const), ...times(490, 3 as const)];
    const { codes } = decideGate(calibrateOn(goldSetOf(people), times(500, 3)));
    expect(codes).toEqual(["levelNeverFound", "levelNeverFound", "notAboveMajority", "notAboveLength"]);
  });

  it("takes an unscored item for a wrong one", () => {
    const people = times(12, [1, 2, 3] as Level[]).flat();
    const said: Said[] = [null, ...people.slice(1)];
    expect(decideGate(calibrateOn(goldSetOf(people), said)).codes).toEqual(["lowerBoundBelow90"]);
  });

  it("wants more than the heuristic reaches, and a heuristic that was run", () => {
    const people = times(12, [1, 2, 3] as Level[]).flat();
    const goldSet = goldSetOf(people);
    const heuristic = new Map(goldSet.items.map(({ id, level }) => [id, level]));
    expect(decideGate(calibrateOn(goldSet, people, { heuristic })).codes).toEqual(["notAboveHeuristic"]);
    expect(decideGate(calibrateOn(goldSet, people, { heuristic: new Map() })).codes).toEqual(["heuristicNotRun"]);
  });

  it("does not open on items that the prompt was worked on with", () => {
    const people = times(12, [1, 2, 3] as Level[]).flat();
    const dev = goldSetOf(people, { split: "dev" });
    expect(decideGate(calibrateOn(dev, people, { split: "dev" })).codes).toEqual(["notHeldOut"]);
    expect(decideGate(calibrateOn(dev, people, { split: "all" })).codes).toEqual(["notHeldOut"]);
  });

  it("opens on all items of a set that holds none out itself", () => {
    const people = times(12, [1, 2, 3] as Level[]).flat();
    expect(decideGate(calibrateOn(goldSetOf(people, {}), people, { split: "all" })).open).toBe(true);
  });

  it("stays closed where nothing was measured", () => {
    const { open, codes } = decideGate(calibrateOn(goldSetOf([1]), [1], { split: "dev" }));
    expect(open).toBe(false);
    expect(codes).toContain("noItems");
  });
});

describe("gateKey", () => {
  it("changes with model, prompt and rubric, so that a change closes the gate", () => {
    const changes = [
      { judgeModel: "judge-2" },
      { promptVersion: "llm-judge-v1-seed" },
      { promptHash: "cd".repeat(32) },
      { rubricVersion: "maze-2" },
    ];
    const keys = [{}, ...changes].map((change) => gateKey({ ...judge, ...change }));
    expect(new Set(keys).size).toBe(5);
    expect(gateKey({ ...judge })).toBe(keys[0]);
  });
});
