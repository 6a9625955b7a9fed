import { type Cell, directionBetween, exitCell, inGrid, isOpen, type Maze, sameCell } from "@hallumaze/maze";
import type { Attempt } from "@hallumaze/protocol";

/** The pairs of a path, in order; a pair that stays on its cell is dropped. */
export function pathEdges(path: readonly Cell[]): readonly (readonly [from: Cell, to: Cell])[] {
  return path.flatMap((to, at): (readonly [Cell, Cell])[] => {
    const from = path[at - 1];
    return from === undefined || sameCell(from, to) ? [] : [[from, to]];
  });
}

/** A name for an edge that is the same in both directions of comparison only if from and to are. */
export function edgeKey(from: Cell, to: Cell): string {
  return `${from[0]},${from[1]}>${to[0]},${to[1]}`;
}

/** Reads FINAL_PATH as the attempts of a reply that has no log, one a pair. They carry no confidence. */
export function attemptsOfPath(path: readonly Cell[]): readonly Attempt[] {
  return pathEdges(path).map(([from, to], line) => ({
    index: null,
    from,
    dir: null,
    to,
    confidence: null,
    confidenceText: null,
    flags: [],
    line,
    span: [0, 0],
  }));
}

/** True for a path from START to EXIT over open edges only; a pair that stays on its cell is ignored. */
export function escapes(maze: Maze, path: readonly Cell[]): boolean {
  const [first] = path;
  const last = path.at(-1);
  return (
    first !== undefined &&
    last !== undefined &&
    sameCell(first, [0, 0]) &&
    sameCell(last, exitCell(maze.size)) &&
    pathEdges(path).every(([from, to]) => isPassage(maze, from, to))
  );
}

/** Illegal edges of a path, and the 1-based index of the first; -1 where there is none. */
export interface PathErrors {
  readonly count: number;
  readonly firstEdge: number;
}

/**
 * Counts the illegal edges of FINAL_PATH that the log does not contain (`tried` holds the keys of those that it does).
 *
 * An excursion off the grid counts once, as in a log: only the edge that leaves the grid, or a start outside it, counts.
 * SOURCE: benchmark specification, section 5, HC and FHR.
 */
export function findPathErrors(maze: Maze, path: readonly Cell[], tried: ReadonlySet<string>): PathErrors {
  let count = 0;
  let firstEdge = -1;
  for (const [at, [from, to]] of pathEdges(path).entries()) {
    const isOnPhantom = at > 0 && !inGrid(maze.size, from);
    if (isOnPhantom || isPassage(maze, from, to) || tried.has(edgeKey(from, to))) continue;
    count++;
    if (firstEdge < 0) firstEdge = at + 1;
  }
  return { count, firstEdge };
}

function isPassage(maze: Maze, from: Cell, to: Cell): boolean {
  const dir = directionBetween(from, to);
  return dir !== null && isOpen(maze, from, dir);
}
