import type { Mark, ViewCell } from "./replay.ts";

/** The side of a cell in the units of a drawing. */
export const cellSide = 40;

const east = 2;
const south = 4;

/** The middle of a cell. */
export function middleOf([row, column]: ViewCell): { readonly x: number; readonly y: number } {
  return { x: (column + 0.5) * cellSide, y: (row + 0.5) * cellSide };
}

/**
 * The walls of a maze as one path: horizontal and vertical runs joined, the frame included.
 *
 * `rows` holds a number a cell: the sum of its open directions N=1, E=2, S=4, W=8.
 */
export function wallPath(rows: readonly (readonly number[])[]): string {
  const size = rows.length;
  const parts: string[] = [];
  const isOpen = (row: number, column: number, bit: number): boolean => ((rows[row]?.[column] ?? 0) & bit) !== 0;
  for (let line = 0; line <= size; line++) {
    const isFrame = line === 0 || line === size;
    parts.push(
      ...runs(size, (at) => isFrame || !isOpen(line - 1, at, south)).map(
        ([start, end]) => `M${start * cellSide} ${line * cellSide}H${end * cellSide}`,
      ),
      ...runs(size, (at) => isFrame || !isOpen(at, line - 1, east)).map(
        ([start, end]) => `M${line * cellSide} ${start * cellSide}V${end * cellSide}`,
      ),
    );
  }
  return parts.join("");
}

/** A line through the middles of cells, as a path; empty for fewer than two. */
export function linePath(cells: readonly ViewCell[]): string {
  if (cells.length < 2) return "";
  return cells
    .map((cell, at) => {
      const { x, y } = middleOf(cell);
      return `${at === 0 ? "M" : "L"}${x} ${y}`;
    })
    .join("");
}

/** Marks of one sign as one path: a trail as lines, a bump as a cross on the wall, a leap as an arc. */
export function marksPath(marks: readonly Mark[], sign: Mark["sign"]): string {
  return marks.map((mark) => (mark.sign === sign ? markPath(mark) : "")).join("");
}

function markPath({ sign, from, to }: Mark): string {
  const start = middleOf(from);
  const end = middleOf(to);
  switch (sign) {
    case "trail":
    case "trap":
      return `M${start.x} ${start.y}L${end.x} ${end.y}`;
    case "bump": {
      const x = (start.x + end.x) / 2;
      const y = (start.y + end.y) / 2;
      const arm = cellSide * 0.16;
      return `M${x - arm} ${y - arm}L${x + arm} ${y + arm}M${x + arm} ${y - arm}L${x - arm} ${y + arm}`;
    }
    case "leap": {
      const bendX = (start.x + end.x) / 2 + (end.y - start.y) * 0.2;
      const bendY = (start.y + end.y) / 2 - (end.x - start.x) * 0.2;
      return `M${start.x} ${start.y}Q${bendX} ${bendY} ${end.x} ${end.y}`;
    }
  }
}

/** [start, end) of each run of positions that hold. */
function runs(length: number, holds: (at: number) => boolean): (readonly [start: number, end: number])[] {
  const found: (readonly [number, number])[] = [];
  let start = -1;
  for (let at = 0; at <= length; at++) {
    const here = at < length && holds(at);
    if (here && start < 0) start = at;
    if (!here && start >= 0) {
      found.push([start, at]);
      start = -1;
    }
  }
  return found;
}
