import { describe, expect, it } from "vitest";

import { admitRequest, settleRequest } from "./pace-request.ts";
import type { LimiterPort, ReservationAnswer } from "./ports/limiter.ts";
import type { ChatResult } from "./ports/provider.ts";

const request = { id: "trial~1", inputTokens: 900, outputTokens: 300, tenant: "night", weight: 1 };
const never = new AbortController().signal;

/** A limiter that answers reservations in this order and notes every call by name. */
function scripted(answers: readonly ReservationAnswer[] = [], isNewPark = true) {
  const calls: unknown[][] = [];
  const left = [...answers];
  const note =
    <Answer>(name: string, answer: Answer) =>
    async (...words: unknown[]): Promise<Answer> => {
      calls.push([name, ...words.slice(1)]);
      return answer;
    };
  const limiter: LimiterPort = {
    configure: note("configure", undefined),
    reserve: async (lane, asked) => {
      calls.push(["reserve", lane, asked.id]);
      return left.shift() ?? { kind: "granted" };
    },
    settle: note("settle", undefined),
    cancel: note("cancel", undefined),
    renew: note("renew", undefined),
    cool: note("cool", undefined),
    learn: note("learn", undefined),
    park: note("park", isNewPark),
    resume: note("resume", true),
    use: note("use", []),
    close: async () => undefined,
  };
  return { limiter, calls };
}

function admit(answers: readonly ReservationAnswer[], signal: AbortSignal = never) {
  let nowMs = 0;
  const { limiter, calls } = scripted(answers);
  const sleep = async (ms: number, stop: AbortSignal) => {
    stop.throwIfAborted();
    nowMs += ms;
  };
  const ports = { limiter, now: () => nowMs, sleep, patienceMs: 10_000 };
  return admitRequest(ports, "openai.gpt-4o", request, signal).then((admission) => ({ admission, calls }));
}

const wait = (afterMs: number, binding: "rpm" | "parked" = "rpm") => ({ kind: "wait", afterMs, binding }) as const;

describe("a request before it is sent", () => {
  it("waits for a short while in its slot, under one id, and tells how long", async () => {
    const { admission, calls } = await admit([wait(1200.4), wait(10_000), { kind: "granted" }]);
    expect(admission).toEqual({ kind: "admitted", limiterMs: 11_201 });
    expect(calls).toEqual(Array.from({ length: 3 }, () => ["reserve", "openai.gpt-4o", "trial~1"]));
  });

  it("gives its slot back for a long wait, and learns of a parked lane and of a request that never fits", async () => {
    expect((await admit([wait(10_001)])).admission).toEqual({ kind: "later", afterMs: 10_001 });
    expect((await admit([wait(5, "parked")])).admission).toEqual({ kind: "parked" });
    const tooLarge = { kind: "never", binding: "inputTpm", message: "900 of 500 a minute" } as const;
    expect((await admit([tooLarge])).admission).toEqual({ kind: "never", message: "900 of 500 a minute" });
  });

  it("is given up when the worker drains while it waits", async () => {
    expect((await admit([wait(50)], AbortSignal.abort())).admission).toEqual({ kind: "interrupted" });
  });
});

const usage = { inputTokens: 812, outputTokens: 40, cachedTokens: null, reasoningTokens: null };
const received = {
  rawBody: "",
  servedModel: null,
  servedBy: null,
  nativeFinishReason: null,
  effectiveParams: {},
  limits: {},
  sideRequests: [],
  httpMs: 1,
  ttftMs: null,
  usage,
} as const;
const failed = (
  outcome: "rate_limited" | "overloaded" | "auth" | "timeout",
  retryAfterMs: number | null,
): ChatResult => ({
  ...received,
  kind: "failure",
  outcome,
  message: "m",
  retryAfterMs,
  detail: null,
  park: outcome === "auth" ? { reason: "auth: m", resumeAfterMs: null } : null,
});

describe("a request that ended", () => {
  const used = ["settle", "trial~1", { inputTokens: 812, outputTokens: 40 }];
  const park = ["park", "auth: m", null];
  it.each<[title: string, result: ChatResult, calls: unknown[][]]>([
    [
      "a reply: settled with what it took, and its headers are learned",
      {
        ...received,
        kind: "reply",
        text: "",
        reasoning: null,
        finishReason: "stop",
        limits: { requests: { limit: 60, remaining: 3, resetMs: 900 } },
      },
      [used, ["learn", { requests: { limit: 60, remaining: 3, resetMs: 900 } }]],
    ],
    [
      "a 429: given back, and the lane rests and shrinks",
      failed("rate_limited", 2000),
      [
        ["cancel", "trial~1"],
        ["cool", 2000, true],
      ],
    ],
    [
      "a 429 without a time: the lane rests for our own",
      failed("rate_limited", null),
      [
        ["cancel", "trial~1"],
        ["cool", 750, true],
      ],
    ],
    ["an overload: the lane rests and keeps its limits", failed("overloaded", null), [used, ["cool", 750, false]]],
    ["a wrong key: the lane is parked", failed("auth", null), [used, park]],
    ["a timeout: nothing but its settlement", failed("timeout", null), [used]],
  ])("%s", async (_, result, expected) => {
    const { limiter, calls } = scripted();
    const reason = await settleRequest(limiter, "openai.gpt-4o", "trial~1", result, 750);
    expect(calls).toEqual(expected);
    expect(reason).toBe(expected.at(-1) === park ? "auth: m" : null);
  });

  it("says nothing of a lane that another had parked", async () => {
    const { limiter } = scripted([], false);
    expect(await settleRequest(limiter, "openai.gpt-4o", "trial~1", failed("auth", null), 750)).toBeNull();
  });
});
