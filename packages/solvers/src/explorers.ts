import { cellIndex, type Direction, openDirections, opposite, step } from "@hallumaze/maze";
import type { Random } from "@hallumaze/foundation";

import {
  admitDeadEnd,
  admitLoop,
  changeStrategy,
  closeJournal,
  hasEscaped,
  type Journal,
  move,
  openJournal,
  rewind,
  standing,
  standsOnDeadEnd,
} from "./journal.ts";
import { percentBetween, pick, type Solver } from "./solver.ts";

/** Moves at random, without a memory, until it is out or its budget ends; then it gives up. */
export const randomWalk: Solver = (task, { random, parameter, maxTokens }) => {
  const journal = openJournal(task.maze);
  const budget = parameter("attemptBudget") || Math.min(2 * task.maze.size ** 2, stepsThatFit(maxTokens));
  while (!hasEscaped(journal) && journal.steps < budget) {
    const dir = pick(random, openDirections(task.maze, standing(journal)));
    move(journal, dir, percentBetween(random, 40, 60), "guess");
  }
  return closeJournal(journal);
};

/** Takes the first open one of S and E and remembers nothing; where both are closed it is at a loss and gives up. */
export const greedySe: Solver = (task, { random }) => {
  const journal = openJournal(task.maze);
  while (!hasEscaped(journal)) {
    const open = openDirections(task.maze, standing(journal));
    const dir = open.includes("S") ? "S" : open.includes("E") ? "E" : null;
    if (dir === null) break;
    move(journal, dir, percentBetween(random, 80, 95), "open");
  }
  return closeJournal(journal);
};

/** Keeps its right hand on the wall: it passes every dead end on that side, walking back step by step. */
export const wallFollower: Solver = (task, { random }) => {
  const journal = openJournal(task.maze);
  let heading: Direction = "S";
  while (!hasEscaped(journal)) {
    if (standsOnDeadEnd(journal)) admitDeadEnd(journal);
    const open = openDirections(task.maze, standing(journal));
    const dir: Direction | undefined = rightHandOrder(heading).find((way) => open.includes(way));
    if (dir === undefined) break;
    move(journal, dir, percentBetween(random, 80, 95), dir === opposite(heading) ? "retreat" : "open");
    heading = dir;
  }
  return closeJournal(journal);
};

/** Searches depth first in a random order, owns up to each dead end and goes straight back to the last open choice. */
export const dfsHonest: Solver = (task, { random }) => searchDepthFirst(openJournal(task.maze), random, 0);

/**
 * Searches depth first, but with the chance `forgetRate` a dead end wipes its memory: only the way that led there is left,
 * so that it enters branches again that it has seen. It notices where it comes to a dead end for the second time.
 */
export const dfsForgetful: Solver = (task, { random, parameter }) =>
  searchDepthFirst(openJournal(task.maze), random, parameter("forgetRate"));

function searchDepthFirst(journal: Journal, random: Random, forgetRate: number) {
  const { maze } = journal;
  const deadEndsSeen = new Set<number>();
  let visited = new Set([0]);
  while (!hasEscaped(journal) && journal.steps < 2 * maze.size ** 2) {
    const unseen = unseenDirections(journal, visited);
    if (unseen.length > 0) {
      const isChoice = unseen.length > 1;
      const confidence = isChoice ? percentBetween(random, 55, 75) : percentBetween(random, 85, 97);
      move(journal, pick(random, unseen), confidence, isChoice ? "newBranch" : "onlyWay");
      visited.add(cellIndex(maze.size, standing(journal)));
      continue;
    }
    if (standsOnDeadEnd(journal)) admitDeadEndOf(journal, deadEndsSeen);
    const isForgetting = random.fraction() < forgetRate;
    goBack(journal, visited);
    if (isForgetting) visited = new Set(journal.trail.map((cell) => cellIndex(maze.size, cell)));
  }
  return closeJournal(journal);
}

function admitDeadEndOf(journal: Journal, seen: Set<number>): void {
  const here = cellIndex(journal.maze.size, standing(journal));
  if (seen.has(here)) {
    admitLoop(journal);
    changeStrategy(journal);
  }
  seen.add(here);
  admitDeadEnd(journal);
}

/** Rewinds to the last cell of the trail that still has an unseen direction. */
function goBack(journal: Journal, visited: ReadonlySet<number>): void {
  do rewind(journal, journal.trail.length - 1);
  while (journal.trail.length > 1 && unseenDirections(journal, visited).length === 0);
}

function unseenDirections({ maze, trail }: Journal, visited: ReadonlySet<number>): readonly Direction[] {
  const here = trail.at(-1) ?? [0, 0];
  return openDirections(maze, here).filter((dir) => !visited.has(cellIndex(maze.size, step(here, dir))));
}

function rightHandOrder(heading: Direction): readonly Direction[] {
  const clockwise = ["N", "E", "S", "W"] as const;
  const at = clockwise.indexOf(heading);
  return [1, 0, 3, 2].map((turn) => clockwise[(at + turn) % 4] as Direction);
}

/** How many terse STEP lines fit a token limit beside the final block; at least one. */
function stepsThatFit(maxTokens: number): number {
  const tokensOfFinalBlock = 60;
  const tokensOfStep = 32;
  return Math.max(1, Math.floor((maxTokens - tokensOfFinalBlock) / tokensOfStep));
}
