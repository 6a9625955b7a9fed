import { type Cell, cellIndex, exitCell, type Maze, sameCell } from "@hallumaze/maze";
import { isIllegal, type WalkStep } from "@hallumaze/metrics";
import type { HintFacts } from "@hallumaze/protocol";

import type { FollowedAnswer } from "./follow-answers.ts";

/**
 * Why an unsolved answer calls for a hint: a directed edge used twice within a pass, the same illegal attempt twice, 2N
 * attempts in a row with neither a new cell nor a first use of a directed edge, an end short of EXIT.
 */
export type Trigger = "loop" | "repeatedError" | "stalled" | "short";

/** What an answer's walk shows about itself: the triggers that hold, in the order of {@link Trigger}, and what to say. */
export interface AnswerFindings {
  readonly triggers: readonly Trigger[];
  readonly facts: HintFacts;
}

/**
 * Looks for triggers in one answer of a conversation, by its walk alone and never by its words. Whether it was solved is
 * the caller's to ask. SOURCE: benchmark specification, section 7.
 */
export function findTriggers(maze: Maze, answer: FollowedAnswer): AnswerFindings {
  const errors = repeatedErrors(answer);
  const hasRepeatedMove = answer.attempts.some(({ repeatsMove, repeatsRewind }) => repeatsMove || repeatsRewind);
  const isStalled = longestStandstill(answer) >= 2 * maze.size;
  const facts: HintFacts = {
    repeatedMoves: repeatedMoves(maze, answer),
    hasRepeatedMove,
    repeatedErrors: distinctCells(
      maze,
      errors.flatMap(({ kind, from }) => ((kind === "wall" || kind === "outOfGrid") && from !== null ? [from] : [])),
      answer,
    ),
    hasRepeatedError: errors.length > 0,
    isStalled,
    isShort: !answer.escapes,
    cellsReached: answer.reached.size,
  };
  const found: Readonly<Record<Trigger, boolean>> = {
    loop: hasRepeatedMove,
    repeatedError: facts.hasRepeatedError,
    stalled: isStalled,
    short: facts.isShort,
  };
  return { triggers: triggerNames.filter((trigger) => found[trigger]), facts };
}

const triggerNames: readonly Trigger[] = ["loop", "repeatedError", "stalled", "short"];

/** The illegal attempts that had been made before in this answer. */
function repeatedErrors({ attempts }: FollowedAnswer): readonly WalkStep[] {
  const made = new Set<string>();
  return attempts.flatMap(({ step }) => {
    if (!isIllegal(step)) return [];
    const keys = errorKeys(step);
    const isRepeated = keys.some((key) => made.has(key));
    for (const key of keys) made.add(key);
    return isRepeated ? [step] : [];
  });
}

/** A line may be two errors at once: it starts from a cell never reached, and runs into a wall there. */
function errorKeys({ kind, relocation, from, to, dir }: WalkStep): readonly string[] {
  const isBump = kind === "wall" || kind === "outOfGrid";
  const landing = from ?? to;
  return [
    ...(isBump && from !== null ? [`${from.join()} ${dir}`] : []),
    // A cell off the grid has no name in the walk: two such jumps cannot be told to be the same.
    ...(relocation === "teleport" && landing !== null ? [`to ${landing.join()}`] : []),
  ];
}

/** The most attempts in a row with neither a new cell nor a first use of a directed edge. */
function longestStandstill({ attempts }: FollowedAnswer): number {
  let longest = 0;
  let run = 0;
  for (const { discovers, usesNewEdge } of attempts) {
    run = discovers || usesNewEdge ? 0 : run + 1;
    longest = Math.max(longest, run);
  }
  return longest;
}

/** The passages walked again that may be named: both cells reached, none of them EXIT. */
function repeatedMoves(maze: Maze, answer: FollowedAnswer): readonly (readonly [Cell, Cell])[] {
  const pairs = new Map<string, readonly [Cell, Cell]>();
  for (const { step, repeatsMove } of answer.attempts) {
    const { kind, from, to } = step;
    if (!repeatsMove || kind !== "ok" || from === null || to === null) continue;
    if (![from, to].every((cell) => mayBeNamed(maze, answer, cell))) continue;
    const pair = cellIndex(maze.size, from) < cellIndex(maze.size, to) ? ([from, to] as const) : ([to, from] as const);
    pairs.set(pair.join(" "), pair);
  }
  return [...pairs.values()];
}

function distinctCells(maze: Maze, cells: readonly Cell[], answer: FollowedAnswer): readonly Cell[] {
  const named = cells.filter((cell) => mayBeNamed(maze, answer, cell));
  return [...new Map(named.map((cell) => [cell.join(), cell])).values()];
}

function mayBeNamed({ size }: Maze, { reached }: FollowedAnswer, cell: Cell): boolean {
  return reached.has(cellIndex(size, cell)) && !sameCell(cell, exitCell(size));
}
