import { type Cell, cellIndex, inGrid, type Maze, openDirections } from "@hallumaze/maze";
import type { Claim } from "@hallumaze/protocol";

import type { WalkStep } from "./walk.ts";

/** A directed edge that an attempt used again: where it led to, and whether by the line's own move or by its rewind. */
export interface LoopEvent {
  readonly at: number;
  readonly by: "move" | "rewind";
  readonly cell: number;
}

/** What a log's words are worth. */
export interface ClaimVerdict {
  /** LT: true LOOP claims, at most one for each loop event. */
  readonly trueLoops: number;
  /** Claims about a cell, or a wall, that the walk contradicts. A claim that names no cell cannot be checked. */
  readonly falseClaims: number;
}

/**
 * Compares the words of a log with its walk.
 *
 * A LOOP claim is true where the last move before it, or the rewind right after it, used a directed edge into the
 * claimed cell again; only the protocol's own lines count as one, and a wrong "visited at step M" is false by itself. A
 * DEAD_END claim is true of a cell with one opening, EXIT excepted. A wall claim is true where the attempt at its side was
 * illegal. SOURCE: benchmark specification, sections 4.8 and 5.
 */
export function judgeClaims(
  maze: Maze,
  claims: readonly Claim[],
  steps: readonly WalkStep[],
  events: readonly LoopEvent[],
): ClaimVerdict {
  const moved = lastMoves(steps);
  const byStep = groupByStep(events);
  const visits = numberedVisits(steps);
  const claimed = new Set<LoopEvent>();
  let falseClaims = 0;
  for (const { kind, at, afterAttempt, form, seenAtStep } of claims) {
    if (kind === "wall" && !wasBlocked(steps, afterAttempt - 1) && !wasBlocked(steps, afterAttempt)) falseClaims++;
    if (at === null || form !== "protocol") continue;
    if (kind === "deadEnd" && !isDeadEnd(maze, at)) falseClaims++;
    if (kind !== "loop") continue;
    const cell = inGrid(maze.size, at) ? cellIndex(maze.size, at) : -1;
    const before = byStep.get(moved[Math.min(afterAttempt, steps.length)] ?? -1) ?? [];
    const after = (byStep.get(afterAttempt) ?? []).filter(({ by }) => by === "rewind");
    const matching = [...before, ...after].filter((event) => event.cell === cell);
    const fresh = matching.find((event) => !claimed.has(event));
    if (fresh !== undefined) claimed.add(fresh);
    const isReferenceWrong = seenAtStep !== null && !visits.has(visitKey(seenAtStep, at));
    if (matching.length === 0 || isReferenceWrong) falseClaims++;
  }
  return { trueLoops: claimed.size, falseClaims };
}

/** Which cells the lines of each printed number start or end on. */
function numberedVisits(steps: readonly WalkStep[]): ReadonlySet<string> {
  const visits = new Set<string>();
  for (const { index, from, to, kind } of steps) {
    if (index === null || kind === "skipped" || kind === "afterExit") continue;
    for (const cell of [from, to]) if (cell !== null) visits.add(visitKey(index, cell));
  }
  return visits;
}

function visitKey(index: number, [row, col]: Cell): string {
  return `${index}:${row},${col}`;
}

function groupByStep(events: readonly LoopEvent[]): ReadonlyMap<number, readonly LoopEvent[]> {
  const groups = new Map<number, LoopEvent[]>();
  for (const event of events) {
    const group = groups.get(event.at);
    if (group === undefined) groups.set(event.at, [event]);
    else group.push(event);
  }
  return groups;
}

/** For each number of attempts, the position of the last one among them that moved the log; -1 where none did. */
function lastMoves(steps: readonly WalkStep[]): Int32Array {
  const moved = new Int32Array(steps.length + 1).fill(-1);
  for (const [at, { kind, relocation }] of steps.entries()) {
    moved[at + 1] = kind === "ok" || relocation !== null ? at : (moved[at] ?? -1);
  }
  return moved;
}

function isDeadEnd(maze: Maze, cell: Cell): boolean {
  const isExit = cell[0] === maze.size - 1 && cell[1] === maze.size - 1;
  return !isExit && openDirections(maze, cell).length === 1;
}

/** Looks at an attempt, or at the one that voided it where its line has several. */
function wasBlocked(steps: readonly WalkStep[], at: number): boolean {
  let tried = at;
  while (steps[tried]?.kind === "skipped") tried--;
  const kind = steps[tried]?.kind;
  return kind === "wall" || kind === "outOfGrid";
}
