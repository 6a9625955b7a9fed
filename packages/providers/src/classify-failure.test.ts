import { describe, expect, test } from "vitest";

import { ask, dialectOf, dialects, never, openFor } from "../test/dialects.ts";
import { type Answer, inTurn, say, startScriptedServer } from "../test/scripted-server.ts";

/** What one refusal becomes; the server counts. */
async function refuse(name: string, answer: Answer, changes = {}) {
  const dialect = dialectOf(name);
  await using server = await startScriptedServer(answer);
  await using providers = openFor(server.url);
  const result = await providers.complete(ask(dialect, server.url, changes), never);
  return { result, requests: server.seen.length };
}

const openAiError = (
  message: string,
  code: string | null,
  type = "invalid_request_error",
  param: string | null = null,
) => ({
  error: { message, type, code, param },
});
const claudeError = (type: string, message: string) => ({
  type: "error",
  error: { type, message },
  request_id: "req_1",
});
const googleError = (code: number, status: string, message: string, details: readonly unknown[] = []) => ({
  error: { code, status, message, details },
});
const quota = (quotaId: string) => ({
  "@type": "type.googleapis.com/google.rpc.QuotaFailure",
  violations: [{ quotaMetric: "generativelanguage.googleapis.com/requests", quotaId, quotaValue: "250" }],
});
const retryInfo = (retryDelay: string) => ({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay });

describe.each(dialects)("one request a try, and its outcome: $name", (dialect) => {
  test.each([
    [429, "rate_limited"],
    [500, "transient_server"],
    [502, "transient_server"],
    [503, "transient_server"],
    [529, "overloaded"],
    [401, "auth"],
    [413, "context_too_long"],
    [422, "bad_request"],
    [307, "bad_request"],
  ])("status %i is %s (T2, T9, T18)", async (status, outcome) => {
    const headers = status === 307 ? { location: "http://127.0.0.1:9/elsewhere" } : {};
    const { result, requests } = await refuse(dialect.name, say(status, dialect.error(status, "no"), headers));
    expect(result).toMatchObject({ kind: "failure", outcome });
    expect(requests).toBe(1);
  });

  test.each([
    ["nothing", ""],
    ["only filler", "\n\n: keep-alive\n\n"],
    ["a page", "<html><body>Welcome</body></html>"],
    ["half an object", '{"choices": ['],
    ["an object of another kind", '{"hello": "world"}'],
    ["null choices", '{"choices": null, "candidates": null, "content": null, "output": null}'],
  ])("status 200 with %s is unparseable_body, never an empty answer (T55, T58, T60)", async (_, body) => {
    const { result, requests } = await refuse(dialect.name, say(200, body));
    expect(result).toMatchObject({ kind: "failure", outcome: "unparseable_body" });
    expect(requests).toBe(1);
  });

  test.each([
    [{ error: { code: 429, message: "slow down" } }, "rate_limited"],
    [{ error: { code: 502, message: "bad gateway" } }, "transient_server"],
    [{ error: { code: "401", message: "who?" } }, "auth"],
    [{ error: "upstream is overloaded" }, "overloaded"],
    [{ error: { message: "odd" } }, "transient_server"],
  ])("an error inside a 200 counts before the status (T58): %o", async (body, outcome) => {
    const { result } = await refuse(dialect.name, say(200, body));
    expect(result).toMatchObject({ kind: "failure", outcome });
  });

  test("filler before a whole reply is ignored (T55)", async () => {
    const whole = JSON.stringify(dialect.reply("STEP 1"));
    const { result } = await refuse(dialect.name, say(200, `\n\n\r\n: keep-alive\n\n${whole}`));
    expect(result).toMatchObject({ kind: "reply", text: "STEP 1" });
  });
});

