import type { Cell, Direction, Maze } from "./maze.ts";

/** All that walking a maze needs: its size and its openings (one byte a cell, as in {@link Maze}). */
export type Grid = Pick<Maze, "size" | "openings">;

/** The order in which a cell's directions are printed in a prompt. SOURCE: benchmark specification, section 3. */
export const printOrder = ["N", "E", "S", "W"] as const satisfies readonly Direction[];

/** The order in which generation and trap placement look around. SOURCE: parity with the published benchmark. */
export const scanOrder = ["N", "S", "E", "W"] as const satisfies readonly Direction[];

/** The bit that marks a direction as open in a maze's `openings`. */
export const directionBits: Readonly<Record<Direction, number>> = { N: 1, E: 2, S: 4, W: 8 };

/** The arrow printed beside a direction. */
export const directionArrows: Readonly<Record<Direction, string>> = { N: "↑", E: "→", S: "↓", W: "←" };

const opposites: Readonly<Record<Direction, Direction>> = { N: "S", E: "W", S: "N", W: "E" };

/** The direction that undoes a move. */
export function opposite(dir: Direction): Direction {
  return opposites[dir];
}

/** The cell one move away, which may lie off the grid. */
export function step(cell: Cell, dir: Direction): Cell {
  const [row, col] = cell;
  switch (dir) {
    case "N":
      return [row - 1, col];
    case "E":
      return [row, col + 1];
    case "S":
      return [row + 1, col];
    case "W":
      return [row, col - 1];
  }
}

/** Tells whether a cell lies on a grid of `size` × `size` cells. A coordinate that is no integer does not. */
export function inGrid(size: number, cell: Cell): boolean {
  const [row, col] = cell;
  return Number.isInteger(row) && Number.isInteger(col) && row >= 0 && col >= 0 && row < size && col < size;
}

/** Tells whether two cells are the same. */
export function sameCell(one: Cell, other: Cell): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

/** The row-major position of a cell on the grid, 0 … size²-1. */
export function cellIndex(size: number, cell: Cell): number {
  return cell[0] * size + cell[1];
}

/** The cell at a row-major position: the inverse of {@link cellIndex}. */
export function cellAt(size: number, index: number): Cell {
  return [Math.floor(index / size), index % size];
}

/** EXIT, the cell (size-1, size-1). START is (0,0). */
export function exitCell(size: number): Cell {
  return [size - 1, size - 1];
}

/** Tells whether the walker can leave a cell that way. False for a cell off the grid. */
export function isOpen(grid: Grid, cell: Cell, dir: Direction): boolean {
  return inGrid(grid.size, cell) && (openingsAt(grid, cellIndex(grid.size, cell)) & directionBits[dir]) !== 0;
}

/** The open directions of a cell in the order N, E, S, W; none for a cell off the grid. */
export function openDirections(grid: Grid, cell: Cell): Direction[] {
  return printOrder.filter((dir) => isOpen(grid, cell, dir));
}

/** The direction of a move between two cells; null where they do not touch along a side. */
export function directionBetween(from: Cell, to: Cell): Direction | null {
  return printOrder.find((dir) => sameCell(step(from, dir), to)) ?? null;
}

/** The byte of openings at a row-major position; 0 off the grid. */
export function openingsAt(grid: Grid, index: number): number {
  return grid.openings[index] ?? 0;
}

const directionLists = Array.from({ length: 16 }, (_, bits) =>
  scanOrder.filter((dir) => (bits & directionBits[dir]) !== 0),
);

/** The directions in a sum of bits, in the order N, S, E, W. Allocates nothing: carving spends its time here. */
export function directionsIn(bits: number): readonly Direction[] {
  return directionLists[bits] ?? [];
}

/** How far a move shifts the row-major position. Says nothing about the grid's edge or a wall. */
export function indexShift(size: number, dir: Direction): number {
  switch (dir) {
    case "N":
      return -size;
    case "E":
      return 1;
    case "S":
      return size;
    case "W":
      return -1;
  }
}
