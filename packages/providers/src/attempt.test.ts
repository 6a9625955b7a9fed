import { describe, expect, test } from "vitest";

import { ask, dialectOf, never, openFor } from "../test/dialects.ts";
import { claudeError, googleError, openAiError, refuse } from "../test/refusals.ts";
import { type Answer, inTurn, say, startScriptedServer } from "../test/scripted-server.ts";

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

test("a value out of range is the spec's to mend: no repair changes it in silence", async () => {
  const body = openAiError(
    "'temperature' is 3 but the supported range is 0 to 2",
    null,
    "invalid_request_error",
    "temperature",
  );
  expect(await refuse("compatible server", say(400, body))).toMatchObject({
    requests: 1,
    result: { outcome: "bad_request", detail: "temperature" },
  });
});

test("a stream that the account may not have is repaired together with its options", async () => {
  const dialect = dialectOf("openai chat");
  const refusal = openAiError(
    "Your organization must be verified to stream this model.",
    "unsupported_value",
    "invalid_request_error",
    "stream",
  );
  await using server = await startScriptedServer(inTurn(say(400, refusal), say(200, dialect.reply("ok"))));
  await using providers = openFor(server.url);
  const result = await providers.complete(ask(dialect, server.url, { params: { stream: true } }), never);
  expect(result).toMatchObject({ kind: "reply", text: "ok" });
  expect(server.seen[1]?.body).not.toHaveProperty("stream_options");
});

test.each([
  ["anthropic", { inputTokens: 22, outputTokens: 12 }],
  ["openai chat", { inputTokens: 30, outputTokens: 12 }],
  ["google", { inputTokens: 30, outputTokens: 12 }],
])(
  "what counts against the limits is counted as the vendor does, not as it is billed: %s",
  async (name, limitUsage) => {
    const dialect = dialectOf(name);
    await using server = await startScriptedServer(say(200, dialect.reply("ok")));
    await using providers = openFor(server.url);
    const result = await providers.complete(ask(dialect, server.url), never);
    expect(result).toMatchObject({ usage: { inputTokens: 30, cachedTokens: 8 }, limitUsage });
  },
);

test("the total deadline is the try's: a repaired request has what the refused one left of it", async () => {
  const dialect = dialectOf("openai chat");
  const refusal = openAiError(
    "Unsupported parameter: 'seed'",
    "unsupported_parameter",
    "invalid_request_error",
    "seed",
  );
  const slowly: Answer = (response, request, number, raw) =>
    void setTimeout(() => say(400, refusal)(response, request, number, raw), 1000);
  await using server = await startScriptedServer(inTurn(slowly, () => undefined));
  await using providers = openFor(server.url, { totalMs: 1500 });
  const result = await providers.complete(ask(dialect, server.url, { params: { seed: 7 } }), never);
  expect(result).toMatchObject({ outcome: "timeout", detail: "total", sideRequests: [{ reason: "repair" }] });
  expect(result.httpMs).toBeLessThan(1000);
});
