import { find } from "./backtracks.ts";
import type { MazeTree } from "./maze-tree.ts";

/** Watches which directed edges a walk has used. */
export interface LoopWatch {
  /** Uses the edge between two neighbours; true where this direction of it had been used in this pass. */
  readonly move: (from: number, to: number) => boolean;
  /** Uses all edges from a cell up to one above it; true where the last of them had been used. */
  readonly rewind: (from: number, to: number) => boolean;
  /** Uses the same edges, but reuses are no loop events. */
  readonly passThrough: (from: number, to: number) => void;
  /** Forgets all edges: retracing in a new pass is no loop. */
  readonly newPass: () => void;
  /** Reuses of a directed edge so far. */
  readonly events: () => number;
}

/**
 * `loopEvents`: how often a directed edge was used again within a pass; a search of a tree needs none. Count >= 0.
 *
 * An edge is named by its lower cell: upwards it can be used once and downwards once. Edges already used on the way of a
 * rewind are skipped, so that the time stays linear in attempts. SOURCE: benchmark specification, section 5.
 */
export function watchLoops(tree: MazeTree): LoopWatch {
  const cells = tree.parents.length;
  const usedDown = new Uint8Array(cells);
  /** A cell whose edge upwards is unused links to itself, another to the cell above it. */
  const upwards = Int32Array.from({ length: cells }, (_, cell) => cell);
  let touched: number[] = [];
  let events = 0;

  const useUpwards = (cell: number): void => {
    upwards[cell] = tree.parents[cell] ?? cell;
    touched.push(cell);
  };

  const useWay = (from: number, to: number): { readonly unused: number; readonly isLastReused: boolean } => {
    const floor = tree.depths[to] ?? 0;
    let unused = 0;
    let isLastReused = true;
    for (let cell = find(upwards, from); (tree.depths[cell] ?? 0) > floor; cell = find(upwards, cell)) {
      useUpwards(cell);
      unused++;
      isLastReused = tree.parents[cell] !== to;
    }
    return { unused, isLastReused };
  };

  return {
    move: (from, to) => {
      const isUpwards = tree.parents[from] === to;
      const isReuse = isUpwards ? upwards[from] !== from : usedDown[to] === 1;
      if (isReuse) events++;
      else if (isUpwards) useUpwards(from);
      else {
        usedDown[to] = 1;
        touched.push(to);
      }
      return isReuse;
    },
    rewind: (from, to) => {
      const { unused, isLastReused } = useWay(from, to);
      events += (tree.depths[from] ?? 0) - (tree.depths[to] ?? 0) - unused;
      return isLastReused;
    },
    passThrough: useWay,
    newPass: () => {
      for (const cell of touched) {
        upwards[cell] = cell;
        usedDown[cell] = 0;
      }
      touched = [];
    },
    events: () => events,
  };
}
