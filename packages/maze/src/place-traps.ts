import type { Random } from "@hallumaze/foundation";

import { cellIndex, directionsIn, type Grid, openingsAt, sameCell, step } from "./grid.ts";
import type { Cell, Direction, Trap, TrapPlacement } from "./maze.ts";

/** The most traps that a maze of this size carries: max(2, floor(size / 2)). SOURCE: seed, section 5. */
export function maxTraps(size: number): number {
  return Math.max(2, Math.floor(size / 2));
}

/**
 * Places the traps of a maze, in the order of the solution; there may be fewer than {@link maxTraps}.
 *
 * `path-order` takes the first open directions off the solution from START on, EXIT included, N, S, E, W within a cell;
 * it draws nothing. `sampled` draws decision cells (EXIT excluded) without replacement, then one direction in each, and
 * so spreads the traps evenly over the solution. Neither marks an edge of the solution.
 */
export function placeTraps(
  grid: Grid,
  solution: readonly Cell[],
  placement: TrapPlacement,
  random: Random,
): readonly Trap[] {
  return placement === "sampled" ? sampleTraps(grid, solution, random) : firstTraps(grid, solution);
}

/** The open directions of the solution's cell number `position` that lead off the solution, in the order N, S, E, W. */
export function directionsOffSolution(grid: Grid, solution: readonly Cell[], position: number): readonly Direction[] {
  const cell = solution[position];
  if (cell === undefined) return [];
  const [before = cell, after = cell] = [solution[position - 1], solution[position + 1]];
  return directionsIn(openingsAt(grid, cellIndex(grid.size, cell))).filter((dir) => {
    const target = step(cell, dir);
    return !sameCell(target, before) && !sameCell(target, after);
  });
}

function firstTraps(grid: Grid, solution: readonly Cell[]): readonly Trap[] {
  const traps: Trap[] = [];
  for (const [position, cell] of solution.entries()) {
    for (const dir of directionsOffSolution(grid, solution, position)) traps.push(trapAt(cell, dir));
    if (traps.length >= maxTraps(grid.size)) break;
  }
  return traps.slice(0, maxTraps(grid.size));
}

function sampleTraps(grid: Grid, solution: readonly Cell[], random: Random): readonly Trap[] {
  const decisions = solution
    .slice(0, -1)
    .map((cell, position) => ({ cell, dirs: directionsOffSolution(grid, solution, position) }))
    .filter(({ dirs }) => dirs.length > 0);
  const chosen = new Map<number, Trap>();
  for (let left = maxTraps(grid.size); left > 0 && decisions.length > 0; left--) {
    for (const { cell, dirs } of decisions.splice(random.below(decisions.length), 1)) {
      chosen.set(cellIndex(grid.size, cell), trapAt(cell, dirs[random.below(dirs.length)] as Direction));
    }
  }
  return solution.flatMap((cell) => chosen.get(cellIndex(grid.size, cell)) ?? []);
}

function trapAt(cell: Cell, dir: Direction): Trap {
  return { row: cell[0], col: cell[1], dir };
}
