import type { Maze } from "@hallumaze/maze";
import type { Attempt, Reading } from "@hallumaze/protocol";

import { judgeClaims } from "./claims.ts";
import { attemptsOfPath, escapes, findPathErrors, pathEdges } from "./final-path.ts";
import { isIllegal, isJudged, type Relocation, type Walk, type WalkStep } from "./walk.ts";
import { type StepDraft, startWalker, takeAttempt, type Walker } from "./walker.ts";

/** What the walk needs to know beside maze and reading. */
export interface WalkOptions {
  /** True where the maze's text carried the tempting hints; without them there are no traps. Default true. */
  readonly mirage?: boolean;
}

/**
 * Walks a reply's attempts through its maze from START and counts what happened. The reply's words change nothing but
 * `lt`, `falseClaims` and the self-report gaps.
 *
 * Without a log the pairs of FINAL_PATH are the attempts; an empty or refused reply has none. Pure, deterministic, linear
 * in attempts plus cells; never throws. SOURCE: benchmark specification, section 5.
 */
export function simulateWalk(maze: Maze, reading: Reading, options: WalkOptions = {}): Walk {
  const { source, attempts } = attemptsOf(reading);
  const walker = startWalker(maze, { mirage: options.mirage ?? true, isPath: source === "finalPath" });
  const steps = attempts.map((attempt, at) => takeAttempt(walker, attempt, at));
  settleConfidence(steps, attempts);
  const errors = countErrors(maze, reading, source, steps, walker);
  const { backtracks, premature } = walker.backtracks.counts();
  const traps = walker.traps.counts();
  const claims = judgeClaims(maze, reading.claims, steps, walker.events);
  return {
    steps,
    source,
    ...errors,
    ...acceptedPath(maze, reading, source, steps, walker),
    throughWalls: countRelocations(steps, "throughWall"),
    rewinds: countRelocations(steps, "rewind"),
    jumpBacks: countRelocations(steps, "jumpBack"),
    contradictions: steps.filter(({ contradiction }) => contradiction).length,
    passes: walker.passes,
    bt: backtracks,
    prematureBacktracks: premature,
    lt: claims.trueLoops,
    falseClaims: claims.falseClaims,
    loopEvents: walker.loops.events(),
    branchEntries: walker.branches.entries(),
    trapsFaced: traps.faced,
    trapsTaken: traps.taken,
    mirageResistance: traps.faced === 0 ? null : 1 - traps.taken / traps.faced,
    solutionMovesReached: walker.solutionMovesReached,
    selfReportGaps: {
      backtracks: gap(reading.selfReport.backtracks, backtracks),
      hallucinations: gap(reading.selfReport.hallucinations, errors.hc),
    },
  };
}

function attemptsOf(reading: Reading): { readonly source: Walk["source"]; readonly attempts: readonly Attempt[] } {
  if (isNonAnswer(reading)) return { source: null, attempts: [] };
  if (reading.attempts.length > 0) return { source: "log", attempts: reading.attempts };
  return { source: "finalPath", attempts: attemptsOfPath(reading.finalPath ?? []) };
}

/**
 * Tells whether a reply holds no walk: empty or refused, or without one readable attempt or path (unreadable, cut off
 * before the first, an explicit give-up at once). SOURCE: benchmark specification, section 4.11.
 */
export function isNonAnswer({ outcome, attempts, finalPath, gaveUp }: Reading): boolean {
  if (outcome === "empty" || outcome === "refused") return true;
  return attempts.length === 0 && (gaveUp || finalPath === null);
}

/** Lets each line's confidence count once: on its illegal attempt, which the confidence was wrong about, or on its first. */
function settleConfidence(steps: readonly StepDraft[], attempts: readonly Attempt[]): void {
  let carrier: StepDraft | null = null;
  let carrierLine = -1;
  for (const [at, step] of steps.entries()) {
    if (!isJudged(step)) continue;
    const line = attempts[at]?.line ?? at;
    if (carrier !== null && line === carrierLine) {
      if (!isIllegal(step)) continue;
      carrier.confidenceCounts = false;
    }
    step.confidenceCounts = true;
    carrier = step;
    carrierLine = line;
  }
}

type Errors = Pick<Walk, "hc" | "wallAttempts" | "outOfGridAttempts" | "teleports" | "finalPathErrors" | "fhr">;

function countErrors(
  maze: Maze,
  reading: Reading,
  source: Walk["source"],
  steps: readonly WalkStep[],
  walker: Walker,
): Errors {
  const wallAttempts = steps.filter(({ kind }) => kind === "wall").length;
  const outOfGridAttempts = steps.filter(({ kind }) => kind === "outOfGrid").length;
  const teleports = countRelocations(steps, "teleport");
  const path = source === "log" ? (reading.finalPath ?? []) : [];
  const pathErrors = findPathErrors(maze, path, walker.tried);
  const first = steps.findIndex(isIllegal) + 1;
  const attemptsMade = steps.filter(({ kind }) => kind !== "afterExit").length;
  const fhr = first > 0 ? first : pathErrors.count > 0 ? attemptsMade + pathErrors.firstEdge : -1;
  return {
    hc: wallAttempts + outOfGridAttempts + teleports + pathErrors.count,
    wallAttempts,
    outOfGridAttempts,
    teleports,
    finalPathErrors: pathErrors.count,
    fhr: Math.min(fhr, maze.size * maze.size),
  };
}

/** SR and the shape of what was accepted: FINAL_PATH, or without one a log that got out without an illegal attempt. */
function acceptedPath(
  maze: Maze,
  reading: Reading,
  source: Walk["source"],
  steps: readonly WalkStep[],
  walker: Walker,
): Pick<Walk, "sr" | "excessMoves" | "simplePath"> {
  const shortest = maze.solution.length - 1;
  const { finalPath } = reading;
  if (source === null || reading.gaveUp) return { sr: 0, excessMoves: null, simplePath: null };
  if (finalPath !== null) {
    if (!escapes(maze, finalPath)) return { sr: 0, excessMoves: null, simplePath: null };
    const excessMoves = pathEdges(finalPath).length - shortest;
    return { sr: 1, excessMoves, simplePath: excessMoves === 0 };
  }
  const isClean = steps.every((step) => !isIllegal(step) && step.relocation !== "throughWall");
  if (!walker.hasEscaped || !isClean) return { sr: 0, excessMoves: null, simplePath: null };
  const excessMoves = walker.movesWalked - shortest;
  return { sr: 1, excessMoves, simplePath: excessMoves === 0 };
}

function countRelocations(steps: readonly WalkStep[], wanted: Relocation): number {
  return steps.filter(({ relocation }) => relocation === wanted).length;
}

function gap(reported: number | null, counted: number): number | null {
  return reported === null ? null : reported - counted;
}
