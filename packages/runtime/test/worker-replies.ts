import type { ChatResult, LimiterPort } from "@hallumaze/engine";

import type { WorkerTimes } from "../src/worker.ts";

/** Times of a worker whose every period fits into a test. */
export const shortTimes: WorkerTimes = {
  leaseMs: 3000,
  discoverEveryMs: 50,
  reconcileEveryMs: 200,
  callTimeoutMs: 20_000,
  archivePatienceMs: 20_000,
};

const received = {
  servedModel: null,
  servedBy: null,
  nativeFinishReason: null,
  effectiveParams: {},
  limits: {},
  sideRequests: [],
  httpMs: 1,
  ttftMs: null,
} as const;

/** A limiter of lanes that nothing limits. */
export const noLimits: LimiterPort = {
  configure: async () => undefined,
  reserve: async () => ({ kind: "granted" }),
  settle: async () => undefined,
  cancel: async () => undefined,
  renew: async () => undefined,
  cool: async () => undefined,
  learn: async () => undefined,
  park: async () => true,
  resume: async () => false,
  use: async () => [],
  close: async () => undefined,
};

/** A reply of these words. */
export function reply(text: string, inputTokens: number | null = null): ChatResult {
  return {
    ...received,
    kind: "reply",
    text,
    rawBody: text,
    reasoning: null,
    finishReason: "stop",
    usage: { inputTokens, outputTokens: null, cachedTokens: null, reasoningTokens: null },
  };
}

/** A server error. */
export function failure(message = "503"): ChatResult {
  return {
    ...received,
    kind: "failure",
    outcome: "transient_server",
    message,
    rawBody: message,
    retryAfterMs: 0,
    detail: null,
    park: null,
    usage: { inputTokens: null, outputTokens: null, cachedTokens: null, reasoningTokens: null },
  };
}
