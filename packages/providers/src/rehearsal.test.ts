import type { ChatRequest, ChatResult, FailureOutcome } from "@hallumaze/engine";
import {
  type FailureKind,
  type MockProvidersOptions,
  type RetryAfterForm,
  type Rule,
  startMockProviders,
} from "@hallumaze/mock-providers";
import { describe, expect, test } from "vitest";

import { never } from "../test/dialects.ts";
import { openProviders } from "./open-providers.ts";

const models = {
  anthropic: { provider: "anthropic", model: "claude-haiku-4-5-20251001" },
  "openai chat": { provider: "openai", model: "gpt-4o" },
  "openai responses": { provider: "openai", model: "o1-pro" },
  google: { provider: "google", model: "gemini-2.5-flash" },
  deepseek: { provider: "deepseek", model: "deepseek-flash" },
  compatible: { provider: "openai", model: "llama3.1:70b" },
} as const;
type ModelName = keyof typeof models;
const names = Object.keys(models) as readonly ModelName[];

/** Calls the rehearsal server so many times; gives the results and how many requests it counted. */
async function rehearse(
  name: ModelName,
  rules: readonly Rule[],
  changes: Partial<ChatRequest> = {},
  options: MockProvidersOptions = {},
  times = 1,
) {
  await using mock = await startMockProviders({ ...options, script: rules });
  const providers = openProviders({ variables: mock.environment(), deadlines: { headerMs: 4000, idleMs: 400 } });
  const request: ChatRequest = {
    ...models[name],
    baseUrl: name === "compatible" ? mock.urls.compatibleBaseUrl : null,
    keyEnv: null,
    system: "You walk mazes.",
    messages: [{ role: "user", content: "Find the exit." }],
    maxTokens: 2500,
    temperature: 0,
    params: {},
    repeat: 0,
    ...changes,
  };
  const results: ChatResult[] = [];
  for (let time = 0; time < times; time++) results.push(await providers.complete(request, never));
  await providers.close();
  return { results, last: results.at(-1), requests: mock.counts().requests };
}

describe.each(names)("against the rehearsal server: %s", (name) => {
  test.each<[FailureKind, FailureOutcome]>([
    ["rate_limited", "rate_limited"],
    ["quota_exhausted", "quota_exhausted"],
    ["daily_quota", "quota_exhausted"],
    ["overloaded", "overloaded"],
    ["server_error", "transient_server"],
    ["bad_gateway", "transient_server"],
    ["gateway_timeout", "transient_server"],
    ["auth", "auth"],
    ["model_not_found", "model_not_found"],
    ["bad_request", "bad_request"],
    ["context_too_long", "context_too_long"],
    ["payload_too_large", "context_too_long"],
  ])("%s in the vendor's words is %s, after one request", async (kind, outcome) => {
    const { last, requests } = await rehearse(name, [{ fail: kind }]);
    expect(last).toMatchObject({ kind: "failure", outcome });
    expect(requests).toBe(1);
  });

  test.each<FailureKind>(["auth", "forbidden", "model_not_found", "quota_exhausted", "daily_quota"])(
    "%s parks the lane",
    async (kind) => {
      const { last } = await rehearse(name, [{ fail: kind }]);
      expect(last).toMatchObject({ kind: "failure", park: { reason: expect.any(String) } });
    },
  );

  const waitsInBody = ["openai chat", "openai responses", "google", "compatible"].includes(name);
  test.each<RetryAfterForm>(["seconds", "milliseconds", "date", ...(waitsInBody ? (["body"] as const) : [])])(
    "a wait told as %s is understood",
    async (form) => {
      const { last } = await rehearse(name, [
        { fail: { kind: "rate_limited", retryAfterMs: 38_000, retryAfterForm: form } },
      ]);
      expect(last).toMatchObject({ outcome: "rate_limited" });
      const waitMs = last?.kind === "failure" ? (last.retryAfterMs ?? 0) : 0;
      // Dates are told in whole seconds.
      expect(waitMs).toBeGreaterThanOrEqual(37_000);
      expect(waitMs).toBeLessThanOrEqual(39_000);
    },
  );

  test("a parameter that the model refuses is repaired once", async () => {
    const rule: Rule = { nth: 1, fail: { kind: "unsupported_parameter", param: "seed" } };
    const { last, requests } = await rehearse(name, [rule], { params: { seed: 7 } });
    expect(last).toMatchObject({ kind: "reply", sideRequests: [{ reason: "repair" }] });
    expect(JSON.stringify(last?.effectiveParams)).not.toContain("seed");
    expect(requests).toBe(2);
  });

  test.each([false, true])("an answer comes whole with its counts (streamed: %s)", async (stream) => {
    const text = "STEP 1: (0,0) → [S↓] 한국어 🙂";
    const usage = { inputTokens: 40, outputTokens: 20, cachedTokens: 8 };
    const rule: Rule = { reply: { text, usage }, delivery: { chunkBytes: 7 } };
    const { last, requests } = await rehearse(name, [rule], { params: stream ? { stream } : {} });
    expect(last).toMatchObject({ kind: "reply", text, finishReason: "stop", usage });
    expect(requests).toBe(1);
  });

  test.each<[string, Rule["delivery"] & object, string]>([
    ["cut", { cut: { afterEvents: 3 } }, "transport"],
    ["reset in its middle", { reset: "in_body" }, "transport"],
    ["stalled", { stall: { afterEvents: 2 } }, "timeout"],
    ["broken off by an error event", { errorEvent: { afterEvents: 2, kind: "overloaded" } }, "overloaded"],
  ])("a stream that is %s is no answer", async (_, delivery, outcome) => {
    const rule: Rule = { reply: { text: "STEP 1: (0,0) → [S↓] and so on, and so on" }, delivery };
    const { last, requests } = await rehearse(name, [rule], { params: { stream: true } });
    expect(last).toMatchObject({ kind: "failure", outcome });
    expect(requests).toBe(1);
  });

  test("a key that the server echoes is taken out everywhere (T79)", async () => {
    const key = "sk-canary-rehearsal-77";
    const rules: readonly Rule[] = [
      { nth: 1, fail: { kind: "auth", echoKey: true } },
      { reply: { text: "you said", echoKey: true } },
    ];
    const { results } = await rehearse(name, rules, {}, { keys: [key] }, 2);
    expect(results.map(({ kind }) => kind)).toEqual(["failure", "reply"]);
    expect(JSON.stringify(results)).not.toContain(key);
  });
});

test.each<[ModelName, readonly string[]]>([
  ["anthropic", ["inputTokens", "outputTokens", "requests"]],
  ["openai chat", ["requests", "tokens"]],
])("%s tells its limits in headers, and which is used up in its 429", async (name, dimensions) => {
  const limits = { "*": { rpm: 2, ...(name === "anthropic" ? { inputTpm: 9000, outputTpm: 9000 } : { tpm: 9000 }) } };
  const { results } = await rehearse(name, [{ reply: { text: "ok" } }], {}, { limits }, 3);
  expect(
    Object.keys(results[0]?.limits ?? {})
      .filter((key) => dimensions.includes(key))
      .toSorted(),
  ).toEqual(dimensions);
  expect(results[0]?.limits.requests).toMatchObject({ limit: 2, remaining: 1 });
  const refused = results[2];
  expect(refused).toMatchObject({ kind: "failure", outcome: "rate_limited" });
  const waitMs = refused?.kind === "failure" ? (refused.retryAfterMs ?? 0) : 0;
  expect(waitMs).toBeGreaterThan(20_000);
  expect(waitMs).toBeLessThanOrEqual(61_000);
});
