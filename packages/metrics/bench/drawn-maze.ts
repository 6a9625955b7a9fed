import { directionBits, exitCell, findPath, type Maze, type Trap } from "@hallumaze/maze";

/**
 * Reads a maze from a drawing in which a cell is two characters wide, walls are `|` and `--`, and corners are `+`.
 * Traps are named by the caller.
 */
export function drawnMaze(drawing: string, traps: readonly Trap[] = []): Maze {
  const lines = drawing.split("\n").filter((line) => line.includes("+") || line.includes("|"));
  const size = (lines.length - 1) / 2;
  const openings = new Uint8Array(size * size);
  const indent = lines[0]?.indexOf("+") ?? 0;
  const isFree = (line: number, column: number): boolean => lines[line]?.[indent + column] === " ";
  for (let row = 0; row < size; row++) {
    for (let col = 0; col < size; col++) {
      let bits = 0;
      if (row > 0 && isFree(2 * row, 3 * col + 1)) bits += directionBits.N;
      if (col < size - 1 && isFree(2 * row + 1, 3 * col + 3)) bits += directionBits.E;
      if (row < size - 1 && isFree(2 * row + 2, 3 * col + 1)) bits += directionBits.S;
      if (col > 0 && isFree(2 * row + 1, 3 * col)) bits += directionBits.W;
      openings[row * size + col] = bits;
    }
  }
  const solution = findPath({ size, openings }, [0, 0], exitCell(size)) ?? [];
  return { size, seed: 0, generator: "dfs", placement: "path-order", openings, solution, traps };
}

/**
 * The maze of most examples. The way out is E S E S E S; three branches leave it: at (0,0) southwards (seven attempts to
 * search it), at (0,1) eastwards (three cells, one dead end), at (2,2) southwards (two cells, one dead end).
 */
export const garden = drawnMaze(`
  +--+--+--+--+
  |S          |
  +  +  +--+  +
  |  |     |  |
  +  +--+  +--+
  |     |     |
  +  +--+  +  +
  |  |     | E|
  +--+--+--+--+
`);
