import {
  cellIndex,
  directionArrows,
  directionBetween,
  directionBits,
  exitCell,
  isOpen,
  sameCell,
  step,
} from "./grid.ts";
import type { Cell, Direction, Maze } from "./maze.ts";

/** What a drawing shows beside walls, START, EXIT and traps. */
export interface DrawOptions {
  /** Cells to dot, in order; pass the maze's `solution` to show it. Passages between neighbours are dotted too. */
  readonly path?: readonly Cell[];
}

/** Box-drawing characters by the sum of the bits of the walls that meet in a corner: N=1, E=2, S=4, W=8. */
const corners = " ╵╶└╷│┌├╴┘─┴┐┤┬┼";

/**
 * Draws a maze with box-drawing characters, 2·size+1 lines of 4·size+1 characters joined by line feeds.
 *
 * S is START and E is EXIT; an arrow in a passage is a trap, pointing the tempting way; `·` marks the path.
 */
export function drawMaze(maze: Maze, options: DrawOptions = {}): string {
  const path = options.path ?? [];
  const marks = passageMarks(maze, path);
  const dotted = new Set(path.map((cell) => cellIndex(maze.size, cell)));
  const lines: string[] = [];
  for (let row = 0; row <= maze.size; row++) {
    let walls = "";
    let cells = "";
    for (let col = 0; col <= maze.size; col++) {
      const isLastCol = col === maze.size;
      walls += cornerAt(maze, row, col);
      if (!isLastCol) walls += hasWall(maze, [row, col], "N") ? "───" : ` ${marks.get(`${row},${col},N`) ?? " "} `;
      cells += hasWall(maze, [row, col], "W") ? "│" : (marks.get(`${row},${col},W`) ?? " ");
      if (!isLastCol) cells += ` ${cellMark(maze.size, [row, col], dotted)} `;
    }
    lines.push(walls);
    if (row < maze.size) lines.push(cells);
  }
  return lines.join("\n");
}

/** Tells whether a wall runs along the N or W side of a cell, which may lie one row or column beyond the grid. */
function hasWall(maze: Maze, cell: Cell, side: "N" | "W"): boolean {
  return !isOpen(maze, cell, side);
}

function cornerAt(maze: Maze, row: number, col: number): string {
  const { size } = maze;
  let bits = 0;
  if (row > 0 && hasWall(maze, [row - 1, col], "W")) bits += directionBits.N;
  if (col < size && hasWall(maze, [row, col], "N")) bits += directionBits.E;
  if (row < size && hasWall(maze, [row, col], "W")) bits += directionBits.S;
  if (col > 0 && hasWall(maze, [row, col - 1], "N")) bits += directionBits.W;
  return corners.charAt(bits);
}

function cellMark(size: number, cell: Cell, dotted: ReadonlySet<number>): string {
  if (sameCell(cell, [0, 0])) return "S";
  if (sameCell(cell, exitCell(size))) return "E";
  return dotted.has(cellIndex(size, cell)) ? "·" : " ";
}

/** What stands in each passage, keyed by the cell on its S or E side; a trap's arrow hides a dot of the path. */
function passageMarks(maze: Maze, path: readonly Cell[]): ReadonlyMap<string, string> {
  const marks = new Map<string, string>();
  for (const [at, cell] of path.entries()) {
    const dir = directionBetween(path[at - 1] ?? cell, cell);
    if (dir !== null) marks.set(passageKey(path[at - 1] ?? cell, dir), "·");
  }
  for (const { row, col, dir } of maze.traps) marks.set(passageKey([row, col], dir), directionArrows[dir]);
  return marks;
}

function passageKey(cell: Cell, dir: Direction): string {
  const [row, col] = dir === "S" || dir === "E" ? step(cell, dir) : cell;
  return `${row},${col},${dir === "N" || dir === "S" ? "N" : "W"}`;
}
