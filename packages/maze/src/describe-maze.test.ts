import { describe, expect, it } from "vitest";

import { describeMaze } from "./describe-maze.ts";
import { drawMaze } from "./draw-maze.ts";
import { generateMaze } from "./generate-maze.ts";
import { mazeHash } from "./maze-hash.ts";
import { measureDifficulty } from "./measure-difficulty.ts";

describe("describeMaze", () => {
  it("is the maze command's JSON", () => {
    const maze = generateMaze({ size: 3, seed: 1 });
    expect(JSON.parse(JSON.stringify(describeMaze(maze)))).toEqual({
      size: 3,
      seed: 1,
      generator: "dfs",
      placement: "path-order",
      hash: mazeHash(maze),
      solutionCells: 7,
      solutionMoves: 6,
      deadEnds: 2,
      solution: [
        [0, 0],
        [1, 0],
        [2, 0],
        [2, 1],
        [1, 1],
        [1, 2],
        [2, 2],
      ],
      traps: [{ row: 1, col: 2, dir: "N" }],
      openings: [
        ["S", "E", "SW"],
        ["NS", "SE", "NSW"],
        ["NE", "NW", "N"],
      ],
      difficulty: measureDifficulty(maze),
    });
  });
});

describe("mazeHash", () => {
  it("is equal for two seeds that give one maze", () => {
    const [one, same, other] = [6, 8, 9].map((seed) => mazeHash(generateMaze({ size: 3, seed })));
    expect(one).toBe(same);
    expect(one).not.toBe(other);
  });

  it("knows the walls only, not the traps", () => {
    const sampled = generateMaze({ size: 5, seed: 1001, placement: "sampled" });
    expect(mazeHash(sampled)).toBe(mazeHash(generateMaze({ size: 5, seed: 1001 })));
  });

  it("is frozen", () => {
    expect(mazeHash(generateMaze({ size: 7, seed: 42 }))).toBe("1086ff6e6bf58e6628309d28c6acc67f");
    expect(mazeHash(generateMaze({ size: 7, seed: 42, generator: "kruskal" }))).toBe(
      "b109d49d6327828036e2db6c455f071c",
    );
    expect(mazeHash(generateMaze({ size: 7, seed: 42, generator: "wilson" }))).toBe("3ce4cca209afa5886e39d23215bdc7e2");
    expect(mazeHash(generateMaze({ size: 7, seed: 42, generator: "prim" }))).toBe("0720771e1491c3a50ae2b84556d21ef5");
  });
});

describe("drawMaze", () => {
  it("draws walls, START, EXIT and the traps", () => {
    expect(drawMaze(generateMaze({ size: 3, seed: 1 }))).toBe(
      [
        "┌───┬───────┐",
        "│ S │       │",
        "│   ├───╴ ↑ │",
        "│   │       │",
        "│   ╵   ╷   │",
        "│       │ E │",
        "└───────┴───┘",
      ].join("\n"),
    );
  });

  it("dots a path from cell to cell", () => {
    const maze = generateMaze({ size: 3, seed: 1 });
    expect(drawMaze(maze, { path: maze.solution })).toBe(
      [
        "┌───┬───────┐",
        "│ S │       │",
        "│ · ├───╴ ↑ │",
        "│ · │ · · · │",
        "│ · ╵ · ╷ · │",
        "│ · · · │ E │",
        "└───────┴───┘",
      ].join("\n"),
    );
  });

  it("draws the largest maze as 203 lines of 405 characters", () => {
    const lines = drawMaze(generateMaze({ size: 101, seed: 3, generator: "prim" })).split("\n");
    expect(lines).toHaveLength(203);
    expect(new Set(lines.map((line) => line.length))).toEqual(new Set([405]));
  });
});
