import { cellIndex, exitCell, type Maze, sameCell } from "@hallumaze/maze";
import { simulateWalk, type WalkStep } from "@hallumaze/metrics";
import type { Attempt, Reading } from "@hallumaze/protocol";

import { hangFromStart, type StartTree, watchEdges } from "./edge-use.ts";
import { appendAttempts, attemptsOfAnswer } from "./merge-answers.ts";

/** One attempt of an answer, seen from within its conversation. */
export interface FollowedAttempt {
  readonly step: WalkStep;
  /** True for a legal, grounded move into a cell that no attempt before it had reached, or into EXIT. */
  readonly discovers: boolean;
  /** True where its legal move used a directed edge again within this pass of this answer. */
  readonly repeatsMove: boolean;
  /** True where the rewind before its move did. */
  readonly repeatsRewind: boolean;
  /** True where its legal move is the first use of its directed edge within this answer. */
  readonly usesNewEdge: boolean;
}

/** What one answer did. */
export interface FollowedAnswer {
  /** In order, without those that are void (after an illegal move on their line, after the arrival at EXIT). */
  readonly attempts: readonly FollowedAttempt[];
  /** True where it legally arrived at EXIT. */
  readonly escapes: boolean;
  /** The cells (row-major) that legal moves had reached when it ended, START included. */
  readonly reached: ReadonlySet<number>;
}

/**
 * Follows the answers of a conversation, each from where the earlier ones stand. FINAL_PATH alone is read as attempts; a
 * non-answer has none. An earlier arrival at EXIT is taken back, so that a later answer can be seen to arrive too.
 */
export function followAnswers(maze: Maze, readings: readonly Reading[]): readonly FollowedAnswer[] {
  const tree = hangFromStart(maze);
  let reached: ReadonlySet<number> = new Set([0]);
  let earlier: readonly Attempt[] = [];
  return readings.map((reading) => {
    const attempts = appendAttempts(earlier, attemptsOfAnswer(reading));
    const log: Reading = { ...reading, outcome: "ok", attempts, finalPath: null, gaveUp: false, claims: [] };
    const { steps } = simulateWalk(maze, log, { mirage: false });
    const answer = followSteps(maze, tree, steps.slice(earlier.length), reached);
    const arrival = steps.findIndex((step) => arrives(maze, step));
    earlier = arrival < 0 ? attempts : attempts.slice(0, arrival);
    reached = answer.reached;
    return answer;
  });
}

function arrives({ size }: Maze, { kind, grounded, to }: WalkStep): boolean {
  return kind === "ok" && grounded && to !== null && sameCell(to, exitCell(size));
}

function followSteps(
  maze: Maze,
  tree: StartTree,
  steps: readonly WalkStep[],
  before: ReadonlySet<number>,
): FollowedAnswer {
  const edges = watchEdges(tree);
  const reached = new Set(before);
  const restarts = watchNumbers();
  const attempts: FollowedAttempt[] = [];
  let escapes = false;
  let cell = 0;
  for (const step of steps) {
    if (step.kind === "skipped" || step.kind === "afterExit") continue;
    const place = step.from ?? (step.relocation === null ? null : step.to);
    const start = place === null ? null : cellIndex(maze.size, place);
    // The way back between two passes, or two answers, belongs to neither.
    const isNewPass = restarts(step.index, start) || attempts.length === 0;
    if (isNewPass) edges.newPass();
    const isRewind = step.relocation === "rewind" && start !== null && !isNewPass;
    const repeatsRewind = isRewind && edges.rewind(cell, start);
    const to = step.to === null ? null : cellIndex(maze.size, step.to);
    const isMove = step.kind === "ok" && start !== null && to !== null;
    const seen = isMove ? edges.move(start, to) : null;
    const isArrival = arrives(maze, step);
    const discovers = isMove && step.grounded && (!reached.has(to) || isArrival);
    if (isMove && step.grounded) reached.add(to);
    escapes ||= isArrival;
    if (to !== null && reached.has(to)) cell = to;
    const repeatsMove = seen?.inPass === true;
    attempts.push({ step, discovers, repeatsMove, repeatsRewind, usesNewEdge: seen?.ever === false });
  }
  return { attempts, escapes, reached };
}

/** Tells where an answer's numbering begins again at START: a new pass, as in the walk. */
function watchNumbers(): (index: number | null, start: number | null) => boolean {
  let first: number | null = null;
  let last: number | null = null;
  return (index, start) => {
    if (index === null) return false;
    first ??= index;
    const isRestart = last !== null && index < last && index <= first && start === 0;
    last = index;
    return isRestart;
  };
}
