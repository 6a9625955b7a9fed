import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { describeMaze } from "./describe-maze.ts";
import { MazeError } from "./errors.ts";
import { generateMaze, type MazeRequest, mazeSizes } from "./generate-maze.ts";
import { isOpen, opposite, printOrder, step } from "./grid.ts";
import type { Generator, Maze } from "./maze.ts";
import { deadEnds, findPath } from "./solve.ts";

const everyGenerator: readonly Generator[] = ["dfs", "kruskal", "wilson", "prim"];

const requests = fc.record({
  size: fc.integer({ min: mazeSizes.min, max: 14 }),
  seed: fc.maxSafeNat(),
  generator: fc.constantFrom(...everyGenerator),
  placement: fc.constantFrom("path-order" as const, "sampled" as const),
});

function table(maze: Maze): string[] {
  return describeMaze(maze).openings.map((row) => row.join(" "));
}

function codeOf(request: object): string | undefined {
  try {
    generateMaze(request as MazeRequest);
    return undefined;
  } catch (error) {
    return error instanceof MazeError ? error.code : "another error";
  }
}

describe("generateMaze with dfs, the published benchmark's mazes", () => {
  it("gives the 5×5 maze of seed 1001", () => {
    const maze = generateMaze({ size: 5, seed: 1001 });
    expect(table(maze)).toEqual([
      "S SE SW SE SW",
      "NS N NE NW NS",
      "NS SE EW SW NS",
      "NE NW SE NW NS",
      "E EW NEW EW NW",
    ]);
    expect(maze.solution).toHaveLength(13);
    expect(maze.traps).toEqual([
      { row: 4, col: 2, dir: "W" },
      { row: 4, col: 4, dir: "N" },
    ]);
  });

  it("gives the 5×5 maze of seed 2002", () => {
    const maze = generateMaze({ size: 5, seed: 2002 });
    expect(table(maze)).toEqual([
      "S E EW SEW SW",
      "NE EW EW NW NS",
      "E SEW SW SE NW",
      "SE NW N NS S",
      "NE EW EW NEW NW",
    ]);
    expect(maze.solution).toHaveLength(13);
    expect(maze.traps).toEqual([
      { row: 0, col: 3, dir: "W" },
      { row: 4, col: 3, dir: "W" },
    ]);
  });

  it.each([
    [5, "14.2", "3.9"],
    [7, "25.4", "6.3"],
    [9, "38.9", "9.6"],
    [11, "55.2", "13.8"],
  ])(
    "has the published means over seeds 1–1000 at size %i: %s cells, %s dead ends",
    (size, meanCells, meanDeadEnds) => {
      const mazes = Array.from({ length: 1000 }, (_, index) => generateMaze({ size, seed: index + 1 }));
      const cells = mazes.reduce((sum, maze) => sum + maze.solution.length, 0);
      const ends = mazes.reduce((sum, maze) => sum + deadEnds(maze).length, 0);
      expect((cells / 1000).toFixed(1)).toBe(meanCells);
      expect((ends / 1000).toFixed(1)).toBe(meanDeadEnds);
    },
  );

  it.each([
    [1001, 13, 3],
    [2002, 13, 5],
    [3003, 19, 3],
    [4004, 17, 4],
    [5005, 9, 3],
    [6006, 19, 3],
    [7007, 11, 5],
    [8008, 9, 6],
    [9009, 11, 4],
    [1010, 15, 4],
    [1111, 13, 3],
    [2222, 11, 3],
    [3333, 19, 3],
    [4444, 9, 4],
    [5555, 17, 4],
    [6666, 21, 5],
    [7777, 17, 3],
    [8888, 9, 4],
    [9999, 23, 2],
    [1234, 19, 4],
    [2345, 13, 5],
    [3456, 17, 5],
    [4567, 9, 4],
    [5678, 13, 3],
    [6789, 21, 3],
    [7890, 13, 4],
    [8901, 19, 5],
    [9012, 17, 4],
    [1357, 11, 4],
    [2468, 9, 4],
  ])("matches the published 5×5 trial of seed %i: %i cells, %i dead ends", (seed, cells, ends) => {
    const maze = generateMaze({ size: 5, seed });
    expect([maze.solution.length, deadEnds(maze).length]).toEqual([cells, ends]);
  });

  it("is the default, with traps in path order", () => {
    expect(generateMaze({ size: 5, seed: 1001 })).toEqual(
      generateMaze({ size: 5, seed: 1001, generator: "dfs", placement: "path-order" }),
    );
  });
});

