import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenerativeAI } from "@google/generative-ai";
import { generateMaze } from "@hallumaze/maze";
import { buildPrompt, readReply } from "@hallumaze/protocol";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { type MockProviders, startMockProviders } from "./index.ts";

const maze = generateMaze({ size: 5, seed: 1001 });
const { system, user } = buildPrompt({ maze, mirage: true, language: "en", confidence: true });
const hint = "HINT: you have been here before. Turn back.";

let mock: MockProviders;
beforeAll(async () => {
  mock = await startMockProviders({ solver: { "*hinted": "hint-taker", "*": "oracle" } });
});
beforeEach(() => {
  mock.script([]);
  mock.resetCounts();
});
afterAll(() => mock.close());

interface Asked {
  readonly text: string;
  readonly finish: string | null | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

interface Turn {
  readonly role: "user" | "assistant";
  readonly content: string;
}

type Ask = (options?: { readonly model?: string; readonly turns?: readonly Turn[] }) => Promise<Asked>;

const firstTurn: readonly Turn[] = [{ role: "user", content: user }];
const maxTokens = 4000;

function anthropic() {
  return new Anthropic({ apiKey: "k", baseURL: mock.urls.anthropicBaseUrl, maxRetries: 0 });
}

function openai(baseURL = mock.urls.openaiBaseUrl) {
  return new OpenAI({ apiKey: "k", baseURL, maxRetries: 0 });
}

function google(model = "gemini-2.5-pro") {
  return new GoogleGenerativeAI("k").getGenerativeModel(
    { model, systemInstruction: system, generationConfig: { maxOutputTokens: maxTokens } },
    { baseUrl: mock.urls.googleBaseUrl },
  );
}

function messageOf(message: Anthropic.Message): Asked {
  const text = message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  const { input_tokens: inputTokens, output_tokens: outputTokens } = message.usage;
  return { text, finish: message.stop_reason, inputTokens, outputTokens };
}

const askAnthropic: Ask = async ({ model = "claude-x", turns = firstTurn } = {}) =>
  messageOf(await anthropic().messages.create({ model, max_tokens: maxTokens, system, messages: [...turns] }));

const streamAnthropic: Ask = async ({ model = "claude-x", turns = firstTurn } = {}) =>
  messageOf(
    await anthropic()
      .messages.stream({ model, max_tokens: maxTokens, system, messages: [...turns] })
      .finalMessage(),
  );

function chatBody(model: string, turns: readonly Turn[]) {
  return { model, max_tokens: maxTokens, messages: [{ role: "system" as const, content: system }, ...turns] };
}

const askChat =
  (baseUrl: () => string): Ask =>
  async ({ model = "gpt-4o", turns = firstTurn } = {}) => {
    const { choices, usage } = await openai(baseUrl()).chat.completions.create(chatBody(model, turns));
    return {
      text: choices[0]?.message.content ?? "",
      finish: choices[0]?.finish_reason,
      inputTokens: usage?.prompt_tokens,
      outputTokens: usage?.completion_tokens,
    };
  };

const streamChat =
  (baseUrl: () => string): Ask =>
  async ({ model = "gpt-4o", turns = firstTurn } = {}) => {
    const options = { stream: true as const, stream_options: { include_usage: true } };
    const stream = await openai(baseUrl()).chat.completions.create({ ...chatBody(model, turns), ...options });
    let [text, finish] = ["", null as string | null];
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      finish = chunk.choices[0]?.finish_reason ?? finish;
      usage = chunk.usage ?? usage;
    }
    return { text, finish, inputTokens: usage?.prompt_tokens, outputTokens: usage?.completion_tokens };
  };

function responseOf(response: OpenAI.Responses.Response): Asked {
  const { output_text: text, usage } = response;
  const finish = response.incomplete_details?.reason ?? response.status;
  return { text, finish, inputTokens: usage?.input_tokens, outputTokens: usage?.output_tokens };
}

function responsesBody(model: string, turns: readonly Turn[]) {
  return { model, instructions: system, input: [...turns], max_output_tokens: maxTokens };
}

const askResponses: Ask = async ({ model = "gpt-4o", turns = firstTurn } = {}) =>
  responseOf(await openai().responses.create(responsesBody(model, turns)));

const streamResponses: Ask = async ({ model = "gpt-4o", turns = firstTurn } = {}) =>
  responseOf(await openai().responses.stream(responsesBody(model, turns)).finalResponse());

function googleContents(turns: readonly Turn[]) {
  return turns.map(({ role, content }) => ({ role: role === "user" ? "user" : "model", parts: [{ text: content }] }));
}

const askGoogle: Ask = async ({ model, turns = firstTurn } = {}) => {
  const { response } = await google(model).generateContent({ contents: googleContents(turns) });
  return {
    text: response.text(),
    finish: response.candidates?.[0]?.finishReason,
    inputTokens: response.usageMetadata?.promptTokenCount,
    outputTokens: response.usageMetadata?.candidatesTokenCount,
  };
};

const streamGoogle: Ask = async ({ model, turns = firstTurn } = {}) => {
  const { stream } = await google(model).generateContentStream({ contents: googleContents(turns) });
  let last: Asked = { text: "", finish: null, inputTokens: 0, outputTokens: 0 };
  for await (const chunk of stream) {
    last = {
      text: last.text + chunk.text(),
      finish: chunk.candidates?.[0]?.finishReason,
      inputTokens: chunk.usageMetadata?.promptTokenCount,
      outputTokens: chunk.usageMetadata?.candidatesTokenCount,
    };
  }
  return last;
};

