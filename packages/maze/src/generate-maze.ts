import { createRandom } from "@hallumaze/foundation";

import { MazeError } from "./errors.ts";
import { generators } from "./generators.ts";
import { exitCell } from "./grid.ts";
import type { Generator, Maze, MazePlan, TrapPlacement } from "./maze.ts";
import { placeTraps } from "./place-traps.ts";
import { findPath } from "./solve.ts";

/** The smallest and the largest side of a maze, in cells. */
export const mazeSizes = { min: 3, max: 101 } as const;

/** A plan whose generator and placement may be left out: they default to the published `dfs` and `path-order`. */
export type MazeRequest = Pick<MazePlan, "size" | "seed"> & {
  readonly generator?: Generator | undefined;
  readonly placement?: TrapPlacement | undefined;
};

/**
 * Builds the maze of a plan: the same plan gives the same maze everywhere, and for `dfs` the published benchmark's.
 *
 * The placement decides only where the traps are, never the walls. Throws a {@link MazeError} on a size outside 3 … 101,
 * a seed that is no non-negative safe integer, or an unknown generator or placement.
 */
export function generateMaze(request: MazeRequest): Maze {
  const { size, seed, generator = "dfs", placement = "path-order" } = request;
  check({ size, seed, generator, placement });
  const random = createRandom(seed);
  const openings = generators[generator](size, random);
  const solution = findPath({ size, openings }, [0, 0], exitCell(size)) ?? [];
  const traps = placeTraps({ size, openings }, solution, placement, random);
  return { size, seed, generator, placement, openings, solution, traps };
}

function check({ size, seed, generator, placement }: MazePlan): void {
  if (!Number.isInteger(size) || size < mazeSizes.min || size > mazeSizes.max) {
    const limits = `a whole number from ${mazeSizes.min} to ${mazeSizes.max}`;
    throw new MazeError("maze-size", `A maze cannot have size ${shown(size)}: give ${limits}.`, size);
  }
  if (!Number.isSafeInteger(seed) || seed < 0) {
    const limits = `a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`;
    throw new MazeError("maze-seed", `A maze cannot have seed ${shown(seed)}: give ${limits}.`, seed);
  }
  if (!Object.hasOwn(generators, generator)) {
    const known = Object.keys(generators).join(", ");
    throw new MazeError(
      "maze-generator",
      `There is no generator ${shown(generator)}: give one of ${known}.`,
      generator,
    );
  }
  if (placement !== "path-order" && placement !== "sampled") {
    const message = `There is no trap placement ${shown(placement)}: give path-order or sampled.`;
    throw new MazeError("maze-placement", message, placement);
  }
}

function shown(value: unknown): string {
  return typeof value === "string" ? `"${value}"` : String(value);
}
