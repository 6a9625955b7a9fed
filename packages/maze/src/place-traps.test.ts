import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { generateMaze } from "./generate-maze.ts";
import { isOpen, sameCell, step } from "./grid.ts";
import { maxTraps } from "./place-traps.ts";

const requests = fc.record({
  size: fc.integer({ min: 3, max: 13 }),
  seed: fc.nat(),
  generator: fc.constantFrom("dfs" as const, "kruskal" as const, "wilson" as const, "prim" as const),
  placement: fc.constantFrom("path-order" as const, "sampled" as const),
});

describe("traps", () => {
  it("are at most max(2, floor(size / 2))", () => {
    expect([3, 5, 6, 7, 9, 11, 101].map(maxTraps)).toEqual([2, 2, 3, 3, 4, 5, 50]);
  });

  it("sit on the solution at an open direction that leads off it, in the solution's order, each once", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const { solution, traps, ...maze } = generateMaze(request);
        const positions = traps.map(({ row, col }) => solution.findIndex((cell) => sameCell(cell, [row, col])));
        expect(positions).not.toContain(-1);
        expect(positions).toEqual(positions.toSorted((one, other) => one - other));
        for (const { row, col, dir } of traps) {
          expect(isOpen(maze, [row, col], dir)).toBe(true);
          expect(solution.some((cell) => sameCell(cell, step([row, col], dir)))).toBe(false);
        }
        expect(new Set(traps.map(({ row, col, dir }) => `${row},${col},${dir}`)).size).toBe(traps.length);
        expect(traps.length).toBeLessThanOrEqual(maxTraps(request.size));
      }),
      { seed: 20_260_322, numRuns: 150 },
    );
  });

  it("are fewer where the solution offers fewer, down to none", () => {
    // Seed 0 of size 3 is one corridor.
    expect(generateMaze({ size: 3, seed: 0 }).traps).toEqual([]);
    expect(generateMaze({ size: 3, seed: 0, placement: "sampled" }).traps).toEqual([]);
  });

  it("may sit twice on one cell in path order, N, S, E, W", () => {
    // ┌───────┬───┐
    // │ S     │   │
    // ├───╴   ╵   │
    // │   ←   →   │
    // ├───╴   ╶───┤
    // │         E │
    // └───────────┘
    expect(generateMaze({ size: 3, seed: 45, generator: "kruskal" }).traps).toEqual([
      { row: 1, col: 1, dir: "E" },
      { row: 1, col: 1, dir: "W" },
    ]);
  });

  it("take EXIT in path order but never when sampled", () => {
    expect(generateMaze({ size: 5, seed: 1001 }).traps).toContainEqual({ row: 4, col: 4, dir: "N" });
    expect(generateMaze({ size: 5, seed: 1001, placement: "sampled" }).traps).toEqual([{ row: 4, col: 2, dir: "W" }]);
  });

  it("fall on early and late decisions alike when sampled", () => {
    // Mean place of a trap among the decisions of its solution, 0 first, 1 last: 0.5 when uniform.
    const places = Array.from({ length: 400 }, (_, seed) => meanPlace(seed, "sampled"));
    expect(places.reduce((sum, place) => sum + place, 0) / 400).toBeCloseTo(0.5, 1);
    const first = Array.from({ length: 400 }, (_, seed) => meanPlace(seed, "path-order"));
    expect(first.reduce((sum, place) => sum + place, 0) / 400).toBeLessThan(0.35);
  });
});

function meanPlace(seed: number, placement: "path-order" | "sampled"): number {
  const { solution, traps, ...maze } = generateMaze({ size: 15, seed, generator: "wilson", placement });
  const decisions = solution.slice(0, -1).filter((cell, position) => {
    const ways = (["N", "E", "S", "W"] as const).filter((dir) => isOpen(maze, cell, dir)).length;
    return ways > (position === 0 ? 1 : 2);
  });
  const places = traps
    .map(({ row, col }) => decisions.findIndex((cell) => sameCell(cell, [row, col])))
    .filter((place) => place !== -1)
    .map((place) => place / (decisions.length - 1));
  return places.reduce((sum, place) => sum + place, 0) / places.length;
}
