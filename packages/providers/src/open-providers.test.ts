import { describe, expect, test } from "vitest";

import { ask, canaryKeys, dialectOf, dialects, never, openFor, variablesFor } from "../test/dialects.ts";
import { inTurn, say, startScriptedServer, stream } from "../test/scripted-server.ts";
import { openProviders } from "./open-providers.ts";

describe.each(dialects)("$name", (dialect) => {
  test("a reply gives its text, model, finish reason and counts, from exactly one request", async () => {
    await using server = await startScriptedServer(say(200, dialect.reply("STEP 1")));
    await using providers = openFor(server.url);
    const result = await providers.complete(ask(dialect, server.url), never);
    expect(result).toMatchObject({
      kind: "reply",
      text: "STEP 1",
      finishReason: "stop",
      servedModel: "served-1",
      usage: { inputTokens: 30, outputTokens: 12, cachedTokens: 8, reasoningTokens: 5 },
      rawBody: JSON.stringify(dialect.reply("STEP 1")),
      sideRequests: [],
    });
    expect(server.seen.map(({ path }) => path)).toEqual([dialect.path]);
  });

  test("the key travels in one header and comes back in nothing (T79)", async () => {
    const echo = `you sent ${dialect.key} in ${JSON.stringify({ key: dialect.key })}`;
    await using server = await startScriptedServer(
      inTurn(
        say(401, dialect.error(401, echo)),
        say(200, dialect.reply(echo)),
        say(400, echo),
        say(200, Buffer.from(`\xff${dialect.key}`, "latin1")),
      ),
    );
    await using providers = openFor(server.url);
    const results = [];
    for (let time = 0; time < 4; time++) results.push(await providers.complete(ask(dialect, server.url), never));
    expect(results.map((result) => (result.kind === "reply" ? "reply" : result.outcome))).toEqual([
      "auth",
      "reply",
      "bad_request",
      "unparseable_body",
    ]);
    const told =
      JSON.stringify(results) +
      results.map(({ rawBody }) => Buffer.from(rawBody?.split("base64,")[1] ?? "", "base64").toString("latin1")).join();
    for (const key of Object.values(canaryKeys)) expect(told).not.toContain(key);
    const carrying = Object.entries(server.seen[0]?.headers ?? {}).filter(([, value]) =>
      String(value).includes("anary"),
    );
    expect(carrying).toHaveLength(1);
    expect(String(carrying[0]?.[1])).toContain(dialect.key);
  });

  test("the second turn carries the system prompt and the whole conversation", async () => {
    await using server = await startScriptedServer(say(200, dialect.reply("ok")));
    await using providers = openFor(server.url);
    const messages = [
      { role: "user", content: "maze" },
      { role: "assistant", content: "walk" },
      { role: "user", content: "hint" },
    ] as const;
    await providers.complete(ask(dialect, server.url, { messages }), never);
    const sent = JSON.stringify(server.seen[0]?.body);
    const places = ["You walk mazes.", "maze", "walk", "hint"].map((text) => sent.includes(`"${text}"`));
    expect(places).toEqual([true, true, true, true]);
    expect(sent.indexOf('"maze"')).toBeLessThan(sent.indexOf('"walk"'));
    expect(sent.indexOf('"walk"')).toBeLessThan(sent.indexOf('"hint"'));
  });

  test("the shape of an answer is forced in the vendor's own way, without the keywords that vendors refuse", async () => {
    await using server = await startScriptedServer(say(200, dialect.reply("{}")));
    await using providers = openFor(server.url);
    const level = { type: "string", enum: ["L1", "L2", "L3"] };
    const answerSchema = {
      type: "object",
      properties: { level, confidence: { type: "number", minimum: 0, maximum: 1 } },
      required: ["level", "confidence"],
      additionalProperties: false,
    };
    await providers.complete(ask(dialect, server.url, { answerSchema }), never);
    const bare = { ...answerSchema, properties: { level, confidence: { type: "number" } } };
    const named = { name: "answer", strict: true, schema: bare };
    const forced: Record<string, object> = {
      anthropic: { output_config: { format: { type: "json_schema", schema: bare } } },
      "openai chat": { response_format: { type: "json_schema", json_schema: named } },
      "openai responses": { text: { format: { type: "json_schema", ...named } } },
      google: { generationConfig: { responseMimeType: "application/json", responseJsonSchema: bare } },
      deepseek: { response_format: { type: "json_object" } },
      "compatible server": { response_format: { type: "json_schema", json_schema: named } },
    };
    expect(server.seen[0]?.body).toMatchObject(forced[dialect.name] ?? { name: "a dialect without a form" });
  });

  test("a stream is put together; one that is cut before its finish frame is transport (T66)", async () => {
    const events = dialect.events(["STEP ", "1: ", "(0,0)"]);
    await using server = await startScriptedServer(inTurn(stream(events), stream(events.slice(0, -1))));
    await using providers = openFor(server.url);
    const request = ask(dialect, server.url, { params: { stream: true } });
    const whole = await providers.complete(request, never);
    const cut = await providers.complete(request, never);
    expect(whole).toMatchObject({
      kind: "reply",
      text: "STEP 1: (0,0)",
      finishReason: "stop",
      rawBody: events.join(""),
    });
    expect(whole.usage).toMatchObject({ inputTokens: 30, outputTokens: 12 });
    expect(whole.ttftMs).not.toBeNull();
    expect(cut).toMatchObject({ kind: "failure", outcome: "transport", rawBody: events.slice(0, -1).join("") });
  });

  test("an error inside a stream is that error (T66)", async () => {
    const events = dialect.events(["STEP "]).slice(0, -1);
    const error = `event: error\ndata: ${JSON.stringify({ type: "error", error: { type: "overloaded_error", code: 529, message: "Overloaded" } })}\n\n`;
    await using server = await startScriptedServer(stream([...events, error]));
    await using providers = openFor(server.url);
    const result = await providers.complete(ask(dialect, server.url, { params: { stream: true } }), never);
    expect(result).toMatchObject({ kind: "failure", outcome: "overloaded" });
  });

  test("NUL, lone surrogates and bytes that are no text are kept as they came (T68)", async () => {
    const odd = "NUL \u0000 and the escape \\u0000 and \ud800 alone";
    const body = JSON.stringify(dialect.reply(odd));
    await using server = await startScriptedServer(
      inTurn(say(200, body), say(200, Buffer.from([0x7b, 0xff, 0x00, 0x7d]))),
    );
    await using providers = openFor(server.url);
    const kept = await providers.complete(ask(dialect, server.url), never);
    const broken = await providers.complete(ask(dialect, server.url), never);
    expect(kept).toMatchObject({ kind: "reply", text: odd, rawBody: body });
    expect(broken.rawBody).toBe("data:application/octet-stream;base64,e/8AfQ==");
  });
});

