import { isOpen, scanOrder } from "./grid.ts";
import type { Generator, Maze, Trap, TrapPlacement } from "./maze.ts";
import { mazeHash } from "./maze-hash.ts";
import { type Difficulty, measureDifficulty } from "./measure-difficulty.ts";
import { deadEnds } from "./solve.ts";

/** A maze in plain JSON, as the `maze` command prints it. */
export interface MazeDescription {
  readonly size: number;
  readonly seed: number;
  readonly generator: Generator;
  readonly placement: TrapPlacement;
  readonly hash: string;
  readonly solutionCells: number;
  readonly solutionMoves: number;
  readonly deadEnds: number;
  readonly solution: readonly (readonly [row: number, column: number])[];
  readonly traps: readonly Trap[];
  /** Rows top to bottom, cells left to right; each cell's open directions in the order N, S, E, W, as in `SEW`. */
  readonly openings: readonly (readonly string[])[];
  readonly difficulty: Difficulty;
}

/** Describes a maze. SOURCE: sweep specification, section 7. */
export function describeMaze(maze: Maze): MazeDescription {
  const { size, seed, generator, placement, solution, traps } = maze;
  const lines = Array.from({ length: size }, (_, line) => line);
  return {
    size,
    seed,
    generator,
    placement,
    hash: mazeHash(maze),
    solutionCells: solution.length,
    solutionMoves: solution.length - 1,
    deadEnds: deadEnds(maze).length,
    solution,
    traps,
    openings: lines.map((row) => lines.map((col) => scanOrder.filter((dir) => isOpen(maze, [row, col], dir)).join(""))),
    difficulty: measureDifficulty(maze),
  };
}
