import type { Maze } from "@hallumaze/maze";
import type { Reading } from "@hallumaze/protocol";

import { biasResistanceScore } from "./brs.ts";
import { calibrationError } from "./ce.ts";
import { edgeKey, pathEdges } from "./final-path.ts";
import { tenthsOfMei } from "./mei.ts";
import { nonAnswerScores, type ProfileScores } from "./profiles.ts";
import { hallumazeScore } from "./score.ts";
import { isNonAnswer } from "./simulate-walk.ts";
import { type BranchEntry, isIllegal, type Walk, type WalkStep } from "./walk.ts";

/** What the robust profile needs to know beside maze, reading and walk. */
export interface RobustOptions {
  /** True where the prompt asked for confidences: giving none then counts as CE = 1 in the score. */
  readonly confidenceAsked: boolean;
}

/**
 * Scores a walk in the profile `robust`, which can neither be talked up nor bumped up: `hrr` and `mei` are HRR_r and
 * MEI_r, and the score is Score_r. Both 0 … 1, better when higher.
 *
 * With W = size, the errors of a trial are its illegal attempts, its entries into wrong branches, each started W attempts
 * on directed edges used before, and SR = 0. u counts those that were not recognised; D sums min(1, latency/W), an
 * unrecognised one counting 1; v is the share of FINAL_PATH that the log shows; E is 1 where SR = 1, else the squared
 * share of the solution that was reached. HRR_r = v/(1+u), F_r = v/(1+D), L_r = SR, and
 * MEI_r = clamp01((0.4·HRR_r + 0.3·F_r + 0.2·L_r - 0.1·min(1, HC/10)) / 0.9)·E.
 *
 * SOURCE: benchmark specification, section 6.
 */
export function scoreRobust(maze: Maze, reading: Reading, walk: Walk, options: RobustOptions): ProfileScores {
  if (isNonAnswer(reading)) return nonAnswerScores({ ce: options.confidenceAsked ? 1 : null });
  const { sr, hc, fhr, bt, lt } = walk;
  const { unrecognised, delay } = weighErrors(walk, maze.size);
  const shown = shownShare(reading, walk);
  const hrr = shown / (1 + unrecognised);
  const weighed = tenthsOfMei({ hrr, f: shown / (1 + delay), l: sr, hc }) / 9;
  const mei = Math.max(0, Math.min(1, weighed)) * reachedShare(maze, walk);
  const ce = calibrationError(walk);
  const brs = biasResistanceScore(walk);
  const isSilent = ce === null && options.confidenceAsked;
  return { sr, hc, fhr, bt, lt, hrr, mei, ce, brs, score: hallumazeScore({ mei, ce: isSilent ? 1 : ce, brs }) };
}

/** The errors of a trial as the robust profile weighs them. */
export interface ErrorWeight {
  /** u: errors that were not recognised within the window; a count >= 0. */
  readonly unrecognised: number;
  /** D: sum of min(1, latency/W), an unrecognised error counting 1; >= `unrecognised`. */
  readonly delay: number;
}

/** Weighs a walk's errors with the window W = `size`. SOURCE: benchmark specification, section 6, robust. */
export function weighErrors(walk: Walk, size: number): ErrorWeight {
  const latencies = [
    ...walk.steps.flatMap((step, at) => (isIllegal(step) ? [recognitionLatency(walk.steps, at, size)] : [])),
    ...walk.branchEntries.map((entry) => turnLatency(entry, size)),
  ];
  const recognised = latencies.filter((latency) => latency !== null);
  const repeats = walk.steps.filter(({ repeatsEdge }) => repeatsEdge).length;
  const unrecognised = latencies.length - recognised.length + Math.ceil(repeats / size) + (1 - walk.sr);
  const delay = recognised.reduce((sum, latency) => sum + Math.min(1, latency / size), 0);
  return { unrecognised, delay: unrecognised + delay };
}

/**
 * Attempts from an illegal one to the first legal move from a legally reached cell, such as the one where the walker stood;
 * null where there is none within the window. A legal move from a cell that the log only claims recognises nothing.
 */
function recognitionLatency(steps: readonly WalkStep[], at: number, window: number): number | null {
  for (let latency = 1; latency <= window; latency++) {
    const step = steps[at + latency];
    if (step === undefined) return null;
    if (step.kind === "ok" && step.grounded) return latency;
  }
  return null;
}

/** Attempts from the entry into a wrong branch to the first turn; null where it was not recognised. */
function turnLatency({ deadEndAt, turnAt, revisit, latency }: BranchEntry, window: number): number | null {
  if (revisit || turnAt === null) return null;
  return deadEndAt !== null && turnAt > deadEndAt + window ? null : latency;
}

/** v of the robust profile: the share of FINAL_PATH's edges that the log walked, in either direction; 0 … 1. */
export function shownShare(reading: Reading, walk: Walk): number {
  if (walk.source !== "log") return 0;
  if (walk.sr === 0 || reading.finalPath === null) return 1;
  const walked = new Set<string>();
  for (const { kind, grounded, from, to } of walk.steps) {
    if (kind !== "ok" || !grounded || from === null || to === null) continue;
    walked.add(edgeKey(from, to)).add(edgeKey(to, from));
  }
  const edges = pathEdges(reading.finalPath);
  return edges.filter(([from, to]) => walked.has(edgeKey(from, to))).length / edges.length;
}

/** E of the robust profile: 1 for an escape, else the squared share of the solution's moves that legal moves reached; 0 … 1. */
export function reachedShare(maze: Maze, { sr, solutionMovesReached }: Walk): number {
  return sr === 1 ? 1 : (solutionMovesReached / (maze.solution.length - 1)) ** 2;
}
