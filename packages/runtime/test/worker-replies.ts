import type { ChatResult } from "@hallumaze/engine";

import type { WorkerTimes } from "../src/worker.ts";

/** Times of a worker whose every period fits into a test. */
export const shortTimes: WorkerTimes = {
  leaseMs: 3000,
  discoverEveryMs: 50,
  reconcileEveryMs: 200,
  callTimeoutMs: 20_000,
  archivePatienceMs: 20_000,
};

/** A reply of these words. */
export function reply(text: string, inputTokens: number | null = null): ChatResult {
  return {
    kind: "reply",
    text,
    rawBody: text,
    reasoning: null,
    finishReason: "stop",
    servedModel: null,
    usage: { inputTokens, outputTokens: null, cachedTokens: null, reasoningTokens: null },
    httpMs: 1,
    ttftMs: null,
  };
}

/** A server error. */
export function failure(message = "503"): ChatResult {
  return {
    kind: "failure",
    outcome: "transient_server",
    message,
    rawBody: message,
    retryAfterMs: 0,
    servedModel: null,
    usage: { inputTokens: null, outputTokens: null, cachedTokens: null, reasoningTokens: null },
    httpMs: 1,
    ttftMs: null,
  };
}
