import type { Clock } from "@hallumaze/foundation";

import type { FailureOutcome } from "./outcomes.ts";
import type { LimiterPort, ReservationRequest } from "./ports/limiter.ts";
import type { ChatResult } from "./ports/provider.ts";

/** What pacing needs from outside. */
export interface PacePorts {
  readonly limiter: LimiterPort;
  readonly now: Clock;
  /** Waits; rejects when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Longest wait that is spent in the slot; a longer one gives the slot back. */
  readonly patienceMs: number;
}

/** Whether a request may go out now. */
export type Admission =
  | { readonly kind: "admitted"; readonly limiterMs: number }
  | { readonly kind: "later"; readonly afterMs: number }
  | { readonly kind: "parked" }
  | { readonly kind: "never"; readonly message: string }
  | { readonly kind: "interrupted" };

/**
 * Reserves a lane's limits for one request. Short waits are spent here, in the lane's own slot; a long one is given back
 * as `later`, holding nothing, so that it never blocks another lane.
 */
export async function admitRequest(
  ports: PacePorts,
  lane: string,
  request: ReservationRequest,
  signal: AbortSignal,
): Promise<Admission> {
  const startedMs = ports.now();
  for (;;) {
    const answer = await ports.limiter.reserve(lane, request);
    if (answer.kind === "granted") return { kind: "admitted", limiterMs: ports.now() - startedMs };
    if (answer.kind === "never") return { kind: "never", message: answer.message };
    if (answer.binding === "parked") return { kind: "parked" };
    if (answer.afterMs > ports.patienceMs) return { kind: "later", afterMs: answer.afterMs };
    try {
      await ports.sleep(Math.max(1, Math.ceil(answer.afterMs)), signal);
    } catch {
      return { kind: "interrupted" };
    }
  }
}

/** Failures that a vendor tells by a status, before any output. */
const refusals: ReadonlySet<FailureOutcome> = new Set<FailureOutcome>([
  "overloaded",
  "transient_server",
  "quota_exhausted",
  "auth",
  "model_not_found",
  "bad_request",
  "context_too_long",
]);

/**
 * Settles a reservation with what the request really took, and takes over what the reply tells of the limits: headers,
 * a 429 (the lane rests and its limits shrink), an overload (it rests), a lost credit or key (it is parked).
 *
 * Gives the reason where this call parked the lane; null otherwise.
 */
export async function settleRequest(
  limiter: LimiterPort,
  lane: string,
  id: string,
  result: ChatResult,
  restMs: number,
): Promise<string | null> {
  // What a 429 turned away has taken nothing from the vendor's bucket.
  if (result.kind === "failure" && result.outcome === "rate_limited") await limiter.cancel(lane, id);
  else {
    const { inputTokens, outputTokens } = result.limitUsage ?? result.usage;
    // A refusal in the head of a reply has no output; whether its input counted is not told, so the estimate stands.
    const said = outputTokens ?? (result.kind === "failure" && refusals.has(result.outcome) ? 0 : null);
    await limiter.settle(lane, id, { inputTokens, outputTokens: said });
  }
  if (Object.keys(result.limits).length > 0) await limiter.learn(lane, result.limits);
  if (result.kind === "reply") return null;
  if (result.park !== null) {
    const isNew = await limiter.park(lane, result.park.reason, result.park.resumeAfterMs);
    return isNew ? result.park.reason : null;
  }
  if (result.outcome === "rate_limited") await limiter.cool(lane, result.retryAfterMs ?? restMs, true);
  if (result.outcome === "overloaded") await limiter.cool(lane, result.retryAfterMs ?? restMs, false);
  return null;
}
