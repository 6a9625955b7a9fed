import { type Cell, cellIndex, type Direction, inGrid, type Maze, sameCell } from "@hallumaze/maze";
import type { Attempt } from "@hallumaze/protocol";

import { type BacktrackCounter, countBacktracks } from "./backtracks.ts";
import { type BranchWatch, type TrapWatch, watchBranches, watchTraps } from "./branches.ts";
import type { LoopEvent } from "./claims.ts";
import { edgeKey } from "./final-path.ts";
import { type LoopWatch, watchLoops } from "./loops.ts";
import { isOnWayTo, type MazeTree, mazeTree } from "./maze-tree.ts";
import { classifyRelocation, judgeStep, readMove, type Standing } from "./relocation.ts";
import type { MoveKind, Relocation, WalkStep } from "./walk.ts";

/** The state of a walk between two attempts, with the counters that watch it. */
export interface Walker extends Standing {
  readonly maze: Maze;
  readonly tree: MazeTree;
  /** True where every pair that is no neighbour is a teleport: in FINAL_PATH nothing is a retreat. */
  readonly isPath: boolean;
  readonly visited: Uint8Array;
  readonly backtracks: BacktrackCounter;
  readonly loops: LoopWatch;
  readonly branches: BranchWatch;
  readonly traps: TrapWatch;
  readonly events: LoopEvent[];
  /** Keys of the illegal edges that the log tried. */
  readonly tried: Set<string>;
  cell: number;
  position: Cell;
  farSide: Cell | null;
  hasEscaped: boolean;
  /** The line whose further moves are skipped. */
  blockedLine: number | null;
  firstIndex: number | null;
  lastIndex: number | null;
  passes: number;
  /** Legal moves and moves of rewinds. */
  movesWalked: number;
  solutionMovesReached: number;
  /** What the attempt under way has done so far. */
  retreat: WalkStep["retreat"];
  trap: WalkStep["trap"];
}

/** A step that is still being written. */
export type StepDraft = { -readonly [Field in keyof WalkStep]: WalkStep[Field] };

/** Puts a walker on START. */
export function startWalker(maze: Maze, options: { readonly mirage: boolean; readonly isPath: boolean }): Walker {
  const tree = mazeTree(maze);
  const visited = new Uint8Array(maze.size * maze.size);
  visited[0] = 1;
  return {
    maze,
    tree,
    isPath: options.isPath,
    visited,
    backtracks: countBacktracks(tree),
    loops: watchLoops(tree),
    branches: watchBranches(tree),
    traps: watchTraps(maze, options),
    events: [],
    tried: new Set(),
    cell: 0,
    position: [0, 0],
    farSide: null,
    hasEscaped: false,
    blockedLine: null,
    firstIndex: null,
    lastIndex: null,
    passes: 1,
    movesWalked: 0,
    solutionMovesReached: 0,
    retreat: null,
    trap: null,
  };
}

/**
 * Takes one attempt (number `at`, 0-based) and says what it was. Which line of a walk carries its confidence is not known
 * yet: `confidenceCounts` is false.
 */
export function takeAttempt(walker: Walker, attempt: Attempt, at: number): StepDraft {
  walker.retreat = null;
  walker.trap = null;
  if (walker.hasEscaped) return inertStep(walker, attempt, "afterExit", false);
  if (attempt.line === walker.blockedLine) return inertStep(walker, attempt, "skipped", false);
  const claimed = attempt.from ?? walker.position;
  const restarts = isRestart(walker, attempt.index, claimed);
  const move = readMove(claimed, attempt);
  if (move.move === "unreadable") return inertStep(walker, attempt, "malformed", move.contradiction);

  const relocation = relocate(walker, claimed, at, restarts);
  if (restarts) startPass(walker);
  const step = inertStep(walker, attempt, "malformed", false);
  step.relocation = relocation;
  if (move.move === "jump") {
    const jump = relocate(walker, move.target, at, false);
    if (jump === "teleport") walker.blockedLine = attempt.line;
    step.relocation = worse(relocation, jump);
    step.dir = null;
  } else tryStep(walker, step, move.dir, move.target, at, attempt.line);
  step.to = shownPosition(walker);
  step.retreat = walker.retreat;
  step.trap = walker.trap;
  step.beginsPass = restarts;
  return step;
}

/** Tries a single step from where the log stands and notes on `step` what came of it. */
function tryStep(walker: Walker, step: StepDraft, dir: Direction, target: Cell, at: number, line: number): void {
  const { maze, tree, position } = walker;
  step.dir = dir;
  step.kind = judgeStep(maze, position, dir);
  if (step.kind === "malformed") return landOn(walker, target, at);
  const from = cellIndex(maze.size, position);
  step.from = position;
  step.isDecision = (tree.onward[from] ?? 0) > 1;
  step.onRoute = tree.route[from] === dir;
  if (step.kind === "ok") step.repeatsEdge = goTo(walker, dir, target, at);
  else bump(walker, dir, target, line);
}

/** A step that changes nothing. The literal names every field: copying objects took most of a walk's time. */
function inertStep(walker: Walker, attempt: Attempt, kind: MoveKind, contradiction: boolean): StepDraft {
  return {
    kind,
    relocation: null,
    from: null,
    to: shownPosition(walker),
    dir: attempt.dir,
    grounded: isGrounded(walker),
    confidence: attempt.confidence,
    confidenceCounts: false,
    isDecision: false,
    onRoute: false,
    index: attempt.index,
    contradiction,
    repeatsEdge: false,
    retreat: null,
    trap: null,
    beginsPass: false,
  };
}

