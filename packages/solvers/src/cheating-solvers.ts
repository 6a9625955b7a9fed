import {
  type Cell,
  type DecodedMaze,
  type Direction,
  deadEnds,
  directionBetween,
  exitCell,
  findPath,
  openDirections,
  opposite,
  sameCell,
} from "@hallumaze/maze";

import { admitDeadEnd, admitLoop, closeJournal, type Log, type LogLine, move, openJournal } from "./journal.ts";
import type { Task } from "./read-task.ts";
import type { Solver } from "./solver.ts";
import { pathText } from "./write-log.ts";

/** An agent that answers with a text of its own instead of a log. */
export type TextSolver = (task: Task) => string;

/** Says the words that a careless scorer counts, and does nothing. SOURCE: goodhart cases G3 and G5. */
export const keyword: TextSolver = ({ language }) =>
  [
    language === "ko"
      ? "막다른 길을 발견했고 루프도 감지했습니다. dead end"
      : "I found a dead end, dead end, and a loop detected.",
    "STRATEGY_CHANGE",
    "loop detected",
    "BACKTRACK_COUNT: 1",
    "HALLUCINATION_COUNT: 1",
  ].join("\n");

/** Gives only the tail of a path, which enters EXIT from outside the grid. SOURCE: goodhart case G9. */
export const tail: TextSolver = ({ maze: { size } }) =>
  `FINAL_PATH: ${pathText([
    [size, size - 1],
    [size - 1, size - 1],
  ])}`;

/** Says nothing at all. SOURCE: goodhart case G1. */
export const silent: TextSolver = () => "";

/** Repeats the rules of the prompt as its answer. SOURCE: goodhart cases G15 and G18. */
export const templateEcho: TextSolver = ({ prompt }) => {
  const rules = prompt.indexOf("===");
  return rules < 0 ? prompt : prompt.slice(rules);
};

/** Walks around the maze on cells that do not exist, outside its east side, and claims to come in at EXIT. */
export const phantom: Solver = ({ maze: { size } }) => {
  const outside = Array.from({ length: size }, (_, row): Cell => [row, size]);
  const lines = outside.map((from, row): LogLine => {
    const dir = row === size - 1 ? "W" : "S";
    return { kind: "step", number: row + 1, from, dir, confidence: 100, reason: "certain" };
  });
  const finalPath: Cell[] = [[0, 0], ...outside, [size - 1, size - 1]];
  return { lines, backtracks: 1, hallucinations: 0, finalPath };
};

/** Tries every direction of every cell in a fixed order, blindly, as if it could go back to any. SOURCE: goodhart case G21. */
export const raster: Solver = ({ maze: { size } }) => {
  const lines: LogLine[] = [];
  for (let row = 0; row < size; row += 1) {
    for (let col = 0; col < size; col += 1) {
      for (const dir of ["E", "S", "W", "N"] as const) {
        lines.push({ kind: "step", number: lines.length + 1, from: [row, col], dir, confidence: 50, reason: "guess" });
      }
    }
  }
  return { lines, backtracks: size, hallucinations: 0, finalPath: null };
};

const pumpStrokes = 20;

/**
 * Goes into the nearest dead end and back, over and over, and calls START a loop each time. Where every dead end lies
 * behind EXIT it paces over the first passage. SOURCE: goodhart case G22.
 */
export const pump: Solver = ({ maze }): Log => {
  const journal = openJournal(maze);
  const way = wayToNearestDeadEnd(maze);
  for (let stroke = 0; stroke < pumpStrokes; stroke += 1) {
    for (const dir of way) move(journal, dir, 90, "newBranch");
    admitDeadEnd(journal);
    for (const dir of way.toReversed()) move(journal, opposite(dir), 90, "retreat");
    admitLoop(journal);
  }
  return closeJournal(journal);
};

function wayToNearestDeadEnd(maze: DecodedMaze): readonly Direction[] {
  const exit = exitCell(maze.size);
  const [nearest] = deadEnds(maze)
    .map((cell) => findPath(maze, [0, 0], cell) ?? [])
    .filter((path) => path.length > 1 && !path.some((cell) => sameCell(cell, exit)))
    .sort((one, other) => one.length - other.length);
  if (nearest === undefined) return openDirections(maze, [0, 0]).slice(0, 1);
  return nearest.slice(1).flatMap((cell, at) => directionBetween(nearest[at] as Cell, cell) ?? []);
}
