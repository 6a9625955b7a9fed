import type { ChatResult, FailureOutcome } from "@hallumaze/engine";

/** What is recorded for a row that no reply came of. Nothing of its usage is known. */
export function rowFailure(outcome: FailureOutcome, message: string, turnaroundMs: number): ChatResult {
  return {
    kind: "failure",
    outcome,
    message,
    retryAfterMs: null,
    rawBody: null,
    servedModel: null,
    usage: { inputTokens: null, outputTokens: null, cachedTokens: null, reasoningTokens: null },
    httpMs: turnaroundMs,
    ttftMs: null,
    servedBy: null,
    nativeFinishReason: null,
    effectiveParams: {},
    limits: {},
    sideRequests: [],
    detail: null,
    park: null,
  };
}