describe("generateMaze with any generator", () => {
  it("joins all cells by exactly size² - 1 passages, open on both sides, so that one path joins any two", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const maze = generateMaze(request);
        let sides = 0;
        for (let row = 0; row < maze.size; row++) {
          for (let col = 0; col < maze.size; col++) {
            expect(findPath(maze, [row, col], [0, 0])).not.toBeNull();
            for (const dir of printOrder.filter((open) => isOpen(maze, [row, col], open))) {
              expect(isOpen(maze, step([row, col], dir), opposite(dir))).toBe(true);
              sides++;
            }
          }
        }
        expect(sides).toBe(2 * (maze.size * maze.size - 1));
      }),
      { seed: 20_260_322, numRuns: 60 },
    );
  });

  it("gives the same maze for the same plan, and the same walls for either placement", () => {
    fc.assert(
      fc.property(requests, (request) => {
        expect(generateMaze(request)).toEqual(generateMaze(request));
        const [ordered, sampled] = [
          generateMaze({ ...request, placement: "path-order" }),
          generateMaze({ ...request, placement: "sampled" }),
        ];
        expect(ordered.openings).toEqual(sampled.openings);
      }),
      { seed: 20_260_322, numRuns: 40 },
    );
  });

  it.each(everyGenerator)("builds the largest maze with %s", (generator) => {
    const maze = generateMaze({ size: 101, seed: 1, generator });
    expect(maze.solution.at(0)).toEqual([0, 0]);
    expect(maze.solution.at(-1)).toEqual([100, 100]);
  });

  it("gives other walls under another generator's name", () => {
    const tables = everyGenerator.map((generator) => table(generateMaze({ size: 7, seed: 42, generator })).join("\n"));
    expect(new Set(tables).size).toBe(4);
  });

  it("draws every 3×3 maze equally often with wilson, as a uniform spanning tree does", () => {
    // 192 spanning trees; chi-square with 191 degrees of freedom exceeds 254.9 once in a thousand.
    expect(chiSquareOf3By3("wilson")).toBeLessThan(254.9);
    expect(chiSquareOf3By3("dfs")).toBeGreaterThan(1000);
  });
});

function chiSquareOf3By3(generator: Generator): number {
  const perTree = 40;
  const counts = new Map<string, number>();
  for (let seed = 0; seed < 192 * perTree; seed++) {
    const key = generateMaze({ size: 3, seed, generator }).openings.join();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const seen = [...counts.values()].reduce((sum, count) => sum + (count - perTree) ** 2 / perTree, 0);
  return seen + (192 - counts.size) * perTree;
}

describe("generateMaze on a plan it cannot build", () => {
  it.each([2, 102, 5.5, Number.NaN, -5, "5"])("refuses size %s", (size) => {
    expect(codeOf({ size, seed: 1 })).toBe("maze-size");
  });

  it.each([-1, 1.5, Number.NaN, 2 ** 53, "1"])("refuses seed %s", (seed) => {
    expect(codeOf({ size: 5, seed })).toBe("maze-seed");
  });

  it("takes the outermost sizes and seeds", () => {
    expect(codeOf({ size: 3, seed: 0 })).toBeUndefined();
    expect(codeOf({ size: 101, seed: Number.MAX_SAFE_INTEGER })).toBeUndefined();
  });

  it.each(["eller", "toString", ""])("refuses generator %j", (generator) => {
    expect(codeOf({ size: 5, seed: 1, generator })).toBe("maze-generator");
  });

  it("refuses an unknown placement", () => {
    expect(codeOf({ size: 5, seed: 1, placement: "random" })).toBe("maze-placement");
  });

  it("says what it got and what it takes", () => {
    expect(() => generateMaze({ size: 2, seed: 1 })).toThrow(
      "A maze cannot have size 2: give a whole number from 3 to 101.",
    );
  });
});
