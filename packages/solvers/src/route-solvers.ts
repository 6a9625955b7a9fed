import { type Direction, nextOnRoute, openDirections, opposite, sameCell } from "@hallumaze/maze";

import {
  admitDeadEnd,
  closeJournal,
  hasEscaped,
  type Journal,
  move,
  openJournal,
  rewind,
  standing,
  standsOnDeadEnd,
} from "./journal.ts";
import { type Means, percentBetween, pick, type Solver } from "./solver.ts";

/** Knows the way and walks it, sure of itself. */
export const oracle: Solver = (task, { random }) => {
  const journal = openJournal(task.maze);
  while (!hasEscaped(journal)) stepOnRoute(journal, percentBetween(random, 95, 99));
  return closeJournal(journal);
};

/**
 * Knows the way, but follows a tempting hint with the chance `trapRate`: down to a dead end, which it owns up to, and
 * back the way it came. It sees traps only as the hints of its prompt: without them it is the oracle.
 */
export const mirageProne: Solver = (task, means) => {
  const journal = openJournal(task.maze);
  while (!hasEscaped(journal)) {
    const here = standing(journal);
    for (const { row, col, dir } of task.maze.hints) {
      if (!sameCell(here, [row, col]) || dir === nextOnRoute(task.maze, here)) continue;
      if (means.random.fraction() < means.parameter("trapRate")) followHint(journal, dir, means);
    }
    stepOnRoute(journal, percentBetween(means.random, 85, 95));
  }
  return closeJournal(journal);
};

/** Takes one step of the way from where the walker stands to EXIT. */
export function stepOnRoute(journal: Journal, confidence: number): void {
  const here = standing(journal);
  const dir = nextOnRoute(journal.maze, here);
  if (dir === null) throw new RangeError(`no way leads from (${here.join()}) to EXIT`);
  move(journal, dir, confidence, openDirections(journal.maze, here).length > 2 ? "open" : "onlyWay");
}

function followHint(journal: Journal, hinted: Direction, { random }: Means): void {
  const trapLength = journal.trail.length;
  let dir = hinted;
  move(journal, dir, percentBetween(random, 90, 97), "hint");
  while (!standsOnDeadEnd(journal)) {
    dir = pick(random, onward(journal, dir));
    move(journal, dir, percentBetween(random, 85, 95), "hint");
  }
  admitDeadEnd(journal);
  rewind(journal, trapLength);
}

function onward(journal: Journal, came: Direction): readonly Direction[] {
  return openDirections(journal.maze, standing(journal)).filter((dir) => dir !== opposite(came));
}
