import type { MazeView } from "@hallumaze/contract";
import { deadEnds, encodeMaze, exitCell, hintSentence, type Maze } from "@hallumaze/maze";
import type { Language } from "@hallumaze/protocol";

/** What decides how a maze was shown. */
export interface MazeConditions {
  /** True where its text carried the tempting hints. */
  readonly mirage: boolean;
  readonly language: Language;
}

/** A maze to be drawn, with all that a person may know of it afterwards. */
export function viewMaze(maze: Maze, { mirage, language }: MazeConditions): MazeView {
  const { size, seed, generator, placement, solution } = maze;
  return {
    size,
    seed,
    generator,
    placement,
    rows: openingRows(maze),
    start: [0, 0],
    exit: exitCell(size),
    solution: [...solution],
    deadEnds: [...deadEnds(maze)],
    traps: maze.traps.map(({ row, col, dir }, at) => ({
      row,
      col,
      dir,
      hint: mirage ? hintSentence(seed, at, language) : null,
    })),
    text: encodeMaze(maze, { mirage, language }),
  };
}

/** A maze's openings, row by row: the sum of the open directions' bits N=1, E=2, S=4, W=8 for each cell. */
export function openingRows({ size, openings }: Pick<Maze, "size" | "openings">): number[][] {
  return Array.from({ length: size }, (_, row) => [...openings.subarray(row * size, (row + 1) * size)]);
}
