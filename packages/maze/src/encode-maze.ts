import { cellAt, directionArrows, openDirections } from "./grid.ts";
import { hintSentence, type TextLanguage } from "./hint-sentences.ts";
import type { Direction, Maze, Trap } from "./maze.ts";

/** How a maze is written for a model. */
export interface EncodeOptions {
  /** True writes the traps' hints; false leaves them out and changes nothing else. */
  readonly mirage: boolean;
  readonly language: TextLanguage;
}

interface Wording {
  readonly intro: string;
  readonly hint: (dir: Direction) => string;
}

const wordings: Readonly<Record<TextLanguage, Wording>> = {
  ko: { intro: "각 셀에서 이동 가능한 방향:", hint: (dir) => `${dir}방향 힌트` },
  en: { intro: "Directions you can move in from each cell:", hint: (dir) => `Hint for direction ${dir}` },
};

/**
 * Writes a maze as the text that a model is given: a header, then one line a cell in row-major order, directions in the
 * order N, E, S, W. Lines end in a line feed, the last one in nothing.
 *
 * A cell with two traps carries two hints on its line. SOURCE: seed, section 5; the English wording is ours.
 */
export function encodeMaze(maze: Maze, options: EncodeOptions): string {
  const { size, seed, traps } = maze;
  const hints = new Map<string, string>();
  if (options.mirage) {
    for (const [index, trap] of traps.entries()) {
      const key = `(${trap.row},${trap.col})`;
      hints.set(key, (hints.get(key) ?? "") + hintText(trap, hintSentence(seed, index, options.language), options));
    }
  }
  const cells = Array.from({ length: size * size }, (_, index) => {
    const cell = cellAt(size, index);
    const key = `(${cell[0]},${cell[1]})`;
    const directions = openDirections(maze, cell).map((dir) => dir + directionArrows[dir]);
    return `${key}: [${directions.join(" ")}]${hints.get(key) ?? ""}`;
  });
  return [
    `MAZE ${size}×${size} | START:(0,0) | EXIT:(${size - 1},${size - 1})`,
    `Seed: ${seed}`,
    "",
    wordings[options.language].intro,
    ...cells,
  ].join("\n");
}

function hintText(trap: Trap, sentence: string, options: EncodeOptions): string {
  return `  ⚑ ${wordings[options.language].hint(trap.dir)}: ${sentence}`;
}
