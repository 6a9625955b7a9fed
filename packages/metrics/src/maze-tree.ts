import { cellIndex, directionBits, exitCell, type Maze, type Route, routeToExit } from "@hallumaze/maze";

/**
 * A maze as a tree that hangs from START. Cells are row-major indices.
 *
 * In a perfect maze this is also the tree of first discovery of any legal walk: a new cell can only be found from the
 * cell above it, however the walker jumps between cells that it knows.
 */
export interface MazeTree {
  readonly size: number;
  readonly exit: number;
  /** The cell above, towards START; -1 at START. */
  readonly parents: Int32Array;
  /** Moves from START. */
  readonly depths: Int32Array;
  /** Openings that lead away from START. */
  readonly onward: Uint8Array;
  /** The cell's position on the solution; -1 off it. */
  readonly positions: Int32Array;
  /** The first cell of the branch off the solution that the cell lies in; -1 on the solution. */
  readonly branches: Int32Array;
  readonly route: Route;
  /** The span of numbers given to a cell and all below it, first to last, in depth-first order. */
  readonly first: Int32Array;
  readonly last: Int32Array;
}

const known = new WeakMap<Uint8Array, MazeTree>();

/** Hangs a maze from START. Linear in its cells, once for each maze. */
export function mazeTree(maze: Maze): MazeTree {
  const kept = known.get(maze.openings);
  if (kept !== undefined) return kept;
  const built = hang(maze);
  known.set(maze.openings, built);
  return built;
}

/** Tells whether `above` lies on the way from START to `below`, both included. */
export function isOnWayTo(tree: MazeTree, above: number, below: number): boolean {
  const number = tree.first[below] ?? -1;
  return number >= (tree.first[above] ?? 0) && number <= (tree.last[above] ?? -1);
}

function hang(maze: Maze): MazeTree {
  const { size, openings, solution } = maze;
  const cells = size * size;
  const tree = {
    size,
    exit: cellIndex(size, exitCell(size)),
    parents: new Int32Array(cells).fill(-1),
    depths: new Int32Array(cells),
    onward: new Uint8Array(cells),
    positions: new Int32Array(cells).fill(-1),
    branches: new Int32Array(cells).fill(-1),
    route: routeToExit(maze),
    first: new Int32Array(cells),
    last: new Int32Array(cells),
  };
  for (const [position, cell] of solution.entries()) tree.positions[cellIndex(size, cell)] = position;
  const order = depthFirstOrder(size, openings, tree.parents);
  for (const [number, cell] of order.entries()) {
    tree.first[cell] = number;
    tree.last[cell] = number;
    const parent = tree.parents[cell] ?? -1;
    if (parent < 0) continue;
    tree.depths[cell] = (tree.depths[parent] ?? 0) + 1;
    tree.onward[parent] = (tree.onward[parent] ?? 0) + 1;
    const isOff = (tree.positions[cell] ?? -1) < 0;
    const above = tree.branches[parent] ?? -1;
    tree.branches[cell] = isOff && above < 0 ? cell : above;
  }
  for (const cell of order.toReversed()) {
    const parent = tree.parents[cell] ?? -1;
    if (parent >= 0) tree.last[parent] = Math.max(tree.last[parent] ?? 0, tree.last[cell] ?? 0);
  }
  return tree;
}

/** Fills `parents` and returns the cells in depth-first order from START. */
function depthFirstOrder(size: number, openings: Uint8Array, parents: Int32Array): readonly number[] {
  const shifts = [
    [directionBits.N, -size],
    [directionBits.S, size],
    [directionBits.E, 1],
    [directionBits.W, -1],
  ] as const;
  const order: number[] = [];
  const stack = [0];
  for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
    order.push(cell);
    for (const [bit, shift] of shifts) {
      const next = cell + shift;
      if (((openings[cell] ?? 0) & bit) === 0 || next === 0 || (parents[next] ?? 0) >= 0) continue;
      parents[next] = cell;
      stack.push(next);
    }
  }
  return order;
}