/** Notes a line's number; true where the numbering begins again, and does so at START. */
function isRestart(walker: Walker, index: number | null, claimed: Cell): boolean {
  if (index === null) return false;
  const { lastIndex } = walker;
  walker.firstIndex ??= index;
  walker.lastIndex = index;
  return lastIndex !== null && index < lastIndex && index <= walker.firstIndex && sameCell(claimed, [0, 0]);
}

function startPass(walker: Walker): void {
  walker.passes++;
  walker.loops.newPass();
}

/** Brings the log, and on known ground the walker, to a cell that a line claims. */
function relocate(walker: Walker, claimed: Cell, at: number, restarts: boolean): Relocation | null {
  const found = classifyRelocation(walker.tree, walker, walker.visited, claimed);
  const isFarJump = walker.isPath && found !== null && found !== "throughWall";
  const relocation = isFarJump ? "teleport" : found;
  if (relocation === "teleport") walker.tried.add(edgeKey(walker.position, claimed));
  if (relocation === "rewind") rewind(walker, cellIndex(walker.maze.size, claimed), at, restarts);
  else if (relocation === "jumpBack") stand(walker, cellIndex(walker.maze.size, claimed), at, true);
  else if (relocation !== null) landOn(walker, claimed, at);
  if (!sameCell(walker.position, claimed) || relocation !== null) walker.farSide = null;
  walker.position = claimed;
  return relocation;
}

function rewind(walker: Walker, target: number, at: number, restarts: boolean): void {
  const { tree, cell } = walker;
  // The way back to START between two passes belongs to neither.
  const repeatsEdge = !restarts && walker.loops.rewind(cell, target);
  if (repeatsEdge) walker.events.push({ at, by: "rewind", cell: target });
  // A log that went astray comes back with this line: what lies before it is no backtrack.
  if (isGrounded(walker)) goBack(walker, cell, target);
  else walker.backtracks.goOn();
  walker.movesWalked += (tree.depths[cell] ?? 0) - (tree.depths[target] ?? 0);
  walker.cell = target;
  walker.branches.stand(at, target, true);
}

/** Follows the log onto a cell that no legal move led to; on a known one the walker stands with it again. */
function landOn(walker: Walker, target: Cell, at: number): void {
  walker.position = target;
  walker.farSide = null;
  if (!inGrid(walker.maze.size, target)) return;
  const cell = cellIndex(walker.maze.size, target);
  if (walker.visited[cell] !== 1) return;
  // Known ground is reached as by a rewind or a jump: else an added wall attempt, which turns those into `throughWall`,
  // could hide the repeats that follow or a turn.
  if (isOnWayTo(walker.tree, cell, walker.cell)) walker.loops.passThrough(walker.cell, cell);
  stand(walker, cell, at, true);
}

function stand(walker: Walker, cell: number, at: number, isTurn: boolean): void {
  walker.cell = cell;
  walker.backtracks.goOn();
  walker.branches.stand(at, cell, isTurn);
}

/** Makes a legal move; true where its directed edge had been used before. */
function goTo(walker: Walker, dir: Direction, target: Cell, at: number): boolean {
  const { tree, visited } = walker;
  const from = cellIndex(tree.size, walker.position);
  const to = cellIndex(tree.size, target);
  const repeatsEdge = walker.loops.move(from, to);
  if (repeatsEdge) walker.events.push({ at, by: "move", cell: to });
  if (!isGrounded(walker)) {
    landOn(walker, target, at);
    return repeatsEdge;
  }
  const isUpwards = tree.parents[from] === to;
  if (visited[to] !== 1) discover(walker, to);
  if (isUpwards) goBack(walker, from, to);
  else walker.backtracks.goOn();
  walker.trap = walker.traps.attempt(from, dir, true);
  walker.branches.stand(at, to, isUpwards);
  walker.movesWalked++;
  walker.cell = to;
  walker.position = target;
  walker.farSide = null;
  walker.hasEscaped = to === tree.exit;
  return repeatsEdge;
}

function goBack(walker: Walker, from: number, to: number): void {
  const isCounted = walker.backtracks.retreat(from, to);
  walker.retreat = isCounted || walker.retreat === "counted" ? "counted" : "back";
}

function discover(walker: Walker, cell: number): void {
  walker.visited[cell] = 1;
  walker.backtracks.discover(cell);
  walker.solutionMovesReached = Math.max(walker.solutionMovesReached, walker.tree.positions[cell] ?? 0);
}

/** Tries a wall or the grid's edge: nobody moves, and the rest of the line is void. */
function bump(walker: Walker, dir: Direction, target: Cell, line: number): void {
  if (isGrounded(walker)) walker.trap = walker.traps.attempt(walker.cell, dir, false);
  walker.tried.add(edgeKey(walker.position, target));
  walker.farSide = target;
  walker.blockedLine = line;
}

function isGrounded({ maze, cell, position }: Walker): boolean {
  return inGrid(maze.size, position) && cellIndex(maze.size, position) === cell;
}

function shownPosition({ maze, position }: Walker): Cell | null {
  return inGrid(maze.size, position) ? position : null;
}

const severity: readonly (Relocation | null)[] = [null, "rewind", "jumpBack", "throughWall", "teleport"];

function worse(one: Relocation | null, other: Relocation | null): Relocation | null {
  return severity.indexOf(one) >= severity.indexOf(other) ? one : other;
}