test("the token limit goes by the name that each takes, and only what the model takes is sent", async () => {
  await using server = await startScriptedServer(say(500, "{}"));
  await using providers = openFor(server.url);
  const wishes = [
    [dialectOf("anthropic"), {}],
    [dialectOf("anthropic"), { model: "claude-sonnet-5-5" }],
    [dialectOf("openai chat"), {}],
    [dialectOf("openai chat"), { model: "o3-mini" }],
    [dialectOf("openai responses"), {}],
    [dialectOf("google"), {}],
    [dialectOf("deepseek"), {}],
    [dialectOf("compatible server"), {}],
  ] as const;
  const params = [];
  for (const [dialect, changes] of wishes) {
    params.push((await providers.complete(ask(dialect, server.url, changes), never)).effectiveParams);
  }
  expect(params).toEqual([
    { max_tokens: 2500, temperature: 0, "anthropic-version": "2023-06-01" },
    { max_tokens: 2500 },
    { max_completion_tokens: 2500, temperature: 0 },
    { max_completion_tokens: 2500 },
    { max_output_tokens: 2500, store: false },
    { "generationConfig.maxOutputTokens": 2500, "generationConfig.temperature": 0 },
    { max_tokens: 2500, temperature: 0 },
    { max_tokens: 2500, temperature: 0 },
  ]);
  expect(server.seen[0]?.headers["anthropic-version"]).toBe("2023-06-01");
  expect(server.seen[1]?.headers["anthropic-version"]).toBe("2026-10-21");
});

