import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { generateMaze } from "./generate-maze.ts";
import { cellAt, cellIndex, openDirections, step } from "./grid.ts";
import type { Maze } from "./maze.ts";
import { measureDifficulty } from "./measure-difficulty.ts";

describe("measureDifficulty", () => {
  it("counts what lies before EXIT apart from what lies beyond", () => {
    // ┌───┬───────┬───────┐
    // │ S │       │       │
    // │ · │   ╷   ╵   ╷   │
    // │ · │   │       │   │
    // │ · ├───┴───────┤   │
    // │ · │ · · · · · │   │
    // │ · ╵ · ┌───╴ · │   │
    // │ · · · │ · · · │   │
    // ├───────┘ · ╶───┘ ↑ │
    // │       ← · · · · E │
    // └───────────────────┘
    expect(measureDifficulty(generateMaze({ size: 5, seed: 1001 }))).toEqual({
      junctions: 1,
      wrongBranchCells: 2,
      maxWrongBranchDepth: 2,
      cellsBeyondExit: 10,
      detourIndex: 1.5,
      turns: 7,
      // 1+3+…+19 over the first ten cells, then two cells more behind each of the last two passages: 25 + 27.
      hittingTime: 152,
      trapsPlaced: 2,
      trapsOnDecision: 1,
    });
  });

  it("finds nothing to get lost in where the maze is one corridor", () => {
    const corridor = measureDifficulty(generateMaze({ size: 3, seed: 0 }));
    expect(corridor).toMatchObject({ junctions: 0, wrongBranchCells: 0, maxWrongBranchDepth: 0, trapsPlaced: 0 });
    // A walk along a line of 8 passages takes 8² moves.
    expect(corridor.hittingTime).toBe(64);
  });

  it("gives the hitting time that the walk's own equations give", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: 5 }),
        fc.nat(),
        fc.constantFrom("dfs" as const, "kruskal" as const, "wilson" as const, "prim" as const),
        (size, seed, generator) => {
          const maze = generateMaze({ size, seed, generator });
          expect(measureDifficulty(maze).hittingTime).toBeCloseTo(relaxedHittingTime(maze), 4);
        },
      ),
      { seed: 20_260_322, numRuns: 25 },
    );
  });

  it("accounts for every cell once", () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 3, max: 12 }), (seed, size) => {
        const maze = generateMaze({ size, seed, generator: "prim" });
        const { wrongBranchCells, cellsBeyondExit } = measureDifficulty(maze);
        expect(maze.solution.length + wrongBranchCells + cellsBeyondExit).toBe(size * size);
      }),
      { seed: 20_260_322, numRuns: 50 },
    );
  });
});

/** Solves h(EXIT) = 0, h(cell) = 1 + mean of h over the open neighbours, by relaxation; returns h(START). */
function relaxedHittingTime(maze: Maze): number {
  const exit = maze.size * maze.size - 1;
  const times = new Float64Array(exit + 1);
  for (let largest = 1; largest > 1e-9; ) {
    largest = 0;
    for (let index = 0; index < exit; index++) {
      const cell = cellAt(maze.size, index);
      const near = openDirections(maze, cell).map((dir) => times[cellIndex(maze.size, step(cell, dir))] ?? Number.NaN);
      const time = 1 + near.reduce((sum, value) => sum + value, 0) / near.length;
      largest = Math.max(largest, Math.abs(time - (times[index] ?? 0)));
      times[index] = time;
    }
  }
  return times[0] ?? Number.NaN;
}
