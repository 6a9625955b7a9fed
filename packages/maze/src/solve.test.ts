import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { generateMaze } from "./generate-maze.ts";
import { cellAt, cellIndex, directionBetween, exitCell, isOpen } from "./grid.ts";
import { deadEnds, findBranches, findPath, nextOnRoute, routeToExit } from "./solve.ts";

// ┌───┬───────┐
// │ S │       │
// │   ├───╴   │
// │   │       │
// │   ╵   ╷   │
// │       │ E │
// └───────┴───┘
const maze = generateMaze({ size: 3, seed: 1 });

describe("findPath", () => {
  it("gives the cells from one to the other, both included", () => {
    expect(findPath(maze, [0, 1], [2, 1])).toEqual([
      [0, 1],
      [0, 2],
      [1, 2],
      [1, 1],
      [2, 1],
    ]);
    expect(findPath(maze, [1, 1], [1, 1])).toEqual([[1, 1]]);
  });

  it("gives null off the grid and where walls cut a cell off", () => {
    expect(findPath(maze, [0, 0], [3, 0])).toBeNull();
    expect(findPath(maze, [-1, 0], [0, 0])).toBeNull();
    expect(findPath({ size: 3, openings: new Uint8Array(9) }, [0, 0], [2, 2])).toBeNull();
  });

  it("walks through openings only and repeats no cell, in any maze", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(80), fc.nat(80), (seed, from, to) => {
        const any = generateMaze({ size: 9, seed });
        const path = findPath(any, cellAt(9, from), cellAt(9, to)) ?? [];
        for (const [position, cell] of path.slice(1).entries()) {
          const before = path[position] ?? cell;
          const dir = directionBetween(before, cell);
          expect(dir !== null && isOpen(any, before, dir)).toBe(true);
        }
        expect(new Set(path.map((cell) => cellIndex(9, cell))).size).toBe(path.length);
      }),
      { seed: 20_260_322, numRuns: 60 },
    );
  });
});

describe("routeToExit", () => {
  it("points from every cell along the only way to EXIT, and nowhere at EXIT", () => {
    expect(routeToExit(maze)).toEqual(["S", "E", "S", "S", "E", "S", "E", "N", null]);
  });

  it("agrees with the path from every cell", () => {
    const large = generateMaze({ size: 11, seed: 7, generator: "wilson" });
    for (let index = 0; index < 121; index++) {
      const [cell = [-1, -1], next = cell] = findPath(large, cellAt(11, index), exitCell(11)) ?? [];
      expect(nextOnRoute(large, cell)).toBe(directionBetween(cell, next));
    }
  });

  it("has no move off the grid", () => {
    expect(nextOnRoute(maze, [0, 3])).toBeNull();
  });
});

describe("deadEnds", () => {
  it("counts START, not EXIT", () => {
    // START, (0,1) and EXIT have one opening each.
    expect(deadEnds(maze)).toEqual([
      [0, 0],
      [0, 1],
    ]);
  });
});

describe("findBranches", () => {
  it("tells for each cell how deep in a branch it lies and where on the solution that begins", () => {
    const { depths, positions } = findBranches(maze);
    expect([...depths]).toEqual([0, 2, 1, 0, 0, 0, 0, 0, 0]);
    // The solution runs (0,0) (1,0) (2,0) (2,1) (1,1) (1,2) (2,2); the branch leaves its cell number 5.
    expect([...positions]).toEqual([0, 5, 5, 1, 4, 5, 2, 3, 6]);
  });
});
