import {
  type Cell,
  cellIndex,
  type DecodedMaze,
  type Direction,
  isOpen,
  openDirections,
  sameCell,
  step,
} from "@hallumaze/maze";

/** Why a line of the log was written; the words stand in `write-log.ts`. */
export type Reason =
  | "open"
  | "onlyWay"
  | "newBranch"
  | "retreat"
  | "hint"
  | "guess"
  | "certain"
  | "wallMet"
  | "rethink";

/** One line of a log. Confidence is in whole per cent. */
export type LogLine =
  | {
      readonly kind: "step";
      readonly number: number;
      readonly from: Cell;
      readonly dir: Direction;
      readonly confidence: number;
      readonly reason: Reason;
    }
  | { readonly kind: "deadEnd"; readonly at: Cell }
  | { readonly kind: "loop"; readonly at: Cell; readonly seenAtStep: number }
  | { readonly kind: "strategyChange"; readonly reason: Reason };

/** A whole answer before it is put into words. */
export interface Log {
  readonly lines: readonly LogLine[];
  readonly backtracks: number;
  readonly hallucinations: number;
  /** Null where the solver gives up. */
  readonly finalPath: readonly Cell[] | null;
}

/** A log in the making: where the walker stands, what it wrote so far. */
export interface Journal {
  readonly maze: DecodedMaze;
  readonly lines: LogLine[];
  /** The cells walked, START first; a rewind cuts it back. */
  trail: Cell[];
  steps: number;
  backtracks: number;
  hallucinations: number;
  /** Row-major position of a cell → the step that first arrived there (0 for START). */
  readonly firstSeen: Map<number, number>;
}

/** An empty log with the walker on START. */
export function openJournal(maze: DecodedMaze): Journal {
  return { maze, lines: [], trail: [[0, 0]], steps: 0, backtracks: 0, hallucinations: 0, firstSeen: new Map([[0, 0]]) };
}

/** Where the walker stands. */
export function standing({ trail }: Journal): Cell {
  return trail.at(-1) ?? [0, 0];
}

/** Tells whether the walker stands on EXIT. */
export function hasEscaped(journal: Journal): boolean {
  const last = journal.maze.size - 1;
  return sameCell(standing(journal), [last, last]);
}

/** Writes a step over an open edge and goes there. */
export function move(journal: Journal, dir: Direction, confidence: number, reason: Reason): void {
  const to = step(standing(journal), dir);
  writeStep(journal, dir, confidence, reason);
  journal.trail.push(to);
  const index = cellIndex(journal.maze.size, to);
  if (!journal.firstSeen.has(index)) journal.firstSeen.set(index, journal.steps);
}

/** Writes a step into a wall; the walker stays and owns up to it. */
export function bump(journal: Journal, dir: Direction, confidence: number): void {
  writeStep(journal, dir, confidence, "wallMet");
  journal.hallucinations += 1;
}

/** Writes a step through a wall and believes to be on the far side. */
export function passWall(journal: Journal, dir: Direction, confidence: number): void {
  const to = step(standing(journal), dir);
  writeStep(journal, dir, confidence, "certain");
  journal.trail.push(to);
}

/** Owns up to the dead end that the walker stands on. */
export function admitDeadEnd(journal: Journal): void {
  journal.lines.push({ kind: "deadEnd", at: standing(journal) });
  journal.backtracks += 1;
}

/** Owns up to having been here before. */
export function admitLoop(journal: Journal): void {
  const at = standing(journal);
  const seenAtStep = journal.firstSeen.get(cellIndex(journal.maze.size, at)) ?? 0;
  journal.lines.push({ kind: "loop", at, seenAtStep });
}

/** Announces another way of searching. */
export function changeStrategy(journal: Journal): void {
  journal.lines.push({ kind: "strategyChange", reason: "rethink" });
}

/** Goes back along the trail to its cell number `length - 1`, without a step: the next line simply starts there. */
export function rewind(journal: Journal, length: number): void {
  journal.trail.length = length;
}

/** Closes the log: the trail without its detours is the final path, if it ends on EXIT; else the solver gives up. */
export function closeJournal(journal: Journal): Log {
  const { lines, backtracks, hallucinations } = journal;
  return { lines, backtracks, hallucinations, finalPath: hasEscaped(journal) ? withoutDetours(journal) : null };
}

/** The directions in which a wall or the grid's edge is next to the walker, in the order N, E, S, W. */
export function closedDirections({ maze }: Journal, cell: Cell): readonly Direction[] {
  return (["N", "E", "S", "W"] as const).filter((dir) => !isOpen(maze, cell, dir));
}

/** Tells whether the walker stands on a dead end: one opening, START excluded. */
export function standsOnDeadEnd(journal: Journal): boolean {
  const cell = standing(journal);
  return openDirections(journal.maze, cell).length === 1 && !sameCell(cell, [0, 0]) && !hasEscaped(journal);
}

function writeStep(journal: Journal, dir: Direction, confidence: number, reason: Reason): void {
  journal.steps += 1;
  journal.lines.push({ kind: "step", number: journal.steps, from: standing(journal), dir, confidence, reason });
}

function withoutDetours({ maze, trail }: Journal): readonly Cell[] {
  const path: Cell[] = [];
  const placeOf = new Map<number, number>();
  for (const cell of trail) {
    const index = cellIndex(maze.size, cell);
    const known = placeOf.get(index);
    if (known === undefined) {
      placeOf.set(index, path.length);
      path.push(cell);
    } else {
      for (const dropped of path.splice(known + 1)) placeOf.delete(cellIndex(maze.size, dropped));
    }
  }
  return path;
}
