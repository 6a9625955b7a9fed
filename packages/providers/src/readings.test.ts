import { describe, expect, test } from "vitest";

import { readAnthropic } from "./anthropic/response.ts";
import { readGoogle } from "./google/response.ts";
import { readChat } from "./openai/response.ts";
import { readResponse } from "./openai/responses-api.ts";
import { readBody } from "./reply-body.ts";

const json = (value: unknown) => readBody(Buffer.from(JSON.stringify(value)));
const chat = (choice: unknown, rest: object = {}) => readChat(json({ choices: [choice], ...rest }));

describe("Chat Completions", () => {
  test("no choices are an empty answer; null choices are no reply (T58)", () => {
    expect(readChat(json({ choices: [] }))).toMatchObject({ kind: "reply", text: "" });
    expect(readChat(json({ choices: null }))).toMatchObject({ kind: "broken", outcome: "unparseable_body" });
  });

  test("an answer that stands only in the reasoning stays there: the text is empty (T56)", () => {
    const message = { content: "", reasoning_content: "FINAL_PATH: (0,0)→(1,0)" };
    expect(chat({ message, finish_reason: "stop" })).toMatchObject({
      kind: "reply",
      text: "",
      reasoning: "FINAL_PATH: (0,0)→(1,0)",
      finishReason: "stop",
    });
  });

  test.each([
    ["stop", "stop"],
    ["length", "length"],
    ["tool_calls", "other"],
    [null, null],
  ])("finish reason %s is %s (T41)", (native, finishReason) => {
    expect(chat({ message: { content: "x" }, finish_reason: native })).toMatchObject({
      kind: "reply",
      finishReason,
      nativeFinishReason: native,
    });
  });

  test("a refusal is an answer of its own kind", () => {
    const message = { content: null, refusal: "I will not." };
    expect(chat({ message, finish_reason: "stop" })).toMatchObject({
      kind: "reply",
      text: "I will not.",
      finishReason: "refusal",
    });
  });

  test("a withheld answer is filtered, a lack of machines overloaded, an error of a choice that error", () => {
    expect(chat({ message: { content: "half" }, finish_reason: "content_filter" })).toMatchObject({
      kind: "filtered",
      detail: "answer:content_filter",
    });
    expect(chat({ message: { content: "half" }, finish_reason: "insufficient_system_resource" })).toMatchObject({
      kind: "error",
      error: { status: 529 },
    });
    expect(
      chat({ message: { content: "half" }, finish_reason: "error", error: { code: 502, message: "gone" } }),
    ).toMatchObject({ kind: "error", error: { status: 502 } });
  });

  test("[DONE] alone is no finish frame (T66)", () => {
    const cut = 'data: {"choices":[{"delta":{"content":"STEP 1"}}]}\n\ndata: [DONE]\n\n';
    expect(readChat(readBody(Buffer.from(cut)))).toMatchObject({ kind: "broken", outcome: "transport" });
  });

  test("keep-alive lines between events are skipped (T55)", () => {
    const events =
      ': keep-alive\n\n: keep-alive\n\ndata: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\n';
    expect(readChat(readBody(Buffer.from(events)))).toMatchObject({ kind: "reply", text: "ok", finishReason: "stop" });
  });

  test("DeepSeek's cache count and the host that an aggregator chose are kept", () => {
    const usage = { prompt_tokens: 100, completion_tokens: 9, prompt_cache_hit_tokens: 64 };
    expect(
      chat(
        { message: { content: "x" }, finish_reason: "stop" },
        { usage, provider: "HostA", system_fingerprint: "fp" },
      ),
    ).toMatchObject({
      servedBy: "HostA",
      usage: { inputTokens: 100, outputTokens: 9, cachedTokens: 64 },
    });
  });

  test("the count of a prompt that the server has cut is told as it is (T63)", () => {
    expect(
      chat({ message: { content: "x" }, finish_reason: "stop" }, { usage: { prompt_tokens: 2050 } }),
    ).toMatchObject({
      usage: { inputTokens: 2050, outputTokens: null },
    });
  });
});

