import { cellIndex, type Direction, type Maze } from "@hallumaze/maze";

import type { MazeTree } from "./maze-tree.ts";
import type { BranchEntry } from "./walk.ts";

/** Watches the walker enter and leave the branches off the solution. Tell it where the walker legally stands. */
export interface BranchWatch {
  /** The walker stands on a cell after attempt `at`; `isTurn` says that it got there by going or jumping back. */
  readonly stand: (at: number, cell: number, isTurn: boolean) => void;
  readonly entries: () => readonly BranchEntry[];
}

interface OpenEntry {
  readonly at: number;
  readonly branch: number;
  readonly revisit: boolean;
  depth: number;
  deadEndAt: number | null;
  turnAt: number | null;
}

/**
 * Wrong-branch entries: each time the walker comes from outside into a branch off the solution, by a move or a jump.
 *
 * Branches within a branch are part of it. A turn is the first move towards START, rewind or jump back after the entry.
 * SOURCE: benchmark specification, sections 5 and 6 (robust).
 */
export function watchBranches(tree: MazeTree): BranchWatch {
  const entries: OpenEntry[] = [];
  const left = new Set<number>();
  let open: OpenEntry | null = null;

  return {
    stand: (at, cell, isTurn) => {
      const branch = tree.branches[cell] ?? -1;
      if (open !== null) {
        if (isTurn) open.turnAt ??= at;
        if (open.branch !== branch) {
          left.add(open.branch);
          open = null;
        }
      }
      if (branch < 0) return;
      if (open === null) {
        open = { at, branch, revisit: left.has(branch), depth: 0, deadEndAt: null, turnAt: null };
        entries.push(open);
      }
      open.depth = Math.max(open.depth, (tree.depths[cell] ?? 0) - (tree.depths[branch] ?? 0) + 1);
      if (tree.onward[cell] === 0) open.deadEndAt ??= at;
    },
    entries: () =>
      entries.map(({ at, depth, revisit, deadEndAt, turnAt }) => ({
        at,
        depth,
        latency: turnAt === null ? null : turnAt - at,
        revisit,
        deadEndAt,
        turnAt,
      })),
  };
}

/** Watches what the walker does where a tempting hint stands. */
export interface TrapWatch {
  /** The walker tries a direction; `isLegal` says that it got there. Gives what it did for the first time. */
  readonly attempt: (cell: number, dir: Direction, isLegal: boolean) => "faced" | "taken" | null;
  readonly counts: () => { readonly faced: number; readonly taken: number };
}

/**
 * Traps faced (the walker tried a move on the trap's cell) and taken (it ever went the tempting way), each trap once.
 *
 * Without Mirage there are no hints, so nothing is faced. SOURCE: benchmark specification, section 5.
 */
export function watchTraps(maze: Maze, options: { readonly mirage: boolean }): TrapWatch {
  const trapsAt = new Map<number, Set<Direction>>();
  for (const { row, col, dir } of options.mirage ? maze.traps : []) {
    const cell = cellIndex(maze.size, [row, col]);
    trapsAt.set(cell, (trapsAt.get(cell) ?? new Set()).add(dir));
  }
  const facedCells = new Set<number>();
  const taken = new Set<string>();
  let faced = 0;
  return {
    attempt: (cell, dir, isLegal) => {
      const dirs = trapsAt.get(cell);
      if (dirs === undefined) return null;
      const isNew = !facedCells.has(cell);
      if (isNew) faced += dirs.size;
      facedCells.add(cell);
      const trap = `${cell}${dir}`;
      if (!isLegal || !dirs.has(dir) || taken.has(trap)) return isNew ? "faced" : null;
      taken.add(trap);
      return "taken";
    },
    counts: () => ({ faced, taken: taken.size }),
  };
}