test.each([
  [
    "openai chat",
    429,
    openAiError("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
    null,
  ],
  ["openai chat", 429, openAiError("No credit", "credit_balance_exhausted"), null],
  [
    "anthropic",
    400,
    claudeError("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    null,
  ],
  ["anthropic", 402, claudeError("billing_error", "Add a card"), null],
  ["deepseek", 402, openAiError("Insufficient Balance", "invalid_request_error"), null],
  ["compatible server", 402, { error: { code: 402, message: "This request requires more credits" } }, null],
  [
    "openai chat",
    429,
    openAiError(
      "Rate limit reached on requests per day (RPD): Limit 200. Please try again in 7m12s.",
      "rate_limit_exceeded",
    ),
    432_000,
  ],
])("an account without credit or daily quota parks its lane: %s %i (T3)", async (name, status, body, resumeAfterMs) => {
  const { result, requests } = await refuse(name, say(status, body));
  expect(result).toMatchObject({ kind: "failure", outcome: "quota_exhausted", park: { resumeAfterMs } });
  expect(requests).toBe(1);
});

test("Google's daily quota lasts until midnight on the Pacific, whatever its RetryInfo says (T3)", async () => {
  const body = googleError(
    429,
    "RESOURCE_EXHAUSTED",
    "You exceeded your current quota, please check your plan and billing details.",
    [quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), retryInfo("21s")],
  );
  const { result } = await refuse("google", say(429, body));
  expect(result).toMatchObject({ outcome: "quota_exhausted" });
  const waitMs = result.kind === "failure" ? (result.park?.resumeAfterMs ?? 0) : 0;
  const there = new Date(Date.now() + waitMs).toLocaleTimeString("en-US", {
    timeZone: "America/Los_Angeles",
    hourCycle: "h23",
  });
  expect(there).toMatch(/^(00:00:0\d|23:59:5\d)$/);
});

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

test.each([
  ["anthropic", 404, claudeError("not_found_error", "model: claude-none")],
  [
    "openai chat",
    404,
    openAiError("The model `gpt-none` does not exist or you do not have access to it.", "model_not_found"),
  ],
  ["openai chat", 403, openAiError("Project does not have access to model gpt-x", "model_not_found")],
  ["google", 404, googleError(404, "NOT_FOUND", "models/gemini-none is not found for API version v1beta")],
  ["deepseek", 400, openAiError("Model Not Exist", "invalid_request_error")],
  ["compatible server", 400, { error: { code: 400, message: "x/y is not a valid model ID" } }],
  ["compatible server", 404, "404 page not found"],
])("an unknown model parks its lane: %s %i %o", async (name, status, body) => {
  const { result, requests } = await refuse(name, say(status, body));
  expect(result).toMatchObject({ outcome: "model_not_found", park: { resumeAfterMs: null } });
  expect(requests).toBe(1);
});

test.each([
  ["anthropic", 403, claudeError("permission_error", "Your key may not use this")],
  [
    "google",
    400,
    googleError(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
      { reason: "API_KEY_INVALID" },
    ]),
  ],
  ["google", 400, googleError(400, "FAILED_PRECONDITION", "User location is not supported for the API use.")],
  ["openai chat", 401, openAiError("Incorrect API key provided", "invalid_api_key")],
])("a refused key parks its lane: %s %i", async (name, status, body) => {
  const { result } = await refuse(name, say(status, body));
  expect(result).toMatchObject({ outcome: "auth", park: { resumeAfterMs: null } });
});

