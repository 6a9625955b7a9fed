import { directionBetween } from "./grid.ts";
import type { Maze } from "./maze.ts";
import { directionsOffSolution } from "./place-traps.ts";
import { findBranches } from "./solve.ts";

/** What makes a maze hard, apart from its size. Harder when higher, but for `cellsBeyondExit`. */
export interface Difficulty {
  /** Cells of the solution, EXIT excluded, where a wrong direction is open too. */
  readonly junctions: number;
  /** Cells in branches that leave the solution before EXIT: those where a walker can get lost. */
  readonly wrongBranchCells: number;
  /** Moves from the solution to the farthest of those cells; 0 where there is none. */
  readonly maxWrongBranchDepth: number;
  /** Cells that only a walk through EXIT could reach, so none does. Solution, wrong branches and these are all size² cells. */
  readonly cellsBeyondExit: number;
  /** Moves of the solution over the Manhattan distance from START to EXIT, at least 1. */
  readonly detourIndex: number;
  /** How often the solution changes direction. */
  readonly turns: number;
  /** Expected moves of an unbiased random walk from START until it first reaches EXIT. */
  readonly hittingTime: number;
  readonly trapsPlaced: number;
  /** Traps on a junction, where a walker has a choice; the others sit on EXIT, where the walk is over. */
  readonly trapsOnDecision: number;
}

/** Measures a maze. SOURCE: benchmark specification, section 1. */
export function measureDifficulty(maze: Maze): Difficulty {
  const { size, solution, traps } = maze;
  const moves = solution.length - 1;
  const junctions = solution.slice(0, -1).filter((_, at) => directionsOffSolution(maze, solution, at).length > 0);
  const { depths, positions } = findBranches(maze);
  const wrongDepths = depths.filter((depth, index) => depth > 0 && positions[index] !== moves);
  return {
    junctions: junctions.length,
    wrongBranchCells: wrongDepths.length,
    maxWrongBranchDepth: wrongDepths.reduce((most, depth) => Math.max(most, depth), 0),
    cellsBeyondExit: size * size - solution.length - wrongDepths.length,
    detourIndex: moves / (2 * (size - 1)),
    turns: countTurns(maze),
    hittingTime: hittingTime(positions, moves),
    trapsPlaced: traps.length,
    trapsOnDecision: traps.filter(({ row, col }) => row !== size - 1 || col !== size - 1).length,
  };
}

function countTurns({ solution }: Maze): number {
  const dirs = solution.slice(1).map((cell, at) => directionBetween(solution[at] ?? cell, cell));
  return dirs.filter((dir, at) => at > 0 && dir !== dirs[at - 1]).length;
}

/**
 * In a tree the expected moves from a cell to its neighbour are 2·e + 1, where e counts the edges on the cell's side of
 * the passage between them (one less than the cells there). A walk to EXIT crosses the solution's passages one after
 * another, so the sum over them is exact.
 *
 * SOURCE: Aldous and Fill, "Reversible Markov Chains and Random Walks on Graphs", chapter 5, essential edge lemma.
 */
function hittingTime(positions: Uint16Array, moves: number): number {
  const cellsAt = new Uint32Array(moves + 1);
  for (const position of positions) cellsAt[position] = (cellsAt[position] ?? 0) + 1;
  let behind = 0;
  let expected = 0;
  for (const cells of cellsAt.subarray(0, moves)) {
    behind += cells;
    expected += 2 * (behind - 1) + 1;
  }
  return expected;
}
