import { generateMaze, type Maze } from "@hallumaze/maze";

import type { ConversationReply, ConversationSetting } from "../src/index.ts";

/**
 * The maze of these tests, 5×5 with the seed 2002; S is START, X is EXIT, and the way out runs along the #.
 *
 *     S  .  . ‹#› #      (0,0) S  (0,1) E   (0,2) EW  (0,3) SEW (0,4) SW
 *     #  #  #  #  #      (1,0) NE (1,1) EW  (1,2) EW  (1,3) NW  (1,4) NS
 *     .  .  .  #  #      (2,0) E  (2,1) SEW (2,2) SW  (2,3) SE  (2,4) NW
 *     .  .  .  #  .      (3,0) SE (3,1) NW  (3,2) N   (3,3) NS  (3,4) S
 *     .  .  .  #  X      (4,0) NE (4,1) EW  (4,2) EW  (4,3) NEW (4,4) NW
 */
export const maze: Maze = generateMaze({ size: 5, seed: 2002 });

/** The way out, one move an entry. */
export const wayOut: readonly string[] = [
  "(0,0) S",
  "(1,0) E",
  "(1,1) E",
  "(1,2) E",
  "(1,3) N",
  "(0,3) E",
  "(0,4) S",
  "(1,4) S",
  "(2,4) W",
  "(2,3) S",
  "(3,3) S",
  "(4,3) E",
];

/** FINAL_PATH along the way out. */
export const solution = `FINAL_PATH: ${maze.solution.map(([row, col]) => `(${row},${col})`).join("→")}`;

/** A setting of this maze. */
export function setting(rest: Partial<ConversationSetting> = {}): ConversationSetting {
  return { maze, mirage: true, confidenceAsked: true, language: "en", group: "B", hints: 1, shadow: true, ...rest };
}

/** An answer whose log makes these moves (`(0,0) S`), its numbers counting from `first`; further lines stand behind it. */
export function answer(
  moves: readonly string[],
  { first = 1, after = [] as readonly string[] } = {},
): ConversationReply {
  const steps = moves.map((move, at) => {
    const [place = "", dir = ""] = move.split(" ");
    return `STEP ${first + at}: ${place} → [${dir}] | 90% | open`;
  });
  return { text: [...steps, ...after].join("\n"), finishReason: "stop" };
}

/** The same answer, ended by the token limit. */
export function cutOff(reply: ConversationReply): ConversationReply {
  return { ...reply, finishReason: "length" };
}
