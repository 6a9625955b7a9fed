import { expect, test } from "vitest";

import { dialectOf } from "../test/dialects.ts";
import { googleError, quota, refuse, retryInfo } from "../test/refusals.ts";
import { say } from "../test/scripted-server.ts";

test.each([
  ["retry-after in seconds (T1)", "openai chat", { "retry-after": "2" }, "", 2000],
  ["half an hour is told, not slept (T6)", "anthropic", { "retry-after": "1800" }, "", 1_800_000],
  ["milliseconds before seconds", "openai chat", { "retry-after-ms": "350", "retry-after": "9" }, "", 350],
  [
    "a date, by the server's clock",
    "deepseek",
    { date: "Sun, 29 Nov 2026 10:00:00 GMT", "retry-after": "Sun, 29 Nov 2026 10:00:30 GMT" },
    "",
    30_000,
  ],
  ["words in the message", "openai chat", {}, "Rate limit reached. Please try again in 6.5s.", 6500],
  ["words with units written out", "compatible server", {}, "please retry after 20 milliseconds", 20],
  ["nothing said", "openai chat", {}, "slow down", null],
  ["rubbish", "openai chat", { "retry-after": "soon" }, "", null],
  [
    "the reset of the limit that is used up (T8)",
    "anthropic",
    {
      date: "Sun, 29 Nov 2026 10:00:00 GMT",
      "anthropic-ratelimit-requests-remaining": "49",
      "anthropic-ratelimit-requests-reset": "2026-11-29T10:00:59Z",
      "anthropic-ratelimit-output-tokens-remaining": "0",
      "anthropic-ratelimit-output-tokens-reset": "2026-11-29T10:00:20Z",
    },
    "",
    20_000,
  ],
  [
    "a reset as a duration (T8)",
    "openai chat",
    {
      "x-ratelimit-remaining-requests": "9",
      "x-ratelimit-reset-requests": "6m0s",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "20s",
    },
    "",
    20_000,
  ],
  [
    "resets of limits that are not used up say nothing (T8)",
    "openai chat",
    { "x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "6m0s" },
    "",
    null,
  ],
])("how long to wait: %s", async (_, name, headers, message, retryAfterMs) => {
  const startedMs = performance.now();
  const { result, requests } = await refuse(name, say(429, dialectOf(name).error(429, message), headers));
  expect(result).toMatchObject({ kind: "failure", outcome: "rate_limited", retryAfterMs, park: null });
  expect(requests).toBe(1);
  expect(performance.now() - startedMs).toBeLessThan(2000);
});

test("Google's wait stands in the body (T5)", async () => {
  const body = googleError(
    429,
    "RESOURCE_EXHAUSTED",
    "You exceeded your current quota, please check your plan and billing details.",
    [quota("GenerateRequestsPerMinutePerProjectPerModel"), retryInfo("38s")],
  );
  const { result } = await refuse("google", say(429, body));
  expect(result).toMatchObject({ outcome: "rate_limited", retryAfterMs: 38_000, park: null });
});

test("headers tell the lane's limits on success too", async () => {
  const headers = {
    "x-ratelimit-limit-requests": "500",
    "x-ratelimit-remaining-requests": "499",
    "x-ratelimit-reset-requests": "120ms",
    "x-ratelimit-limit-tokens": "30000",
    "x-ratelimit-remaining-tokens": "29000",
  };
  const { result } = await refuse("openai chat", say(200, dialectOf("openai chat").reply("ok"), headers));
  expect(result.limits).toEqual({
    requests: { limit: 500, remaining: 499, resetMs: 120 },
    tokens: { limit: 30_000, remaining: 29_000, resetMs: null },
  });
});
