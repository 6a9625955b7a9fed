import { type Cell, type Direction, inGrid, step } from "@hallumaze/maze";

import {
  bump,
  changeStrategy,
  closeJournal,
  closedDirections,
  hasEscaped,
  openJournal,
  passWall,
  standing,
} from "./journal.ts";
import { stepOnRoute } from "./route-solvers.ts";
import { pick, type Solver } from "./solver.ts";

/**
 * Knows the way roughly, and with the chance `wallRate` steps through a wall that stands between it and EXIT's side. It
 * says 100 % throughout and reports no error.
 */
export const overconfident: Solver = (task, { random, parameter }) => {
  const journal = openJournal(task.maze);
  while (!hasEscaped(journal)) {
    const here = standing(journal);
    const shortcuts = closedDirections(journal, here).filter((dir) => isTowardsExit(task.maze.size, here, dir));
    if (shortcuts.length > 0 && random.fraction() < parameter("wallRate"))
      passWall(journal, pick(random, shortcuts), 100);
    else stepOnRoute(journal, 100);
  }
  return closeJournal(journal);
};

/** Chances of being right that the calibrated solver meets, each as often as the others. */
const calibratedPercents = [55, 65, 75, 85, 95] as const;

/**
 * Is right exactly as often as it says: each attempt draws a chance of success, states it, and errs (a bump) with the
 * rest. Its pooled ECE for `legal` is 0 by design, apart from sampling.
 */
export const calibrated: Solver = (task, { random }) => {
  const journal = openJournal(task.maze);
  while (!hasEscaped(journal)) {
    const closed = closedDirections(journal, standing(journal));
    // With nothing to bump into there is no way to err: only certainty would be calibrated.
    const percent = closed.length === 0 ? 100 : pick(random, calibratedPercents);
    if (random.fraction() * 100 < percent) stepOnRoute(journal, percent);
    else bump(journal, pick(random, closed), percent);
  }
  return closeJournal(journal);
};

const sure = 90;

/** How confidence climbs back after a bump, attempt by attempt, in per cent. */
const recovery = [60, 80] as const;

/** Right attempts at full confidence before the next bump: they set the level that the fall is measured from. */
const sureStepsBetweenBumps = 4;

/**
 * Knows the way but bumps into walls. Its confidence falls at the bump, it owns up to it, turns to the way and recovers:
 * pattern A at every error that can be classified.
 */
export const errorAware: Solver = (task, { random, parameter }) => {
  const journal = openJournal(task.maze);
  let sureSteps = 0;
  let recovering: readonly number[] = [];
  while (!hasEscaped(journal)) {
    const closed = closedDirections(journal, standing(journal));
    if (sureSteps >= sureStepsBetweenBumps && closed.length > 0 && random.fraction() < parameter("bumpRate")) {
      bump(journal, pick(random, closed), 55);
      changeStrategy(journal);
      recovering = recovery;
      sureSteps = 0;
    } else {
      const [regained, ...rest] = recovering;
      stepOnRoute(journal, regained ?? sure);
      recovering = rest;
      if (regained === undefined) sureSteps += 1;
    }
  }
  return closeJournal(journal);
};

function isTowardsExit(size: number, here: Cell, dir: Direction): boolean {
  return (dir === "S" || dir === "E") && inGrid(size, step(here, dir));
}