const openaiUrl = () => mock.urls.openaiBaseUrl;
const deepseekUrl = () => mock.urls.deepseekBaseUrl;
const compatibleUrl = () => mock.urls.compatibleBaseUrl;

const ways: readonly (readonly [name: string, ask: Ask, stop: string, length: string])[] = [
  ["Anthropic", askAnthropic, "end_turn", "max_tokens"],
  ["Anthropic, streamed", streamAnthropic, "end_turn", "max_tokens"],
  ["OpenAI chat", askChat(openaiUrl), "stop", "length"],
  ["OpenAI chat, streamed", streamChat(openaiUrl), "stop", "length"],
  ["OpenAI responses", askResponses, "completed", "max_output_tokens"],
  ["OpenAI responses, streamed", streamResponses, "completed", "max_output_tokens"],
  ["Google", askGoogle, "STOP", "MAX_TOKENS"],
  ["Google, streamed", streamGoogle, "STOP", "MAX_TOKENS"],
  ["DeepSeek", askChat(deepseekUrl), "stop", "length"],
  ["DeepSeek, streamed", streamChat(deepseekUrl), "stop", "length"],
  ["a compatible server", askChat(compatibleUrl), "stop", "length"],
];

describe.each(ways)("the SDK of %s", (_name, ask, stop, length) => {
  it("reads a whole solved maze, its finish reason and its usage", async () => {
    const { text, finish, inputTokens, outputTokens } = await ask();
    expect(readReply(text, { size: 5, finishReason: "stop", mode: "strict", maze }).finalPath?.at(-1)).toEqual([4, 4]);
    expect(finish).toBe(stop);
    expect(inputTokens).toBeGreaterThan(300);
    expect(outputTokens).toBeGreaterThan(300);
  });

  it("carries the conversation: a hint changes the second answer", async () => {
    const first = await ask({ model: "any-hinted" });
    const turns = [...firstTurn, { role: "assistant" as const, content: first.text }];
    const second = await ask({ model: "any-hinted", turns: [...turns, { role: "user", content: hint }] });
    expect(second.text).not.toBe(first.text);
    expect(mock.requests().at(-1)?.bodyText).toContain(JSON.stringify(hint).slice(1, -1));
  });

  it("reads a cut answer as cut", async () => {
    mock.script([{ reply: { finish: "length", text: "STEP 1: (0,0) → [S" } }]);
    await expect(ask()).resolves.toMatchObject({ finish: length, text: "STEP 1: (0,0) → [S" });
  });

  it("reads a NUL and a lone surrogate as they are", async () => {
    mock.script([{ reply: { text: "a\u0000b\ud800c" } }]);
    await expect(ask()).resolves.toMatchObject({ text: "a\u0000b\ud800c" });
  });

  it("fails with the vendor's status after one request", async () => {
    mock.script([{ fail: "unavailable" }]);
    await expect(ask()).rejects.toMatchObject({ status: 503 });
    expect(mock.counts().requests).toBe(1);
  });

  it("fails on a connection that is reset before any byte", async () => {
    mock.script([{ delivery: { reset: "before_headers" } }]);
    await expect(ask()).rejects.toThrow(/connection|fetch/iu);
    expect(mock.counts().byEnd["reset"]).toBe(1);
  });
});

describe("errors in the middle of a stream", () => {
  const errorEvent = { afterEvents: 3, kind: "overloaded" as const };
  it.each([
    ["Anthropic", streamAnthropic],
    ["OpenAI chat", streamChat(openaiUrl)],
    ["OpenAI responses", streamResponses],
    ["DeepSeek", streamChat(deepseekUrl)],
  ])("reach the SDK of %s as an error", async (_name, ask) => {
    mock.script([{ delivery: { errorEvent } }]);
    await expect(ask()).rejects.toThrow(/overloaded|busy/iu);
  });
});

describe("reasoning", () => {
  it("comes as thinking blocks where an Anthropic request asks for them", async () => {
    const thinking = { type: "enabled" as const, budget_tokens: 1024 };
    const body = { model: "claude-x", max_tokens: maxTokens, thinking, messages: [...firstTurn] };
    const whole = await anthropic().messages.create(body);
    const streamed = await anthropic().messages.stream(body).finalMessage();
    expect(whole.content.map(({ type }) => type)).toEqual(["thinking", "text"]);
    expect(streamed.content.map(({ type }) => type)).toEqual(["thinking", "text"]);
  });

  it("comes as reasoning_content from DeepSeek and as a mere count from OpenAI", async () => {
    const deepseek = await openai(deepseekUrl()).chat.completions.create(chatBody("deepseek-reasoner", firstTurn));
    expect(deepseek.choices[0]?.message).toHaveProperty("reasoning_content", expect.stringContaining("map"));
    const counted = await openai().chat.completions.create(chatBody("o3", firstTurn));
    expect(counted.choices[0]?.message).not.toHaveProperty("reasoning_content");
    expect(counted.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
  });

  it("can use up Google's budget and leave no parts", async () => {
    const usage = { outputTokens: 3071, reasoningTokens: 3071 };
    mock.script([{ reply: { text: "", finish: "length", usage } }]);
    const { response } = await google().generateContent({ contents: googleContents(firstTurn) });
    expect(response.candidates?.[0]).toEqual({ content: { role: "model" }, finishReason: "MAX_TOKENS", index: 0 });
    expect(response.usageMetadata).toMatchObject({ thoughtsTokenCount: 3071 });
  });
});
