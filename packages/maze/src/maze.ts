/** A compass direction: N is row - 1, S is row + 1, E is column + 1, W is column - 1. */
export type Direction = "N" | "E" | "S" | "W";

/** A cell as [row, column], 0-based, top-left origin. */
export type Cell = readonly [row: number, column: number];

/** How a maze's walls are chosen. Published runs used `dfs`. */
export type Generator = "dfs" | "kruskal" | "wilson" | "prim";

/** Which cells of the solution carry a trap: the first along the path (as published), or a uniform sample of decisions. */
export type TrapPlacement = "path-order" | "sampled";

/** A tempting hint on a solution cell, at an open direction that leads off the solution. */
export interface Trap {
  readonly row: number;
  readonly col: number;
  readonly dir: Direction;
}

/** What fixes a maze. `size` is 3 … 101, `seed` a non-negative safe integer. */
export interface MazePlan {
  readonly size: number;
  readonly seed: number;
  readonly generator: Generator;
  readonly placement: TrapPlacement;
}

/**
 * A perfect maze: every two cells are joined by exactly one path. START is (0,0), EXIT is (size-1, size-1).
 *
 * `openings` holds one byte a cell, row-major: the sum of the open directions' bits N=1, E=2, S=4, W=8.
 * `solution` is the unique path from START to EXIT, both included.
 */
export interface Maze extends MazePlan {
  readonly openings: Uint8Array;
  readonly solution: readonly Cell[];
  readonly traps: readonly Trap[];
}
