import { createRandom } from "@hallumaze/foundation";
import { type DecodedMaze, nextOnRoute, opposite } from "@hallumaze/maze";

import { closeJournal, type Log, move, openJournal, standing } from "./journal.ts";
import type { Task } from "./read-task.ts";
import { oracle } from "./route-solvers.ts";
import { type Means, percentBetween, type Solver } from "./solver.ts";

/** Loops on half of the mazes until it is given a hint, and then finds its way. */
export const hintTaker: Solver = (task, means) =>
  loopsOn(task.maze) && !isHint(task.followUp) ? circle(task, means) : oracle(task, means);

/** Loops on half of the mazes, whatever it is told. */
export const hintDeaf: Solver = (task, means) => (loopsOn(task.maze) ? circle(task, means) : oracle(task, means));

/** How often the passage is paced there and back: enough repeats of its directed edges to be seen as a loop. */
const rounds = 4;

/** Decided by the maze alone, so that both solvers loop on the same ones in every language, group and repeat. */
function loopsOn({ size, seed, openings }: DecodedMaze): boolean {
  return createRandom(`loops on ${size} ${seed} ${openings.join("")}`).below(2) === 0;
}

function circle({ maze }: Task, { random }: Means): Log {
  const journal = openJournal(maze);
  const out = nextOnRoute(maze, standing(journal));
  if (out === null) return closeJournal(journal);
  for (let round = 0; round < rounds; round += 1) {
    move(journal, out, percentBetween(random, 80, 90), "open");
    move(journal, opposite(out), percentBetween(random, 80, 90), "retreat");
  }
  return closeJournal(journal);
}

/**
 * Anything said after the first answer is a hint, but for a bare request to go on (the shadow turn of group A): one short
 * sentence that asks to continue and names nothing that went wrong.
 */
function isHint(followUp: string | null): boolean {
  if (followUp === null) return false;
  const asksToGoOn = /continue|go on|carry on|계속|이어/iu.test(followUp) && followUp.trim().length <= 80;
  return !asksToGoOn || /loop|repeat|visited|stuck|루프|반복|방문|순환|되풀이/iu.test(followUp);
}
