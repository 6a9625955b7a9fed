import { type Cell, directionBetween, exitCell, inGrid, isOpen, type Maze, step } from "@hallumaze/maze";

import type { PathCandidate } from "./read-path.ts";
import type { Attempt, Claim, ReadingFlag } from "./reading.ts";

/** What a global change of coordinates touches. */
export interface Coordinates {
  readonly attempts: readonly Attempt[];
  readonly claims: readonly Claim[];
  readonly finalPath: readonly Cell[] | null;
}

/** A reading after one global change; `flag` names it, null where nothing had to or could be changed. */
export interface LenientCoordinates extends Coordinates {
  readonly flag: (ReadingFlag & ("indexShifted" | "transposed" | "simulatedMoveList")) | null;
}

/**
 * Makes sense of a log whose coordinates are off as a whole: one change for all of it (index base, row and column
 * swapped, or a bare move list simulated), and only where the log as written goes wrong in its first line and the
 * changed one is consistent with the maze throughout. Anything else stays as written.
 */
export function readLeniently(
  written: Coordinates,
  candidates: readonly PathCandidate[],
  maze: Maze,
): LenientCoordinates {
  const kept = { ...written, flag: null };
  const last = candidates.at(-1);
  if (written.attempts.length === 0 && written.finalPath === null) {
    const path = last === undefined || last.kind !== "nothing" ? null : simulate(last, maze);
    return path === null ? kept : { ...written, finalPath: path, flag: "simulatedMoveList" };
  }
  if (written.attempts.length > 0 && written.attempts.every(({ from, to }) => from === null && to === null)) {
    const simulated = placeAttempts(written, maze);
    return simulated === null ? kept : { ...simulated, flag: "simulatedMoveList" };
  }
  if (!startsWrong(written, maze)) return kept;
  const shifted = change(written, ([row, col]) => [row - 1, col - 1]);
  if (isConsistent(shifted, maze)) return { ...shifted, flag: "indexShifted" };
  const transposed = change(written, ([row, col]) => [col, row]);
  if (isConsistent(transposed, maze)) return { ...transposed, flag: "transposed" };
  return kept;
}

function change(written: Coordinates, map: (cell: Cell) => Cell): Coordinates {
  const place = (cell: Cell | null): Cell | null => (cell === null ? null : map(cell));
  return {
    attempts: written.attempts.map((attempt) => {
      const from = place(attempt.from);
      const to = place(attempt.to);
      // A derived direction follows its cells; one that is written stays.
      const derived = attempt.flags.includes("derivedDirection") && from !== null && to !== null;
      const dir = derived ? directionBetween(from, to) : attempt.dir;
      const reached = from === null || dir === null ? null : step(from, dir);
      const agrees = to === null || reached === null || same(reached, to);
      const flags = agrees ? attempt.flags.filter((flag) => flag !== "contradiction") : attempt.flags;
      return { ...attempt, from, to, dir, flags };
    }),
    claims: written.claims.map((claim) => ({ ...claim, at: place(claim.at) })),
    finalPath: written.finalPath?.map(map) ?? null,
  };
}

function same(one: Cell, other: Cell): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

/** Whether the log, or without one the path, is wrong from its first move or from where that leads. */
function startsWrong(written: Coordinates, maze: Maze): boolean {
  const moves = edges(written);
  return !isWalk(moves.slice(0, 2), maze);
}

interface Edge {
  readonly from: Cell | null;
  readonly to: Cell | null;
  readonly dir: Attempt["dir"];
}

function edges(written: Coordinates): readonly Edge[] {
  if (written.attempts.length > 0) return written.attempts;
  const path = written.finalPath ?? [];
  return path.slice(1).map((to, index) => {
    const from = path[index] ?? to;
    return { from, to, dir: directionBetween(from, to) };
  });
}

function isConsistent(changed: Coordinates, maze: Maze): boolean {
  if (!isWalk(edges(changed), maze)) return false;
  if (changed.finalPath === null || changed.attempts.length === 0) return true;
  return isWalk(edges({ ...changed, attempts: [] }), maze);
}

/** Whether every move starts where the walker stands or has been, from START, over an open edge to where it says. */
function isWalk(moves: readonly Edge[], maze: Maze): boolean {
  let at: Cell = [0, 0];
  const visited = new Set<string>(["0,0"]);
  for (const move of moves) {
    const from = move.from ?? at;
    if (!visited.has(from.join(","))) return false;
    if (move.dir === null || !inGrid(maze.size, from) || !isOpen(maze, from, move.dir)) return false;
    at = step(from, move.dir);
    if (move.to !== null && !same(at, move.to)) return false;
    visited.add(at.join(","));
    if (same(at, exitCell(maze.size))) break;
  }
  return true;
}

/** The cells that a bare move list passes from START; null where one of its moves meets a wall. */
function simulate(candidate: PathCandidate, maze: Maze): readonly Cell[] | null {
  const cells: Cell[] = [[0, 0]];
  for (const dir of candidate.moves) {
    const from = cells.at(-1);
    if (from === undefined || !isOpen(maze, from, dir)) return null;
    cells.push(step(from, dir));
  }
  return cells.length > 1 ? cells : null;
}

/** Gives every attempt of a log without coordinates the cell where it starts; null where a move meets a wall. */
function placeAttempts(written: Coordinates, maze: Maze): Coordinates | null {
  if (!isWalk(written.attempts, maze)) return null;
  let at: Cell = [0, 0];
  const attempts = written.attempts.map((attempt) => {
    const from = at;
    if (attempt.dir !== null) at = step(at, attempt.dir);
    return { ...attempt, from };
  });
  return { ...written, attempts };
}
