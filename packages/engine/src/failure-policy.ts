import type { FailureOutcome } from "./outcomes.ts";
import type { Claim, UnansweredEnd } from "./ports/store.ts";

/** Bounds of the one retry owner. All times in milliseconds. */
export interface RetryPolicy {
  /** First back-off; doubles with each try spent. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** How many 429 waits a trial may take; they spend no try. */
  readonly maxWaits: number;
}

/** The policy that ships. */
export const defaultRetryPolicy: RetryPolicy = { baseDelayMs: 1000, maxDelayMs: 60_000, maxWaits: 60 };

/** Failures that the same request can only repeat. */
const finalOutcomes: ReadonlySet<FailureOutcome> = new Set<FailureOutcome>([
  "bad_request",
  "context_too_long",
  "filtered",
  "prompt_truncated",
  "auth",
  "model_not_found",
  "quota_exhausted",
  "cancelled",
  "budget_blocked",
]);

/**
 * Decides what becomes of a trial whose try failed: again later, or failed for good.
 *
 * A wait that the provider asks for comes first; otherwise the back-off is exponential with full jitter. `fraction`
 * is a random number in [0, 1). SOURCE: spec/sweeps.md section 5; AWS Architecture Blog, "Exponential Backoff And
 * Jitter" (full jitter).
 */
export function decideFailure(
  failure: {
    readonly outcome: FailureOutcome;
    readonly message: string;
    readonly retryAfterMs: number | null;
    readonly park?: unknown;
  },
  claim: Pick<Claim, "tries" | "waits" | "maxTries">,
  policy: RetryPolicy,
  fraction: number,
): UnansweredEnd {
  const { outcome, message } = failure;
  if (failure.park) return { kind: "blocked", outcome, message };
  if (finalOutcomes.has(outcome)) return { kind: "failed", outcome, message };
  if (outcome === "rate_limited" && claim.maxTries > 1) {
    if (claim.waits >= policy.maxWaits) return { kind: "failed", outcome, message };
    return {
      kind: "retry",
      outcome,
      message,
      spends: "wait",
      afterMs: waitMs(failure.retryAfterMs, claim.waits, policy, fraction),
    };
  }
  if (claim.tries + 1 >= claim.maxTries) return { kind: "failed", outcome, message };
  return {
    kind: "retry",
    outcome,
    message,
    spends: "try",
    afterMs: waitMs(failure.retryAfterMs, claim.tries, policy, fraction),
  };
}

/** Decides whether an empty reply is asked for once more; null where the empty reply is the result. */
export function decideEmpty(
  claim: Pick<Claim, "emptyRetries" | "maxEmptyRetries" | "waits">,
  policy: RetryPolicy,
  fraction: number,
): UnansweredEnd | null {
  if (claim.emptyRetries >= claim.maxEmptyRetries) return null;
  const afterMs = waitMs(null, claim.emptyRetries, policy, fraction);
  return { kind: "retry", outcome: "empty", message: "the reply was empty", spends: "empty", afterMs };
}

function waitMs(retryAfterMs: number | null, spent: number, policy: RetryPolicy, fraction: number): number {
  const ceilingMs = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** Math.min(spent, 20));
  const jitterMs = Math.round(ceilingMs * fraction);
  // Never earlier than the provider asks; the jitter on top keeps many trials from returning in one instant.
  return retryAfterMs === null ? jitterMs : Math.ceil(retryAfterMs) + Math.round(Math.min(ceilingMs, 1000) * fraction);
}