describe("Responses", () => {
  const base = { output: [{ type: "message", content: [{ type: "output_text", text: "half" }] }] };

  test("an incomplete response is cut off or filtered, a failed one an error", () => {
    const incomplete = (reason: string) =>
      readResponse(json({ ...base, status: "incomplete", incomplete_details: { reason } }));
    expect(incomplete("max_output_tokens")).toMatchObject({ kind: "reply", text: "half", finishReason: "length" });
    expect(incomplete("content_filter")).toMatchObject({ kind: "filtered", detail: "answer:content_filter" });
    const failed = { ...base, status: "failed", error: { code: "server_error", message: "broke" } };
    expect(readResponse(json(failed))).toMatchObject({ kind: "error", error: { words: ["server_error"] } });
  });
});

describe("Messages", () => {
  test.each([
    ["end_turn", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "refusal"],
    ["tool_use", "other"],
  ])("stop reason %s is %s", (native, finishReason) => {
    const content = [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ];
    expect(readAnthropic(json({ content, stop_reason: native }))).toMatchObject({
      kind: "reply",
      text: "ab",
      reasoning: "hm",
      finishReason,
    });
  });

  test("counts of the first event survive nulls of the last one", () => {
    const events = [
      {
        type: "message_start",
        message: { model: "m", usage: { input_tokens: 20, cache_read_input_tokens: 4, output_tokens: 1 } },
      },
      { type: "content_block_delta", delta: { type: "thinking_delta", thinking: "hm" } },
      {
        type: "message_delta",
        delta: { stop_reason: "max_tokens" },
        usage: { input_tokens: null, cache_read_input_tokens: null, output_tokens: 9 },
      },
      { type: "message_stop" },
    ];
    const text = events.map((event) => `event: ${event.type}\r\ndata: ${JSON.stringify(event)}\r\n\r\n`).join("");
    expect(readAnthropic(readBody(Buffer.from(text)))).toMatchObject({
      text: "",
      reasoning: "hm",
      finishReason: "length",
      usage: { inputTokens: 24, cachedTokens: 4, outputTokens: 9 },
    });
  });
});

describe("generateContent", () => {
  test("thoughts that use up the limit leave an empty, cut-off answer, and are counted (T50)", () => {
    const reply = {
      candidates: [{ content: { role: "model" }, finishReason: "MAX_TOKENS" }],
      usageMetadata: { promptTokenCount: 400, thoughtsTokenCount: 3071 },
    };
    expect(readGoogle(json(reply))).toMatchObject({
      kind: "reply",
      text: "",
      finishReason: "length",
      usage: { outputTokens: 3071, reasoningTokens: 3071 },
    });
  });

  test.each([
    ["a blocked prompt", { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }, "prompt:PROHIBITED_CONTENT"],
    ["an unsafe answer", { candidates: [{ finishReason: "SAFETY", safetyRatings: [] }] }, "answer:SAFETY"],
    ["a recited answer", { candidates: [{ content: { parts: [] }, finishReason: "RECITATION" }] }, "answer:RECITATION"],
    ["another reason", { candidates: [{ content: {}, finishReason: "OTHER" }] }, "answer:OTHER"],
  ])("%s is filtered with its native reason (T64)", (_, reply, detail) => {
    expect(readGoogle(json(reply))).toMatchObject({
      kind: "filtered",
      detail,
      nativeFinishReason: detail.split(":")[1],
    });
  });

  test("thoughts are told apart from the answer", () => {
    const parts = [{ text: "hm", thought: true }, { text: "STEP " }, { text: "1" }];
    expect(readGoogle(json({ candidates: [{ content: { parts }, finishReason: "STOP" }] }))).toMatchObject({
      text: "STEP 1",
      reasoning: "hm",
    });
  });

  test("no candidate and no reason is an empty answer", () => {
    expect(readGoogle(json({ candidates: [], usageMetadata: { promptTokenCount: 4 } }))).toMatchObject({
      kind: "reply",
      text: "",
    });
  });
});
