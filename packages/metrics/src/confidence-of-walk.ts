import { type ConfidenceSummary, type Judgement, summariseConfidence } from "./confidence.ts";
import { isJudged, type Walk, type WalkStep } from "./walk.ts";

/** What a confidence is about: that the move is legal, or that it is also on the way to EXIT. */
export type ConfidenceTarget = "legal" | "onRoute";

/** Which attempts count: all of them, or those at a real choice. */
export type ConfidenceScope = "all" | "decision";

/** The confidences of one walk, for each target and scope. */
export type WalkConfidence = Readonly<Record<ConfidenceTarget, Readonly<Record<ConfidenceScope, ConfidenceSummary>>>>;

/** The judgements of one walk, and how many attempts carried none. Concatenate the first and add the second to pool. */
export interface WalkJudgements {
  readonly judgements: readonly Judgement[];
  readonly missing: number;
}

/** Summarises a walk's confidences in all four ways. Numbers that need data are null where the walk has none. */
export function confidenceOfWalk(walk: Pick<Walk, "steps">): WalkConfidence {
  const summary = (target: ConfidenceTarget, scope: ConfidenceScope): ConfidenceSummary => {
    const { judgements, missing } = judgementsOfWalk(walk, target, scope);
    return summariseConfidence(judgements, missing);
  };
  return {
    legal: { all: summary("legal", "all"), decision: summary("legal", "decision") },
    onRoute: { all: summary("onRoute", "all"), decision: summary("onRoute", "decision") },
  };
}

/**
 * Takes the judgements out of a walk: attempts that were tried (not malformed, skipped or after EXIT), each line's
 * confidence once.
 *
 * SOURCE: spec section 6, CE and confidence.
 */
export function judgementsOfWalk(
  walk: Pick<Walk, "steps">,
  target: ConfidenceTarget,
  scope: ConfidenceScope,
): WalkJudgements {
  const judgements: Judgement[] = [];
  let missing = 0;
  for (const step of walk.steps) {
    if (!step.confidenceCounts || !isJudged(step) || (scope === "decision" && !step.isDecision)) continue;
    if (step.confidence === null) missing += 1;
    else judgements.push({ confidence: step.confidence, correct: isCorrect(step, target) });
  }
  return { judgements, missing };
}

/** Tells whether an attempt was right: a legal move without a teleport, and for `onRoute` one towards EXIT. */
export function isCorrect(step: WalkStep, target: ConfidenceTarget): boolean {
  const legal = step.kind === "ok" && step.relocation !== "teleport";
  return target === "legal" ? legal : legal && step.onRoute;
}
