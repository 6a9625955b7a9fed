import type { ReadingView, ReadLineView, StepMark, WalkStepView, WalkView } from "@hallumaze/contract";
import { exitCell, type Maze, sameCell } from "@hallumaze/maze";
import { isIllegal, type Walk, type WalkStep } from "@hallumaze/metrics";
import type { Reading } from "@hallumaze/protocol";

/** A conversation as it was read: the merged reading, its walk, and how many of the walk's steps each reply gave. */
export interface ReadWalk {
  readonly maze: Maze;
  readonly reading: Reading;
  readonly walk: Walk;
  readonly stepsOf: readonly number[];
}

/** What was read, each line with its place in its reply and its steps in the walk. */
export function viewReading(read: ReadWalk): ReadingView {
  const { reading } = read;
  const { outcome, flags, finalPath, gaveUp, claims, selfReport } = reading;
  return {
    outcome,
    flags: [...flags],
    lines: linesOf(read),
    finalPath: finalPath === null ? null : [...finalPath],
    gaveUp,
    claims: claims.map(({ kind, at, seenAtStep, form, afterAttempt }) => ({
      kind,
      at,
      seenAtStep,
      form,
      afterStep: afterAttempt,
    })),
    selfReport: { ...selfReport },
  };
}

/** The verified walk, step by step, with what is to be seen at each. */
export function viewWalk(read: ReadWalk): WalkView {
  const { walk, maze, stepsOf } = read;
  const marks = markSteps(walk, maze, stepsOf);
  const lineOf = lineNumbers(linesOf(read), walk.steps.length);
  return {
    source: walk.source,
    steps: walk.steps.map((step, at): WalkStepView => {
      const { kind, relocation, index, from, to, dir, confidence, confidenceCounts } = step;
      const line = lineOf[at] ?? null;
      return { kind, relocation, index, from, to, dir, confidence, confidenceCounts, line, marks: marks[at] ?? [] };
    }),
    counts: countsOf(walk),
  };
}

function countsOf(walk: Walk): WalkView["counts"] {
  const { sr, hc, wallAttempts, outOfGridAttempts, teleports, finalPathErrors, throughWalls, rewinds, jumpBacks } =
    walk;
  const { contradictions, passes, fhr, bt, prematureBacktracks, lt, loopEvents, falseClaims } = walk;
  const { trapsFaced, trapsTaken, mirageResistance, solutionMovesReached, excessMoves } = walk;
  return {
    sr,
    hc,
    wallAttempts,
    outOfGridAttempts,
    teleports,
    finalPathErrors,
    throughWalls,
    rewinds,
    jumpBacks,
    contradictions,
    passes,
    fhr,
    bt,
    prematureBacktracks,
    lt,
    loopEvents,
    falseClaims,
    trapsFaced,
    trapsTaken,
    mirageResistance,
    solutionMovesReached,
    excessMoves,
  };
}

/** The lines that gave the steps; none where the moves are FINAL_PATH's, which stand on no line of their own. */
function linesOf({ reading, walk, stepsOf }: ReadWalk): ReadLineView[] {
  const lines: ReadLineView[] = [];
  if (walk.source !== "log") return lines;
  let at = 0;
  let lastLine = -1;
  for (const [reply, count] of stepsOf.entries()) {
    for (const end = at + count; at < end; at++) {
      const attempt = reading.attempts[at];
      if (attempt === undefined) return lines;
      const [start, stop] = attempt.span;
      // An answer that has only a FINAL_PATH in a conversation with a log: its moves stand on no line.
      if (stop === 0) continue;
      const line = lines.at(-1);
      if (line !== undefined && attempt.line === lastLine && line.span.reply === reply) {
        line.steps = [line.steps[0], at];
        for (const flag of attempt.flags) if (!line.flags.includes(flag)) line.flags.push(flag);
        continue;
      }
      lastLine = attempt.line;
      const { index, confidence, confidenceText, flags } = attempt;
      const span = { reply, start, end: stop };
      lines.push({ span, index, confidence, confidenceText, flags: [...flags], steps: [at, at] });
    }
  }
  return lines;
}

function lineNumbers(lines: readonly ReadLineView[], steps: number): readonly (number | null)[] {
  const numbers = Array.from({ length: steps }, (): number | null => null);
  for (const [line, { steps: own }] of lines.entries()) {
    for (let at = own[0]; at <= own[1]; at++) numbers[at] = line;
  }
  return numbers;
}

function markSteps(walk: Walk, maze: Maze, stepsOf: readonly number[]): readonly StepMark[][] {
  const exit = exitCell(maze.size);
  const marks = walk.steps.map((step) => marksOf(step));
  const add = (at: number | null, mark: StepMark): void => {
    if (at !== null) marks[at]?.push(mark);
  };
  const first = walk.steps.findIndex(isIllegal);
  if (first >= 0) add(first, "firstError");
  for (const { at, deadEndAt } of walk.branchEntries) {
    add(at, "branch");
    add(deadEndAt, "deadEnd");
  }
  let begin = 0;
  for (const [reply, count] of stepsOf.entries()) {
    if (reply > 0 && count > 0) add(begin, "hint");
    begin += count;
  }
  const out = walk.steps.findIndex(({ kind, grounded, to }) => {
    return kind === "ok" && grounded && to !== null && sameCell(to, exit);
  });
  if (out >= 0) add(out, "escape");
  return marks;
}

function marksOf(step: WalkStep): StepMark[] {
  const { kind, onRoute, isDecision, retreat, repeatsEdge, trap, beginsPass, contradiction, grounded } = step;
  const marks: StepMark[] = [];
  if (onRoute && kind === "ok") marks.push("onRoute");
  if (isDecision) marks.push("decision");
  if (isIllegal(step)) marks.push("illegal");
  if (retreat !== null) marks.push("retreat");
  if (retreat === "counted") marks.push("backtrack");
  if (repeatsEdge) marks.push("loop");
  if (trap !== null) marks.push("trapFaced");
  if (trap === "taken") marks.push("trapTaken");
  if (beginsPass) marks.push("pass");
  if (contradiction) marks.push("contradiction");
  if (!grounded) marks.push("ungrounded");
  return marks;
}
