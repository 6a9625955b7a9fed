import { mazeSizes } from "./generate-maze.ts";
import { cellIndex, directionBits, inGrid, isOpen, opposite, printOrder, step } from "./grid.ts";
import type { Cell, Direction, Trap } from "./maze.ts";

/** What a maze's text tells its reader: everything but the solution. */
export interface DecodedMaze {
  readonly size: number;
  readonly seed: number;
  /** One byte a cell, as in a maze. */
  readonly openings: Uint8Array;
  /** The tempting hints in the order of the text; empty where Mirage is off. */
  readonly hints: readonly Trap[];
}

const header = /^MAZE (\d{1,3})×(\d{1,3}) \| START:\(0,0\) \| EXIT:\(\d{1,3},\d{1,3}\)[ \t\r]*\nSeed: (\d{1,16})\b/mu;
const cellLine = /^\((\d{1,3}),(\d{1,3})\): \[([^\]\n]*)\](.*)$/gmu;
const hintMark = /⚑[^⚑NESW]*([NESW])/gu;

/**
 * Reads a maze back from its text, in any of its languages, on its own or inside a longer prompt: the inverse of
 * `encodeMaze`. The first maze of the text counts.
 *
 * Returns null where there is none, or where it is not whole: a cell is missing or written twice, or a passage is open
 * on one side only. Linear in the text's length; never throws.
 */
export function decodeMaze(text: string): DecodedMaze | null {
  const found = header.exec(text);
  if (found === null) return null;
  const size = Number(found[1]);
  const seed = Number(found[3]);
  if (found[1] !== found[2] || size < mazeSizes.min || size > mazeSizes.max || !Number.isSafeInteger(seed)) return null;

  const openings = new Uint8Array(size * size);
  const written = new Set<number>();
  const hints: Trap[] = [];
  for (const [, row, col, directions = "", rest = ""] of text.slice(found.index).matchAll(cellLine)) {
    const cell: Cell = [Number(row), Number(col)];
    const index = cellIndex(size, cell);
    if (!inGrid(size, cell) || written.has(index)) return null;
    written.add(index);
    openings[index] = readDirections(directions);
    for (const [, dir] of rest.matchAll(hintMark)) hints.push({ row: cell[0], col: cell[1], dir: dir as Direction });
    if (written.size === size * size) return isTwoSided(size, openings) ? { size, seed, openings, hints } : null;
  }
  return null;
}

function readDirections(text: string): number {
  return printOrder.filter((dir) => text.includes(dir)).reduce((sum, dir) => sum + directionBits[dir], 0);
}

function isTwoSided(size: number, openings: Uint8Array): boolean {
  const grid = { size, openings };
  return Array.from(openings).every((_, index) => {
    const cell: Cell = [Math.floor(index / size), index % size];
    return printOrder.every((dir) => !isOpen(grid, cell, dir) || isOpen(grid, step(cell, dir), opposite(dir)));
  });
}