test.each([
  ["openai chat", 400, openAiError("This model's maximum context length is 8192 tokens.", "context_length_exceeded")],
  ["anthropic", 400, claudeError("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")],
  [
    "google",
    400,
    googleError(
      400,
      "INVALID_ARGUMENT",
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
  ],
])("a prompt that is too long is said so, never asked again: %s", async (name, status, body) => {
  expect((await refuse(name, say(status, body))).result).toMatchObject({ outcome: "context_too_long", park: null });
});

test.each([
  ["openai chat", 400, openAiError("The prompt was filtered", "content_filter"), "prompt:content_filter"],
  [
    "openai responses",
    400,
    openAiError("Invalid prompt: violates our usage policy", "invalid_prompt"),
    "prompt:invalid_prompt",
  ],
  ["deepseek", 400, openAiError("Content Exists Risk", "invalid_request_error"), "prompt:flagged"],
  [
    "compatible server",
    403,
    { error: { code: 403, message: "Your input was flagged by moderation" } },
    "prompt:flagged",
  ],
])("a filtered prompt is filtered, not a bad key or request: %s (T64)", async (name, status, body, detail) => {
  expect((await refuse(name, say(status, body))).result).toMatchObject({ outcome: "filtered", detail, park: null });
});

describe("one repair of a parameter that the model does not take (T51)", () => {
  const temperature = openAiError(
    "Unsupported value: 'temperature' does not support 0 with this model.",
    "unsupported_value",
    "invalid_request_error",
    "temperature",
  );
  const tokens = openAiError(
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "unsupported_parameter",
    "invalid_request_error",
    "max_tokens",
  );

  test("the parameter is left out, once, and both requests are recorded", async () => {
    const dialect = dialectOf("openai chat");
    await using server = await startScriptedServer(inTurn(say(400, temperature), say(200, dialect.reply("ok"))));
    await using providers = openFor(server.url);
    const result = await providers.complete(ask(dialect, server.url), never);
    expect(result).toMatchObject({ kind: "reply", effectiveParams: { max_completion_tokens: 2500 } });
    expect(result.effectiveParams).not.toHaveProperty("temperature");
    expect(result.sideRequests).toMatchObject([{ reason: "repair", rawBody: JSON.stringify(temperature) }]);
    expect(server.seen.map(({ body }) => body["temperature"])).toEqual([0, undefined]);
  });

  test("the token limit is sent under its other name", async () => {
    const dialect = dialectOf("compatible server");
    await using server = await startScriptedServer(inTurn(say(400, tokens), say(200, dialect.reply("ok"))));
    await using providers = openFor(server.url);
    await providers.complete(ask(dialect, server.url), never);
    expect(server.seen.map(({ body }) => [body["max_tokens"], body["max_completion_tokens"]])).toEqual([
      [2500, undefined],
      [undefined, 2500],
    ]);
  });

  test("a second refusal is bad_request with the parameter's name", async () => {
    const { result, requests } = await refuse("compatible server", inTurn(say(400, tokens), say(400, temperature)));
    expect(result).toMatchObject({ outcome: "bad_request", detail: "temperature", park: null });
    expect(requests).toBe(2);
  });

  test.each([
    [
      "anthropic",
      claudeError("invalid_request_error", "`temperature` is deprecated for this model."),
      {},
      "temperature",
    ],
    [
      "google",
      googleError(400, "INVALID_ARGUMENT", "Thinking budget is not supported for this model."),
      { params: { thinkingBudget: 512 } },
      "generationConfig.thinkingConfig.thinkingBudget",
    ],
    [
      "compatible server",
      { detail: [{ loc: ["body", "top_k"], msg: "Extra inputs are not permitted", type: "extra_forbidden" }] },
      { params: { top_k: 5 } },
      "top_k",
    ],
  ])("%s names it in its own way", async (name, body, changes, parameter) => {
    const dialect = dialectOf(name);
    await using server = await startScriptedServer(inTurn(say(400, body), say(200, dialect.reply("ok"))));
    await using providers = openFor(server.url);
    const result = await providers.complete(ask(dialect, server.url, changes), never);
    expect(result).toMatchObject({ kind: "reply", sideRequests: [{ reason: "repair" }] });
    expect(result.effectiveParams).not.toHaveProperty([parameter]);
  });

  test.each([
    [
      "a value that is too large",
      "anthropic",
      claudeError(
        "invalid_request_error",
        "max_tokens: 99999 > 64000, which is the maximum allowed number of output tokens",
      ),
      "max_tokens",
    ],
    [
      "a fault of the messages",
      "openai chat",
      openAiError("Invalid 'messages': empty array", "empty_array", "invalid_request_error", "messages"),
      "messages",
    ],
    [
      "a limit that must be there",
      "anthropic",
      claudeError("invalid_request_error", "max_tokens: this is not supported"),
      "max_tokens",
    ],
  ])("%s is not repaired", async (_, name, body, detail) => {
    const { result, requests } = await refuse(name, say(400, body));
    expect(result).toMatchObject({ outcome: "bad_request", detail });
    expect(requests).toBe(1);
  });
});
