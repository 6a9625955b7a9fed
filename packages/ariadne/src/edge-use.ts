import { cellAt, cellIndex, type Maze, openDirections, step } from "@hallumaze/maze";

/** Which directed edges one answer has used. Cells are row-major indices. */
export interface EdgeUse {
  /** Uses the edge between two neighbours and says whether it was used before, in this pass and in this answer at all. */
  readonly move: (from: number, to: number) => { readonly inPass: boolean; readonly ever: boolean };
  /** Uses all edges from a cell up to one on its way to START; true where one of them had been used in this pass. */
  readonly rewind: (from: number, to: number) => boolean;
  /** Begins a new pass: retracing in it repeats nothing of the last one. */
  readonly newPass: () => void;
}

/** A maze hung from START: each cell's neighbour towards START (-1 at START), and its moves from there. */
export interface StartTree {
  readonly parents: Int32Array;
  readonly depths: Int32Array;
}

/** Hangs a maze from START. Linear in its cells. */
export function hangFromStart(maze: Maze): StartTree {
  const cells = maze.size * maze.size;
  const parents = new Int32Array(cells).fill(-1);
  const depths = new Int32Array(cells);
  const stack = [0];
  for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
    const place = cellAt(maze.size, cell);
    for (const dir of openDirections(maze, place)) {
      const next = cellIndex(maze.size, step(place, dir));
      if (next === parents[cell]) continue;
      parents[next] = cell;
      depths[next] = (depths[cell] ?? 0) + 1;
      stack.push(next);
    }
  }
  return { parents, depths };
}

/**
 * Watches the directed edges of one answer. The walk's own loop count runs through the whole conversation; whether an
 * answer goes in circles, or only retraces what an earlier one knew, shows within the answer alone.
 *
 * Edges upwards that a rewind finds used are skipped over, so that the time stays linear in attempts.
 */
export function watchEdges({ parents, depths }: StartTree): EdgeUse {
  const ever = new Set<number>();
  let usedDown = new Set<number>();
  /** A cell whose edge upwards was used in this pass → the cell to look at next. */
  let skips = new Map<number, number>();

  const unusedFrom = (cell: number): number => {
    let end = cell;
    for (let next = skips.get(end); next !== undefined; next = skips.get(end)) end = next;
    for (let at = cell; at !== end; ) {
      const next = skips.get(at) ?? end;
      skips.set(at, end);
      at = next;
    }
    return end;
  };
  const useUpwards = (cell: number): void => {
    skips.set(cell, parents[cell] ?? -1);
    ever.add(2 * cell);
  };

  return {
    move: (from, to) => {
      const isUpwards = parents[from] === to;
      const key = isUpwards ? 2 * from : 2 * to + 1;
      const seen = { inPass: isUpwards ? skips.has(from) : usedDown.has(to), ever: ever.has(key) };
      if (!isUpwards) usedDown.add(to);
      else if (!seen.inPass) useUpwards(from);
      ever.add(key);
      return seen;
    },
    rewind: (from, to) => {
      const floor = depths[to] ?? 0;
      let isReuse = false;
      for (let cell = from; (depths[cell] ?? 0) > floor; ) {
        const unused = unusedFrom(cell);
        if (unused !== cell) isReuse = true;
        if ((depths[unused] ?? 0) <= floor) break;
        useUpwards(unused);
        cell = parents[unused] ?? to;
      }
      return isReuse;
    },
    newPass: () => {
      usedDown = new Set();
      skips = new Map();
    },
  };
}
