import type { Random } from "@hallumaze/foundation";

import { directionBits, directionsIn, indexShift, opposite } from "./grid.ts";
import type { Direction, Generator } from "./maze.ts";

/** Carves a perfect maze on size × size cells out of a stream of random numbers; returns its openings. */
export type Carve = (size: number, random: Random) => Uint8Array;

/** The ways to carve a maze, by name. Each gives a perfect maze and draws from `random` alone. */
export const generators: Readonly<Record<Generator, Carve>> = {
  dfs: carveDfs,
  kruskal: carveKruskal,
  wilson: carveWilson,
  prim: carvePrim,
};

interface Passage {
  readonly from: number;
  readonly dir: Direction;
}

/**
 * Randomised depth-first search from START with an explicit stack: long corridors, few junctions.
 *
 * Draws once for each new cell, even where only one neighbour is left: the stream must stay in step with the published
 * benchmark's. SOURCE: benchmark specification, section 1.
 */
function carveDfs(size: number, random: Random): Uint8Array {
  const openings = new Uint8Array(size * size);
  const around = neighbourBits(size);
  const visited = new Uint8Array(size * size);
  const stack = [0];
  visited[0] = 1;
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const current = top;
    let freshBits = 0;
    for (const dir of directionsIn(at(around, current))) {
      if (visited[current + indexShift(size, dir)] === 0) freshBits |= directionBits[dir];
    }
    const fresh = directionsIn(freshBits);
    if (fresh.length === 0) {
      stack.pop();
      continue;
    }
    const next = open(openings, size, { from: current, dir: at(fresh, random.below(fresh.length)) });
    visited[next] = 1;
    stack.push(next);
  }
  return openings;
}

/** Kruskal's algorithm over a shuffled list of all passages: many short dead ends. */
function carveKruskal(size: number, random: Random): Uint8Array {
  const openings = new Uint8Array(size * size);
  const forward = directionBits.S | directionBits.E;
  const passages = Array.from(neighbourBits(size)).flatMap((bits, from) =>
    directionsIn(bits & forward).map((dir): Passage => ({ from, dir })),
  );
  const parent = Int32Array.from({ length: size * size }, (_, index) => index);
  for (let left = passages.length; left > 0; left--) {
    const passage = takeAt(passages, random.below(left));
    const one = findRoot(parent, passage.from);
    const other = findRoot(parent, passage.from + indexShift(size, passage.dir));
    if (one === other) continue;
    parent[one] = other;
    open(openings, size, passage);
  }
  return openings;
}

/**
 * Wilson's algorithm, a loop-erased random walk from each cell to the tree so far: every perfect maze of this size is
 * equally likely. The tree starts at START.
 *
 * SOURCE: D. B. Wilson, "Generating random spanning trees more quickly than the cover time", STOC 1996.
 */
function carveWilson(size: number, random: Random): Uint8Array {
  const openings = new Uint8Array(size * size);
  const around = neighbourBits(size);
  const inTree = new Uint8Array(size * size);
  const lastLeft: Direction[] = [];
  inTree[0] = 1;
  for (let start = 1; start < size * size; start++) {
    for (let cell = start; inTree[cell] === 0; cell += indexShift(size, at(lastLeft, cell))) {
      const dirs = directionsIn(at(around, cell));
      lastLeft[cell] = at(dirs, random.below(dirs.length));
    }
    // Only the last way out of a cell is kept, so following them again walks the path with its loops erased.
    for (let cell = start; inTree[cell] === 0; ) {
      inTree[cell] = 1;
      cell = open(openings, size, { from: cell, dir: at(lastLeft, cell) });
    }
  }
  return openings;
}

/** Prim's algorithm with equal weights, growing from START over a uniformly drawn passage of the tree's rim. */
function carvePrim(size: number, random: Random): Uint8Array {
  const openings = new Uint8Array(size * size);
  const around = neighbourBits(size);
  const inTree = new Uint8Array(size * size);
  const rim: Passage[] = [];
  const join = (cell: number): void => {
    inTree[cell] = 1;
    for (const dir of directionsIn(at(around, cell))) {
      if (inTree[cell + indexShift(size, dir)] === 0) rim.push({ from: cell, dir });
    }
  };
  join(0);
  while (rim.length > 0) {
    const passage = takeAt(rim, random.below(rim.length));
    // A passage whose far side has joined meanwhile is dropped here: finding it earlier would cost more.
    if (inTree[passage.from + indexShift(size, passage.dir)] === 0) join(open(openings, size, passage));
  }
  return openings;
}

/** For each cell the sum of the bits of the directions that stay on the grid. */
function neighbourBits(size: number): Uint8Array {
  const bits = new Uint8Array(size * size);
  for (let row = 0; row < size; row++) {
    const rowBits = (row > 0 ? directionBits.N : 0) + (row < size - 1 ? directionBits.S : 0);
    for (let col = 0; col < size; col++) {
      const colBits = (col > 0 ? directionBits.W : 0) + (col < size - 1 ? directionBits.E : 0);
      bits[row * size + col] = rowBits + colBits;
    }
  }
  return bits;
}

/** Opens a passage on both sides and returns the far cell. */
function open(openings: Uint8Array, size: number, passage: Passage): number {
  const to = passage.from + indexShift(size, passage.dir);
  openings[passage.from] = at(openings, passage.from) | directionBits[passage.dir];
  openings[to] = at(openings, to) | directionBits[opposite(passage.dir)];
  return to;
}

function findRoot(parent: Int32Array, cell: number): number {
  let root = cell;
  for (let up = at(parent, root); up !== root; up = at(parent, root)) {
    const above = at(parent, up);
    parent[root] = above;
    root = above;
  }
  return root;
}

/** Takes an item out of a list in constant time; the last item fills its place. */
function takeAt<Item>(items: Item[], index: number): Item {
  const taken = at(items, index);
  const last = items.pop() as Item;
  if (index < items.length) items[index] = last;
  return taken;
}

function at<Item>(items: { readonly [index: number]: Item }, index: number): Item {
  return items[index] as Item;
}
