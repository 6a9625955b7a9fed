import { generateMaze, measureDifficulty } from "@hallumaze/maze";

import type { TrialSource } from "./trial-source.ts";

/** What is known of a maze from its plan alone. */
export interface MazeFacts {
  /** The unit of analysis: generator, size and seed. */
  readonly key: string;
  readonly size: number;
  readonly solutionMoves: number;
  /** Expected moves of a random walk to EXIT. */
  readonly hittingTime: number;
}

/** Names the maze of a plan. Trap placement is not in it: it changes no wall. */
export function mazeKeyOf({ generator, size, seed }: TrialSource["plan"]): string {
  return `${generator} ${size} ${seed}`;
}

/** Makes a plan's maze and measures it. */
export function mazeFacts(plan: TrialSource["plan"]): MazeFacts & { readonly traps: number } {
  const { generator, placement, size, seed } = plan;
  const maze = generateMaze({ size, seed, generator, placement });
  const { hittingTime } = measureDifficulty(maze);
  const solutionMoves = maze.solution.length - 1;
  return { key: mazeKeyOf(plan), size, solutionMoves, hittingTime, traps: maze.traps.length };
}
