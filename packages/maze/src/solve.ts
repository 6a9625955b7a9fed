import {
  cellAt,
  cellIndex,
  directionsIn,
  exitCell,
  type Grid,
  indexShift,
  inGrid,
  openingsAt,
  opposite,
} from "./grid.ts";
import type { Cell, Direction, Maze } from "./maze.ts";

/** For each cell (row-major) the direction of its next move towards a goal; null at the goal and where no way leads. */
export type Route = readonly (Direction | null)[];

const exitRoutes = new WeakMap<Uint8Array, Route>();

/** The path between two cells, both included; null where a cell is off the grid or, in a maze that is not perfect, cut off. */
export function findPath(grid: Grid, from: Cell, to: Cell): readonly Cell[] | null {
  if (!inGrid(grid.size, from) || !inGrid(grid.size, to)) return null;
  const route = findRoute(grid, to);
  const goal = cellIndex(grid.size, to);
  const path = [from];
  for (let index = cellIndex(grid.size, from); index !== goal; ) {
    const dir = route[index] ?? null;
    if (dir === null) return null;
    index += indexShift(grid.size, dir);
    path.push(cellAt(grid.size, index));
  }
  return path;
}

/** The next move from every cell towards EXIT. Computed once for each maze. */
export function routeToExit(grid: Grid): Route {
  const known = exitRoutes.get(grid.openings);
  if (known !== undefined) return known;
  const route = findRoute(grid, exitCell(grid.size));
  exitRoutes.set(grid.openings, route);
  return route;
}

/** The next move from a cell on the unique way to EXIT; null at EXIT and off the grid. */
export function nextOnRoute(grid: Grid, cell: Cell): Direction | null {
  return inGrid(grid.size, cell) ? (routeToExit(grid)[cellIndex(grid.size, cell)] ?? null) : null;
}

/** Where every cell (row-major) hangs on the solution. */
export interface Branches {
  /** Moves to the nearest cell of the solution: 0 on it, else the depth in the branch. */
  readonly depths: Uint16Array;
  /** 0-based position in `solution` of that nearest cell, where the branch begins. */
  readonly positions: Uint16Array;
}

/** Finds for every cell its branch off the solution and its depth there. */
export function findBranches(maze: Grid & Pick<Maze, "solution">): Branches {
  const depths = new Uint16Array(maze.size * maze.size);
  const positions = new Uint16Array(maze.size * maze.size);
  const starts = maze.solution.map((cell) => cellIndex(maze.size, cell));
  for (const [position, start] of starts.entries()) positions[start] = position;
  spread(maze, starts, (near, _dir, far) => {
    depths[far] = (depths[near] ?? 0) + 1;
    positions[far] = positions[near] ?? 0;
  });
  return { depths, positions };
}

/** Cells with one opening, in row-major order; EXIT does not count, START does. */
export function deadEnds(grid: Grid): readonly Cell[] {
  const found: Cell[] = [];
  for (let index = 0; index < grid.size * grid.size - 1; index++) {
    if (isOneBit(openingsAt(grid, index))) found.push(cellAt(grid.size, index));
  }
  return found;
}

function findRoute(grid: Grid, goal: Cell): Route {
  const route = Array.from({ length: grid.size * grid.size }, (): Direction | null => null);
  spread(grid, [cellIndex(grid.size, goal)], (_near, dir, far) => {
    route[far] = opposite(dir);
  });
  return route;
}

/** Visits every cell that can be reached from the starts, breadth first, telling over which passage it was found. */
function spread(
  grid: Grid,
  starts: readonly number[],
  visit: (near: number, dir: Direction, far: number) => void,
): void {
  const seen = new Uint8Array(grid.size * grid.size);
  const queue = [...starts];
  for (const start of starts) seen[start] = 1;
  for (let head = 0; head < queue.length; head++) {
    const near = queue[head] as number;
    for (const dir of directionsIn(openingsAt(grid, near))) {
      const far = near + indexShift(grid.size, dir);
      if (seen[far] !== 0) continue;
      seen[far] = 1;
      visit(near, dir, far);
      queue.push(far);
    }
  }
}

function isOneBit(bits: number): boolean {
  return bits !== 0 && (bits & (bits - 1)) === 0;
}
