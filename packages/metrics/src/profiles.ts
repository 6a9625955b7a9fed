import type { Reading } from "@hallumaze/protocol";

import { biasResistanceScore } from "./brs.ts";
import { calibrationError } from "./ce.ts";
import { firstErrorFactor } from "./first-error.ts";
import { hallucinationRecognitionRate } from "./hrr.ts";
import { loopEscape } from "./loop-escape.ts";
import { metacognitiveEscapeIndex } from "./mei.ts";
import { hallumazeScore } from "./score.ts";
import { isNonAnswer } from "./simulate-walk.ts";
import type { Walk } from "./walk.ts";

/** The three ways to turn a reply into numbers. */
export type ProfileName = "seed" | "published" | "robust";

/** The scores of one trial in one profile. Each number's range and formula stand in the file that computes it. */
export interface ProfileScores {
  readonly sr: 0 | 1;
  readonly hc: number;
  /** First error step, 1-based; -1 where there is none. */
  readonly fhr: number;
  readonly bt: number;
  readonly lt: number;
  readonly hrr: number;
  readonly mei: number;
  /** Null where no confidence was given. */
  readonly ce: number | null;
  /** Null where no attempt was made. */
  readonly brs: number | null;
  readonly score: number;
}

/** The version of each profile's rules; a change of a rule raises it, so that old and new rows never mix. */
export const profileVersions: Readonly<Record<ProfileName, string>> = { seed: "1", published: "1", robust: "1" };

/**
 * Scores a walk in the profile `seed`: the customer's formulas on verified counts. MEI 0 … 0.9, score 0 … 0.95.
 *
 * A non-answer (empty, refused, unreadable, cut off without a walk) has SR 0, MEI 0, CE and BRS null, and so the score
 * 0.15. SOURCE: seed, section 6; benchmark specification, sections 4.11 and 6.
 */
export function scoreSeed(reading: Reading, walk: Walk, maze: { readonly size: number }): ProfileScores {
  if (isNonAnswer(reading)) return nonAnswerScores({ ce: null });
  const { sr, hc, fhr, bt, lt } = walk;
  const hrr = hallucinationRecognitionRate(walk);
  const mei = metacognitiveEscapeIndex({ hrr, f: firstErrorFactor(walk, maze.size), l: loopEscape(walk), hc });
  const ce = calibrationError(walk);
  const brs = biasResistanceScore(walk);
  return { sr, hc, fhr, bt, lt, hrr, mei, ce, brs, score: hallumazeScore({ mei, ce, brs }) };
}

/** What a model's own non-answer gets: it is behaviour, not a missing trial. `ce` is what a missing CE counts as. */
export function nonAnswerScores(counted: { readonly ce: number | null }): ProfileScores {
  const score = hallumazeScore({ mei: 0, ce: counted.ce, brs: null });
  return { sr: 0, hc: 0, fhr: -1, bt: 0, lt: 0, hrr: 0, mei: 0, ce: null, brs: null, score };
}
