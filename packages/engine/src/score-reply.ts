import { type AriadneRecord, type ConversationSetting, readConversation } from "@hallumaze/ariadne";
import { profileVersions, summariseWalk } from "@hallumaze/metrics";
import { type FinishReason, readerVersion, type Reading, type ReadingMode } from "@hallumaze/protocol";
import type { CellPlan } from "@hallumaze/sweep";

import { analyseReply, analyseWalk, type ReplyAnalysis } from "./analyse-reply.ts";
import type { ScoredTrial } from "./ports/store.ts";
import { conversationOf, mazeOf } from "./prepare-trial.ts";

/** A reply as it was stored. */
export interface AnsweredTurn {
  readonly text: string;
  readonly finishReason: FinishReason | null;
}

/** Scores a single reply of a plan, as `scoreConversation` does. */
export function scoreReply(plan: CellPlan, text: string, finishReason: FinishReason | null): ScoredTrial {
  return scoreConversation(plan, [{ text, finishReason }], { shadow: false });
}

/**
 * Scores a plan's stored conversation: all three profiles on the strict reading, what a lenient reading would change, and
 * what became of hints. Group A's result is its first answer; a second one is its shadow, kept apart. `shadow` tells
 * whether group A's triggered trials get one in this sweep.
 */
export function scoreConversation(
  plan: CellPlan,
  replies: readonly AnsweredTurn[],
  { shadow }: { readonly shadow: boolean },
): ScoredTrial {
  const setting = conversationOf(plan, mazeOf(plan), shadow);
  const analyse = (mode: ReadingMode): Analysis => analyseTurns(setting, replies, mode);
  const strict = analyse("strict");
  const lenient = beginsRight(strict) ? strict : analyse("lenient");
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
      ...(strict.ariadne === null ? {} : { ariadne: strict.ariadne }),
    }),
    profiles: {
      seed: { version: profileVersions.seed, scores: seed },
      published: { version: profileVersions.published, scores: published },
      robust: { version: profileVersions.robust, scores: robust },
    },
  };
}

type Analysis = ReplyAnalysis & { readonly ariadne: AriadneRecord | null };

function analyseTurns(setting: ConversationSetting, replies: readonly AnsweredTurn[], mode: ReadingMode): Analysis {
  const { maze, mirage, confidenceAsked } = setting;
  const { text, finishReason } = replies[0] ?? { text: "", finishReason: null };
  // A plain one-shot answer is read once only.
  if (setting.group === "A" && !setting.shadow) {
    return { ...analyseReply(maze, text, { mirage, confidenceAsked, finishReason, mode }), ariadne: null };
  }
  const { reading, walk, record } = readConversation(setting, replies, mode);
  // The published rules read one text: group A's first answer, else the answer that stands last.
  const read = setting.group === "A" ? text : (replies.at(-1)?.text ?? text);
  return { ...analyseWalk(maze, { reading, walk, text: read, confidenceAsked }), ariadne: record };
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
