import {
  type Cell,
  cellIndex,
  directionBetween,
  type Direction,
  inGrid,
  isOpen,
  type Maze,
  sameCell,
  step,
} from "@hallumaze/maze";
import type { Attempt } from "@hallumaze/protocol";

import { isOnWayTo, type MazeTree } from "./maze-tree.ts";
import type { MoveKind, Relocation } from "./walk.ts";

/** Where a walk stands. */
export interface Standing {
  /** The walker's cell (row-major), always legally reached. */
  readonly cell: number;
  /** Where the log stands; elsewhere than the walker after an error that the log goes on from. May be off the grid. */
  readonly position: Cell;
  /** The far side of the wall or of the grid's edge that was tried last, until the log moves on; else null. */
  readonly farSide: Cell | null;
}

/**
 * Says how the log gets from where it stands to a cell that it claims; null where it, or the walker, stands there.
 *
 * The far side of the wall just tried comes first, whether visited or not. SOURCE: benchmark specification, section 5.
 */
export function classifyRelocation(
  tree: MazeTree,
  standing: Standing,
  visited: Uint8Array,
  claimed: Cell,
): Relocation | null {
  if (sameCell(claimed, standing.position)) return null;
  if (standing.farSide !== null && sameCell(claimed, standing.farSide)) return "throughWall";
  if (!inGrid(tree.size, claimed)) return "teleport";
  const cell = cellIndex(tree.size, claimed);
  if (visited[cell] !== 1) return "teleport";
  if (cell === standing.cell) return null;
  return isOnWayTo(tree, cell, standing.cell) ? "rewind" : "jumpBack";
}

/** What a line says about its move, taken by itself. */
export type ClaimedMove =
  | { readonly move: "unreadable"; readonly contradiction: boolean }
  | { readonly move: "step"; readonly dir: Direction; readonly target: Cell }
  | { readonly move: "jump"; readonly target: Cell };

/** Reads a move from where it starts. A move onto its own cell, or whose direction and target disagree, is unreadable. */
export function readMove(from: Cell, { dir, to }: Pick<Attempt, "dir" | "to">): ClaimedMove {
  if (dir !== null) {
    const target = step(from, dir);
    if (to !== null && !sameCell(to, target)) return { move: "unreadable", contradiction: !sameCell(to, from) };
    return { move: "step", dir, target };
  }
  if (to === null || sameCell(from, to)) return { move: "unreadable", contradiction: false };
  const derived = directionBetween(from, to);
  return derived === null ? { move: "jump", target: to } : { move: "step", dir: derived, target: to };
}

/** Judges a single step by the maze. A step from a phantom cell cannot be judged: its error was counted on the way out. */
export function judgeStep(
  maze: Maze,
  from: Cell,
  dir: Direction,
): Extract<MoveKind, "ok" | "wall" | "outOfGrid" | "malformed"> {
  if (!inGrid(maze.size, from)) return "malformed";
  if (!inGrid(maze.size, step(from, dir))) return "outOfGrid";
  return isOpen(maze, from, dir) ? "ok" : "wall";
}