test("the system prompt stands first, the same bytes whatever the maze, and is marked for Anthropic's cache (T42)", async () => {
  await using server = await startScriptedServer(say(500, "{}"));
  await using providers = openFor(server.url);
  for (const content of ["maze of seed 1", "maze of seed 2"]) {
    await providers.complete(ask(dialectOf("anthropic"), server.url, { messages: [{ role: "user", content }] }), never);
  }
  const prefixes = server.seen.map(({ body }) => JSON.stringify(body).split("maze of seed")[0]);
  expect(prefixes[0]).toBe(prefixes[1]);
  expect(server.seen[0]?.body["system"]).toEqual([
    { type: "text", text: "You walk mazes.", cache_control: { type: "ephemeral" } },
  ]);
});

test("a token limit above what fits ten minutes is streamed for Anthropic without being asked (T53)", async () => {
  const dialect = dialectOf("anthropic");
  await using server = await startScriptedServer(stream(dialect.events(["one ", "two"])));
  await using providers = openFor(server.url);
  const result = await providers.complete(ask(dialect, server.url, { maxTokens: 32_000 }), never);
  expect(server.seen[0]?.body).toMatchObject({ stream: true, max_tokens: 32_000 });
  expect(result).toMatchObject({ kind: "reply", text: "one two", usage: { inputTokens: 30, outputTokens: 12 } });
});

test("a spec's base URL gets no key but that of its keyEnv", async () => {
  const dialect = dialectOf("compatible server");
  await using server = await startScriptedServer(say(200, dialect.reply("ok")));
  await using providers = openFor(server.url);
  await providers.complete(ask(dialect, server.url, { keyEnv: null }), never);
  await providers.complete(ask(dialect, server.url), never);
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
    undefined,
    `Bearer ${canaryKeys.LOCAL_KEY}`,
  ]);
});

test("a missing key is named, parks the lane and sends nothing", async () => {
  await using server = await startScriptedServer(say(200, "{}"));
  await using providers = openFor(server.url);
  const result = await providers.complete(ask(dialectOf("openai chat"), server.url, { keyEnv: "NOT_SET" }), never);
  expect(result).toMatchObject({ kind: "failure", outcome: "auth", detail: "NOT_SET", park: { resumeAfterMs: null } });
  expect(server.seen).toEqual([]);
  const models = [
    { provider: "openai", baseUrl: null, keyEnv: null },
    { provider: "openai", baseUrl: server.url, keyEnv: null },
    { provider: "google", baseUrl: null, keyEnv: "OTHER_KEY" },
    { provider: "sim", baseUrl: null, keyEnv: null },
    { provider: "deepseek", baseUrl: null, keyEnv: "NOT_SET" },
  ];
  expect(providers.missingKeys(models)).toEqual(["NOT_SET", "OTHER_KEY"]);
});

test("a key with characters that no header takes is refused by name, never quoted", async () => {
  await using server = await startScriptedServer(say(200, "{}"));
  const key = "sk-canary-with-a-\nnewline-and-ключ";
  const providers = openProviders({ variables: { ...variablesFor(server.url), OPENAI_API_KEY: key } });
  const result = await providers.complete(ask(dialectOf("openai chat"), server.url), never);
  await providers.close();
  expect(result).toMatchObject({ kind: "failure", outcome: "auth", detail: "OPENAI_API_KEY" });
  expect(JSON.stringify(result)).not.toContain("canary");
  expect(server.seen).toEqual([]);
});

test("an aborted call rejects with its reason, and an unknown provider is an error", async () => {
  await using server = await startScriptedServer(() => undefined);
  await using providers = openFor(server.url);
  const abort = new AbortController();
  const call = providers.complete(ask(dialectOf("google"), server.url), abort.signal);
  abort.abort(new Error("drain"));
  await expect(call).rejects.toThrow("drain");
  const unknown = { ...ask(dialectOf("google"), server.url), provider: "nobody" };
  await expect(providers.complete(unknown, never)).rejects.toMatchObject({ code: "provider-unknown" });
});

test("the process's own fetch works while providers are open, and is back when the last has closed", async () => {
  const before = globalThis.fetch;
  await using server = await startScriptedServer(say(200, dialectOf("google").reply("ok")));
  const [first, second] = [openFor(server.url), openFor(server.url)];
  const own = await fetch(`${server.url}/own`, { method: "POST", body: "{}", headers: { "x-own": "1" } });
  expect(own.status).toBe(200);
  expect(server.seen[0]?.headers["x-own"]).toBe("1");
  await first.close();
  expect(await second.complete(ask(dialectOf("google"), server.url), never)).toMatchObject({ kind: "reply" });
  await second.close();
  expect(globalThis.fetch).toBe(before);
});
