import { describe, expect, it } from "vitest";

import { garden } from "../bench/drawn-maze.ts";
import { readingOf } from "../bench/written-log.ts";
import { simulateWalk } from "./simulate-walk.ts";

const entries = (...lines: string[]) => simulateWalk(garden, readingOf(lines)).branchEntries;

describe("wrong-branch entries", () => {
  it("tell where a branch was entered, how deep it went, and when the walker turned", () => {
    expect(entries("(0,0) E, E, E, S, N", "(0,1) S")).toEqual([
      { at: 1, depth: 3, latency: 3, revisit: false, deadEndAt: 3, turnAt: 4 },
    ]);
  });

  it("take the branches of a branch for part of it", () => {
    expect(entries("(0,0) S, S, E, W, S, N, N, N")).toEqual([
      { at: 0, depth: 3, latency: 3, revisit: false, deadEndAt: 2, turnAt: 3 },
    ]);
  });

  it("take a rewind or a jump out of the branch for the turn", () => {
    expect(entries("(0,0) E, E", "(0,1) S")[0]).toMatchObject({ at: 1, latency: 1, deadEndAt: null });
    expect(entries("(0,0) E", "(0,0) S", "(0,1) S")[0]).toMatchObject({ at: 1, latency: 1, turnAt: 2 });
  });

  it("have no latency where the walker never turned", () => {
    expect(entries("(0,0) S, S")).toEqual([
      { at: 0, depth: 2, latency: null, revisit: false, deadEndAt: null, turnAt: null },
    ]);
  });

  it("mark the entry into a branch that had been left before, by a move or by a jump", () => {
    expect(entries("(0,0) E, E, W, E, W").map(({ revisit }) => revisit)).toEqual([false, true]);
    expect(entries("(0,0) E, E, W", "(0,2) E").map(({ revisit }) => revisit)).toEqual([false, true]);
  });

  it("are not counted on cells that no legal move reached", () => {
    expect(entries("(2,2) S", "(3,2) W")).toEqual([]);
  });
});

describe("traps", () => {
  const trapped = {
    ...garden,
    traps: [
      { row: 0, col: 0, dir: "S" },
      { row: 0, col: 1, dir: "E" },
      { row: 2, col: 2, dir: "S" },
    ] as const,
  };
  const traps = (lines: string[], mirage = true) => {
    const { trapsFaced, trapsTaken, mirageResistance } = simulateWalk(trapped, readingOf(lines), { mirage });
    return [trapsFaced, trapsTaken, mirageResistance];
  };

  it("are faced by a try on their cell and taken by going their way, each once", () => {
    expect(traps(["(0,0) E, E, W, E, W, S"])).toEqual([2, 1, 0.5]);
    expect(traps(["(0,0) E, S, E, S, E, S"])).toEqual([3, 0, 1]);
  });

  it("are faced by an illegal try, and not by standing there", () => {
    expect(traps(["(0,0) W"])).toEqual([1, 0, 1]);
    expect(traps(["(0,0) E"])).toEqual([1, 0, 1]);
  });

  it("are shown at the step that faces or takes them for the first time", () => {
    const { steps } = simulateWalk(trapped, readingOf(["(0,0) E, E, W, E, W, S"]));
    expect(steps.map(({ trap }) => trap)).toEqual(["faced", "taken", null, null, null, null]);
  });

  it("do not exist where Mirage was off: nothing is faced and the resistance is unknown", () => {
    expect(traps(["(0,0) S"], false)).toEqual([0, 0, null]);
  });

  it("are not counted on cells that no legal move reached", () => {
    expect(traps(["(2,2) S"])).toEqual([0, 0, null]);
  });
});
