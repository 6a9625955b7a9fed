import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type MockProviders, type Rule, startMockProviders } from "./index.ts";

let mock: MockProviders;
beforeAll(async () => {
  mock = await startMockProviders({ clock: () => Date.UTC(2026, 0, 1) });
});
afterAll(() => mock.close());

const messages = [{ role: "user", content: "hello" }];
const requests = {
  anthropic: () => ask(`${mock.urls.anthropicBaseUrl}/v1/messages`, { model: "m", max_tokens: 9, messages }),
  openai: () => ask(`${mock.urls.openaiBaseUrl}/chat/completions`, { model: "m", messages }),
  deepseek: () => ask(`${mock.urls.deepseekBaseUrl}/chat/completions`, { model: "m", messages }),
  google: () =>
    ask(`${mock.urls.googleBaseUrl}/v1beta/models/m:generateContent`, { contents: [{ parts: [{ text: "hello" }] }] }),
};

async function ask(url: string, body: object) {
  const headers = {
    "content-type": "application/json",
    "x-api-key": "secret-key",
    "x-goog-api-key": "secret-key",
    authorization: "Bearer secret-key",
  };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function failWith(fail: Rule["fail"]): void {
  mock.script([{ fail }]);
}

describe("failures as the vendors word them", () => {
  it.each([
    ["anthropic", "rate_limited", 429, '"type":"rate_limit_error"'],
    ["anthropic", "quota_exhausted", 400, "credit balance is too low"],
    ["anthropic", "overloaded", 529, '"type":"overloaded_error"'],
    ["anthropic", "server_error", 500, '"type":"api_error"'],
    ["anthropic", "auth", 401, '"type":"authentication_error"'],
    ["anthropic", "model_not_found", 404, '"message":"model: m"'],
    ["anthropic", "context_too_long", 400, "prompt is too long"],
    ["anthropic", "payload_too_large", 413, '"type":"request_too_large"'],
    ["openai", "rate_limited", 429, '"code":"rate_limit_exceeded"'],
    ["openai", "quota_exhausted", 429, '"code":"insufficient_quota"'],
    ["openai", "daily_quota", 429, "per day"],
    ["openai", "auth", 401, '"code":"invalid_api_key"'],
    ["openai", "model_not_found", 404, '"code":"model_not_found"'],
    ["openai", "unsupported_parameter", 400, '"param":"temperature","code":"unsupported_parameter"'],
    ["openai", "context_too_long", 400, '"code":"context_length_exceeded"'],
    ["openai", "bad_gateway", 502, "Bad gateway"],
    ["deepseek", "quota_exhausted", 402, "Insufficient Balance"],
    ["deepseek", "model_not_found", 400, "Model Not Exist"],
    ["deepseek", "overloaded", 503, "too busy"],
    ["google", "rate_limited", 429, '"status":"RESOURCE_EXHAUSTED"'],
    ["google", "daily_quota", 429, "PerDayPerProject"],
    ["google", "overloaded", 503, '"status":"UNAVAILABLE"'],
    ["google", "auth", 400, '"reason":"API_KEY_INVALID"'],
    ["google", "model_not_found", 404, '"status":"NOT_FOUND"'],
    ["google", "gateway_timeout", 504, '"status":"DEADLINE_EXCEEDED"'],
  ] as const)("%s, %s: %i", async (vendor, kind, status, part) => {
    failWith(kind);
    const reply = await requests[vendor]();
    expect(reply.status).toBe(status);
    expect(reply.text).toContain(part);
    expect(JSON.parse(reply.text)).toHaveProperty("error.message");
  });

  it("stand in a reply of status 200 where a script says so", async () => {
    failWith({ kind: "rate_limited", status: 200 });
    await expect(requests.openai()).resolves.toMatchObject({ status: 200 });
  });

  it("echo the key where a script says so", async () => {
    failWith({ kind: "auth", echoKey: true });
    for (const vendor of ["anthropic", "openai", "deepseek", "google"] as const) {
      expect((await requests[vendor]()).text).toContain("secret-key");
    }
  });

  it("can be any body, with the key in its place", async () => {
    mock.script([{ respond: { status: 403, headers: { "x-proxy": "yes" }, body: "<h1>denied {{key}}</h1>" } }]);
    const reply = await requests.openai();
    expect(reply).toMatchObject({ status: 403, text: "<h1>denied secret-key</h1>" });
    expect(reply.headers.get("x-proxy")).toBe("yes");
  });
});

describe("the wait of a failure", () => {
  it.each([
    ["anthropic", { retryAfterMs: 1500 }, { "retry-after": "2" }],
    ["openai", { retryAfterMs: 1500 }, { "retry-after": "2", "retry-after-ms": "1500" }],
    ["deepseek", { retryAfterMs: 1500 }, { "retry-after": null }],
    ["google", { retryAfterMs: 1500 }, { "retry-after": null }],
    ["google", { retryAfterMs: 1500, retryAfterForm: "seconds" }, { "retry-after": "2" }],
    [
      "openai",
      { retryAfterMs: 1500, retryAfterForm: "date" },
      { "retry-after": "Thu, 01 Jan 2026 00:00:02 GMT", "retry-after-ms": null },
    ],
    ["openai", { retryAfterMs: 1500, retryAfterForm: "none" }, { "retry-after": null }],
    [
      "anthropic",
      { retryAfterMs: 20_000, retryAfterForm: "reset", dimension: "tokens" },
      {
        "retry-after": null,
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:20Z",
        "anthropic-ratelimit-requests-remaining": "900",
      },
    ],
    [
      "openai",
      { retryAfterMs: 363_000, retryAfterForm: "reset", dimension: "requests" },
      { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m3s" },
    ],
  ] as const)("of %s by %j stands in its headers", async (vendor, wish, headers) => {
    failWith({ kind: "rate_limited", ...wish });
    const reply = await requests[vendor]();
    const named = Object.keys(headers).map((name) => [name, reply.headers.get(name)]);
    expect(Object.fromEntries(named)).toEqual(headers);
  });

  it("of Google stands in the body as RetryInfo", async () => {
    failWith({ kind: "rate_limited", retryAfterMs: 38_000 });
    expect((await requests.google()).text).toContain('google.rpc.RetryInfo","retryDelay":"38s"');
  });
});

describe("odd replies of status 200", () => {
  it.each([
    ["openai", { shape: "choices_empty" }, '"choices":[]'],
    ["openai", { shape: "choices_null" }, '"choices":null'],
    ["deepseek", { text: "", reasoning: "I think" }, '"content":"","reasoning_content":"I think"'],
    ["openai", { finish: "refused", text: "I cannot." }, '"content":null,"refusal":"I cannot."'],
    ["openai", { finish: "safety", text: "" }, '"finish_reason":"content_filter"'],
    ["deepseek", { nativeFinish: "insufficient_system_resource" }, '"finish_reason":"insufficient_system_resource"'],
    ["openai", { servedModel: "m-2026", usage: { inputTokens: 2050, cachedTokens: 1024 } }, '"model":"m-2026"'],
    ["openai", { usage: { inputTokens: 2050, cachedTokens: 1024 } }, '"prompt_tokens":2050'],
    ["openai", { text: "a\u0000b\udfff" }, "a\\u0000b\\udfff"],
    ["anthropic", { shape: "choices_empty" }, '"content":[]'],
    ["anthropic", { finish: "refused", text: "" }, '"stop_reason":"refusal"'],
    ["anthropic", { finish: "paused" }, '"stop_reason":"pause_turn"'],
    ["anthropic", { usage: { inputTokens: 100, cachedTokens: 60 } }, '"input_tokens":40'],
    ["google", { shape: "prompt_blocked" }, '{"promptFeedback":{"blockReason":"SAFETY"'],
    ["google", { shape: "prompt_blocked", nativeFinish: "PROHIBITED_CONTENT" }, '"blockReason":"PROHIBITED_CONTENT"'],
    ["google", { finish: "safety" }, '"candidates":[{"finishReason":"SAFETY","index":0}]'],
    ["google", { finish: "recitation" }, '"candidates":[{"content":{},"finishReason":"RECITATION","index":0}]'],
    ["google", { finish: "other" }, '"finishReason":"OTHER"'],
  ] as const)("%s, %j", async (vendor, reply, part) => {
    mock.script([{ reply }]);
    const { status, text } = await requests[vendor]();
    expect(status).toBe(200);
    expect(text).toContain(part);
  });

  it("can be an empty body", async () => {
    mock.script([{ reply: { shape: "empty_body" } }]);
    await expect(requests.deepseek()).resolves.toMatchObject({ status: 200, text: "" });
  });
});

describe("requests that no vendor would take", () => {
  it.each([
    ["anthropic without max_tokens", "/anthropic/v1/messages", { model: "m", messages }, 400],
    ["openai without messages", "/openai/v1/chat/completions", { model: "m" }, 400],
    ["responses without input", "/openai/v1/responses", { model: "m" }, 400],
    ["google without contents", "/google/v1beta/models/m:generateContent", {}, 400],
    ["a path of no vendor", "/openai/v1/embeddings", {}, 404],
  ] as const)("%s", async (_name, path, body, status) => {
    mock.script([]);
    await expect(ask(mock.urls.rootUrl + path, body)).resolves.toMatchObject({ status });
  });
});
