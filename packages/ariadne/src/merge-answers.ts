import { type Cell, type Maze, sameCell } from "@hallumaze/maze";
import { isNonAnswer, simulateWalk, type Walk } from "@hallumaze/metrics";
import type { Attempt, Reading } from "@hallumaze/protocol";

/** A reading and its walk: what a trial is scored on. */
export interface JudgedReading {
  readonly reading: Reading;
  readonly walk: Walk;
  /** How many of the walk's steps are each answer's, in the answers' order. */
  readonly stepsOf: readonly number[];
}

/**
 * Judges the answers of a conversation as one walk: the attempts of a later answer go on where the earlier ones stand, in
 * the same maze, with the same known cells. There is at least one answer.
 *
 * What was answered is the last answer's FINAL_PATH; a non-answer (empty, refused, without a walk) leaves it with the
 * answer before. A last answer with a log and no FINAL_PATH is solved by its own log or by the whole conversation's.
 */
export function judgeAnswers(
  maze: Maze,
  readings: readonly Reading[],
  options: { readonly mirage: boolean },
): JudgedReading {
  const walked = readings.filter((reading) => !isNonAnswer(reading));
  const decisive = walked.at(-1);
  if (decisive === undefined || walked.length === 1) {
    const reading = decisive ?? readings[0];
    if (reading === undefined) throw new RangeError("a conversation has at least one answer");
    const walk = simulateWalk(maze, reading, options);
    return { reading, walk, stepsOf: readings.map((one) => (one === reading ? walk.steps.length : 0)) };
  }
  const { counts, ...reading } = mergeReadings(walked, decisive);
  const stepsOf = readings.map((one) => counts.get(one) ?? 0);
  const walk = simulateWalk(maze, reading, options);
  // Where nobody wrote a log, the paths' moves are no log that could show FINAL_PATH.
  if (walked.every(isPathOnly)) return { reading, walk: { ...walk, source: "finalPath" }, stepsOf };
  if (walk.sr === 1 || decisive.finalPath !== null || decisive.gaveUp) return { reading, walk, stepsOf };
  const { sr, excessMoves, simplePath } = simulateWalk(maze, decisive, options);
  return { reading, walk: sr === 1 ? { ...walk, sr, excessMoves, simplePath } : walk, stepsOf };
}

/** The attempts of one answer: its log, or without one the pairs of FINAL_PATH; none for a non-answer. */
export function attemptsOfAnswer(reading: Reading): readonly Attempt[] {
  if (isNonAnswer(reading)) return [];
  return isPathOnly(reading) ? attemptsOfPath(reading.finalPath ?? []) : reading.attempts;
}

/** Puts attempts behind others; the numbers of their lines go on, those printed on them stay. */
export function appendAttempts(earlier: readonly Attempt[], later: readonly Attempt[]): readonly Attempt[] {
  const base = (earlier.at(-1)?.line ?? -1) + 1;
  return base === 0 ? later : [...earlier, ...later.map((attempt) => ({ ...attempt, line: base + attempt.line }))];
}

function isPathOnly(reading: Reading): boolean {
  return reading.attempts.length === 0;
}

/** Numbered from 1, so that a path from START is a new pass and no loop. */
function attemptsOfPath(path: readonly Cell[]): readonly Attempt[] {
  const pairs = path.flatMap((to, at): (readonly [Cell, Cell])[] => {
    const from = path[at - 1];
    return from === undefined || sameCell(from, to) ? [] : [[from, to]];
  });
  return pairs.map(([from, to], line) => ({
    index: line + 1,
    from,
    dir: null,
    to,
    confidence: null,
    confidenceText: null,
    flags: [],
    line,
    span: [0, 0],
  }));
}

function mergeReadings(
  walked: readonly Reading[],
  decisive: Reading,
): Reading & { readonly counts: ReadonlyMap<Reading, number> } {
  const counts = new Map<Reading, number>();
  let attempts: readonly Attempt[] = [];
  const claims: Reading["claims"][number][] = [];
  const hasLog = !walked.every(isPathOnly);
  for (const reading of walked) {
    const before = attempts.length;
    for (const claim of reading.claims) claims.push({ ...claim, afterAttempt: before + claim.afterAttempt });
    // Beside a log, the FINAL_PATH that counts is judged as one: as attempts it would prove itself.
    if (reading === decisive && isPathOnly(reading) && hasLog) continue;
    attempts = appendAttempts(attempts, attemptsOfAnswer(reading));
    counts.set(reading, attempts.length - before);
  }
  const reasoning = walked.flatMap((reading) => (reading.reasoning === null ? [] : [reading.reasoning]));
  return {
    counts,
    mode: decisive.mode,
    outcome: decisive.outcome,
    attempts,
    finalPath: decisive.finalPath,
    gaveUp: decisive.gaveUp,
    claims,
    flags: [...new Set(walked.flatMap(({ flags }) => flags))],
    // Whether a later answer's count is of itself or of the whole conversation, nobody says.
    selfReport: { backtracks: null, hallucinations: null },
    confidenceLog: walked.flatMap(({ confidenceLog }) => confidenceLog),
    templateEchoes: walked.reduce((sum, { templateEchoes }) => sum + templateEchoes, 0),
    reasoning: reasoning.length === 0 ? null : reasoning.join("\n"),
  };
}
