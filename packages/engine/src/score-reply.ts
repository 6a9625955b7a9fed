import { profileVersions, summariseWalk } from "@hallumaze/metrics";
import { type FinishReason, readerVersion, type Reading } from "@hallumaze/protocol";
import type { CellPlan } from "@hallumaze/sweep";

import { analyseReply, type ReplyAnalysis } from "./analyse-reply.ts";
import type { ScoredTrial } from "./ports/store.ts";
import { mazeOf } from "./prepare-trial.ts";

/** Scores a stored reply of a plan: all three profiles on the strict reading, and what a lenient reading would change. */
export function scoreReply(plan: CellPlan, text: string, finishReason: FinishReason | null): ScoredTrial {
  const maze = mazeOf(plan);
  const conditions = { mirage: plan.mirage, confidenceAsked: plan.confidence, finishReason };
  const strict = analyseReply(maze, text, { ...conditions, mode: "strict" });
  const lenient = beginsRight(strict) ? strict : analyseReply(maze, text, { ...conditions, mode: "lenient" });
  const { seed, published, robust } = strict.profiles;
  return {
    outcome: strict.reading.outcome,
    readerVersion,
    readingJson: JSON.stringify({
      ...summary(strict),
      lenient: isRepaired(lenient.reading) ? { ...summary(lenient), profiles: lenient.profiles } : null,
      formatSensitivity: {
        sr: lenient.profiles.seed.sr - seed.sr,
        meiSeed: lenient.profiles.seed.mei - seed.mei,
        meiRobust: lenient.profiles.robust.mei - robust.mei,
      },
    }),
    profiles: {
      seed: { version: profileVersions.seed, scores: seed },
      published: { version: profileVersions.published, scores: published },
      robust: { version: profileVersions.robust, scores: robust },
    },
  };
}

/**
 * A lenient reading differs only where the log as written goes wrong at its start; most logs do not, and reading is the
 * dearest part of a score.
 */
function beginsRight({ reading, walk }: ReplyAnalysis): boolean {
  if (!reading.attempts.some(({ from }) => from !== null)) return walk.sr === 1;
  const first = walk.steps.slice(0, 2);
  return first.length === 2 && first.every(({ kind, relocation }) => kind === "ok" && relocation === null);
}

function isRepaired(reading: Reading): boolean {
  return reading.flags.some((flag) => flag === "indexShifted" || flag === "transposed" || flag === "simulatedMoveList");
}

/** What is kept of a reading beside the scores; the attempts themselves come back from the stored reply at any time. */
function summary(analysis: ReplyAnalysis) {
  const { reading, walk, confidence, patterns } = analysis;
  return {
    outcome: reading.outcome,
    flags: reading.flags,
    attempts: reading.attempts.length,
    attemptsWithConfidence: reading.attempts.filter((attempt) => attempt.confidence !== null).length,
    finalPathCells: reading.finalPath?.length ?? null,
    gaveUp: reading.gaveUp,
    claims: reading.claims.map(({ kind, at, seenAtStep }) => ({ kind, at, seenAtStep })),
    selfReport: reading.selfReport,
    templateEchoes: reading.templateEchoes,
    confidenceLog: reading.attempts.flatMap(({ index, confidence: stated }, at) =>
      stated === null ? [] : [{ step: index ?? at + 1, confidence: stated }],
    ),
    walk: summariseWalk(walk),
    confidence,
    patterns,
  };
}
