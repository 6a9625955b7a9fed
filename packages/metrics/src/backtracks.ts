import type { MazeTree } from "./maze-tree.ts";

/** Counts retreats while a walk goes on. Tell it of legal moves only. */
export interface BacktrackCounter {
  /** A cell is reached for the first time. */
  readonly discover: (cell: number) => void;
  /** The walker goes back from a cell to one above it, over one or several edges; true where that completes a backtrack. */
  readonly retreat: (from: number, to: number) => boolean;
  /** The walker goes anywhere else: the next retreat is another one. */
  readonly goOn: () => void;
  readonly counts: () => { readonly backtracks: number; readonly premature: number };
}

/**
 * BT and `prematureBacktracks`, counts >= 0.
 *
 * A retreat is a run of moves and rewinds towards START; illegal attempts do not end it. It is one backtrack where it
 * leaves a dead end or an exhausted cell that no earlier backtrack has left, and premature otherwise. A cell is
 * exhausted once everything beyond it has been walked, so a cell of the solution never is; EXIT, which ends the walk, is
 * no dead end, and START cannot be left towards START.
 *
 * A cell is passed over once and then skipped, so that the time stays linear in attempts however deep the rewinds are.
 * SOURCE: benchmark specification, section 5.
 */
export function countBacktracks(tree: MazeTree): BacktrackCounter {
  const unfinished = Uint8Array.from(tree.onward);
  /** The nearest cell upwards, itself included, that no backtrack has left yet. */
  const upwards = Int32Array.from(tree.parents, (_, cell) => cell);
  let backtracks = 0;
  let premature = 0;
  let run: "none" | "premature" | "counted" = "none";

  const leaveFinished = (from: number, to: number): boolean => {
    let isNew = false;
    const floor = tree.depths[to] ?? 0;
    for (let cell = find(upwards, from); (tree.depths[cell] ?? 0) > floor; cell = find(upwards, cell)) {
      if (unfinished[cell] !== 0) break;
      upwards[cell] = tree.parents[cell] ?? cell;
      isNew = true;
    }
    return isNew;
  };

  return {
    discover: (cell) => {
      if (cell === tree.exit) return;
      for (let done = cell; unfinished[done] === 0 && done > 0; ) {
        done = tree.parents[done] ?? 0;
        unfinished[done] = (unfinished[done] ?? 1) - 1;
      }
    },
    retreat: (from, to) => {
      if (run === "none") {
        run = "premature";
        premature++;
      }
      if (!leaveFinished(from, to) || run !== "premature") return false;
      run = "counted";
      premature--;
      backtracks++;
      return true;
    },
    goOn: () => {
      run = "none";
    },
    counts: () => ({ backtracks, premature }),
  };
}

/** Follows links to their end and shortens them on the way. */
export function find(links: Int32Array, cell: number): number {
  let end = cell;
  for (let next = links[end] ?? end; next !== end; next = links[end] ?? end) end = next;
  for (let at = cell; at !== end; ) {
    const next = links[at] ?? end;
    links[at] = end;
    at = next;
  }
  return end;
}
