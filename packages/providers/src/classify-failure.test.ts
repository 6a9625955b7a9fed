import { describe, expect, test } from "vitest";

import { dialects } from "../test/dialects.ts";
import { claudeError, googleError, openAiError, quota, refuse, retryInfo } from "../test/refusals.ts";
import { say } from "../test/scripted-server.ts";

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

test.each([
  [
    "a request larger than a minute's limit",
    429,
    openAiError(
      "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 41000.",
      "rate_limit_exceeded",
    ),
    "context_too_long",
  ],
  [
    "an aggregator's daily limit",
    429,
    {
      error: {
        code: 429,
        message: "Rate limit exceeded: free-models-per-day",
        metadata: { headers: { "X-RateLimit-Reset": "4102444800000" } },
      },
    },
    "quota_exhausted",
  ],
  [
    "an error of a 200 that names only a code",
    200,
    { error: { code: "context_length_exceeded", message: "long" } },
    "context_too_long",
  ],
  [
    "an error of a 200 that says it in words",
    200,
    { error: { message: "Rate limit reached for requests" } },
    "rate_limited",
  ],
  ["a bare message", 429, { message: "Requests rate limit exceeded" }, "rate_limited"],
  [
    "a validator's context message",
    400,
    {
      object: "error",
      message: "This model's maximum context length is 4096 tokens.",
      type: "BadRequestError",
      code: 400,
    },
    "context_too_long",
  ],
  ["a body that names another status than HTTP's", 500, { error: { code: 429, message: "upstream" } }, "rate_limited"],
  ["an overload behind a 500", 500, claudeError("overloaded_error", "Overloaded"), "overloaded"],
  [
    "a spent month",
    400,
    claudeError(
      "invalid_request_error",
      "You have reached your specified API usage limits. You will regain access on 2099-12-01 at 00:00 UTC.",
    ),
    "quota_exhausted",
  ],
  ["a page of a gateway", 502, "<html><h1>502 Bad Gateway</h1></html>", "transient_server"],
  ["a client closed too early", 499, {}, "transient_server"],
])("%s (%i)", async (_, status, body, outcome) => {
  const { result, requests } = await refuse("compatible server", say(status, body));
  expect(result).toMatchObject({ kind: "failure", outcome });
  expect(requests).toBe(1);
});
