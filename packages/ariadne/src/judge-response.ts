import type { ReadingOutcome } from "@hallumaze/protocol";

import type { FollowedAnswer, FollowedAttempt } from "./follow-answers.ts";

/** How an answer responded to the turn before it. */
export interface HintResponse {
  /** (W-L+1)/W with W = N, in (0, 1]; 0 where nothing came within the window; null where a technical cut censors it. */
  readonly score: number | null;
  /** L: attempts that cost window until the response, itself included, 1 … W; null where there was none. */
  readonly latency: number | null;
  /** True where the answer was cut off before any response and before the window was used up. */
  readonly censored: boolean;
}

/**
 * Judges what an answer made of the turn before it: behaviour, never words. The response is its first legal attempt into a
 * cell new to the conversation, or into EXIT. Retracing known cells costs no window until a directed edge is repeated
 * within the answer; every other attempt costs one, unreadable moves included.
 *
 * Better when higher. A refusal or an empty answer scores 0: that is the model's own doing. SOURCE: benchmark
 * specification, section 7.
 */
export function judgeResponse(
  answer: FollowedAnswer,
  { outcome, size }: { readonly outcome: ReadingOutcome; readonly size: number },
): HintResponse {
  let latency = 1;
  for (const attempt of answer.attempts) {
    if (latency > size) break;
    if (attempt.discovers) return { score: (size - latency + 1) / size, latency, censored: false };
    if (!retraces(attempt)) latency++;
  }
  const censored = latency <= size && isTechnicalCut(outcome);
  return { score: censored ? null : 0, latency: null, censored };
}

function retraces({ step, usesNewEdge, repeatsRewind }: FollowedAttempt): boolean {
  return step.kind === "ok" && step.grounded && usesNewEdge && !repeatsRewind;
}

function isTechnicalCut(outcome: ReadingOutcome): boolean {
  return outcome === "truncated" || outcome === "truncated_in_reasoning" || outcome === "filtered";
}
