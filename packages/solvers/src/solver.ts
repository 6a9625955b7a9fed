import type { Random } from "@hallumaze/foundation";

import type { Log } from "./journal.ts";
import type { Task } from "./read-task.ts";

/** What a solver is given besides the task. */
export interface Means {
  readonly random: Random;
  /** The value of one of its own parameters. */
  readonly parameter: (name: string) => number;
  readonly maxTokens: number;
}

/** An agent that solves (or fails) on the maze: it writes a log, which is then put into the prompt's words. */
export type Solver = (task: Task, means: Means) => Log;

/** A confidence in whole per cent, uniform between two bounds, both included. */
export function percentBetween(random: Random, low: number, high: number): number {
  return low + random.below(high - low + 1);
}

/** One of several choices, uniformly; there must be at least one. */
export function pick<Choice>(random: Random, choices: readonly Choice[]): Choice {
  return choices[random.below(choices.length)] as Choice;
}
