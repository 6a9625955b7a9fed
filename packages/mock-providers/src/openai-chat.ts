import type { Dialect, Finish, Question, Reply, StreamEvent, Vendor } from "./dialect.ts";
import {
  asList,
  asNumber,
  asObject,
  asText,
  contentText,
  inputTokensOf,
  parameterPaths,
  piecesOf,
} from "./read-json.ts";

/**
 * Chat completions, as OpenAI, DeepSeek and compatible servers speak them. DeepSeek and compatible servers show their
 * reasoning as `reasoning_content`; OpenAI only counts it. SOURCE: types of openai 6.49.0; DeepSeek's API reference.
 */
export const openaiChat: Dialect = {
  name: "chat",
  read: readQuestion,
  body: completion,
  events: streamEvents,
  errorEvent: (failure) => data(typeof failure.body === "string" ? { error: { message: failure.body } } : failure.body),
};

const finishReasons: Readonly<Record<Finish, string>> = {
  stop: "stop",
  length: "length",
  refused: "stop",
  safety: "content_filter",
  recitation: "content_filter",
  prohibited: "content_filter",
  paused: "stop",
  context: "length",
  other: "stop",
};

/** Tells whether a model of this name always reasons. SOURCE: model lists of OpenAI and DeepSeek, 2025. */
export function alwaysReasons(model: string): boolean {
  return /^(o[1-9]|gpt-5(?!-chat)|deepseek-reasoner|deepseek-r)/.test(model.split("/").at(-1) ?? model);
}

function readQuestion(body: unknown, vendor: Vendor): Question | string {
  const request = asObject(body);
  const model = asText(request["model"]);
  const messages = asList(request["messages"]).map(asObject);
  if (model === null) return "you must provide a model parameter";
  if (messages.length === 0) return "Invalid 'messages': empty array. Expected an array with minimum length 1.";
  const isSystem = (role: unknown): boolean => role === "system" || role === "developer";
  const system = messages.flatMap(({ role, content }) => (isSystem(role) ? [contentText(content)] : [])).join("\n");
  const said = messages
    .filter(({ role }) => !isSystem(role))
    .map(({ role, content }) => ({
      role: role === "assistant" ? ("assistant" as const) : ("user" as const),
      content: contentText(content),
    }));
  const effort = asText(request["reasoning_effort"]);
  return {
    vendor,
    model,
    system,
    messages: said,
    maxTokens: asNumber(request["max_completion_tokens"]) ?? asNumber(request["max_tokens"]),
    stream: request["stream"] === true,
    thinks:
      effort === null ? alwaysReasons(model) || asObject(request["thinking"])["type"] === "enabled" : effort !== "none",
    streamsUsage: vendor === "deepseek" || asObject(request["stream_options"])["include_usage"] === true,
    parameters: parameterPaths(body),
    inputTokens: inputTokensOf(system, said),
  };
}

function completion(reply: Reply, question: Question): unknown {
  const refusal = reply.finish === "refused" ? reply.text : null;
  const choice = {
    index: 0,
    message: {
      role: "assistant",
      content: refusal === null ? reply.text : null,
      ...(question.vendor === "openai" ? { refusal, annotations: [] } : {}),
      ...(showsReasoning(question) && reply.reasoning !== "" ? { reasoning_content: reply.reasoning } : {}),
    },
    logprobs: null,
    finish_reason: finishReason(reply),
  };
  return {
    id: `chatcmpl-${reply.id}`,
    object: "chat.completion",
    created: reply.createdSeconds,
    model: reply.servedModel,
    choices: reply.shape === "choices_null" ? null : reply.shape === "choices_empty" ? [] : [choice],
    ...(reply.shape === "no_usage" ? {} : { usage: usage(reply, question) }),
    system_fingerprint: "fp_rehearsal",
    ...(question.vendor === "openai" ? { service_tier: "default" } : {}),
  };
}

function showsReasoning(question: Question): boolean {
  return question.vendor !== "openai";
}

function finishReason(reply: Reply): string {
  return reply.nativeFinish ?? finishReasons[reply.finish];
}

function usage({ usage: tokens }: Reply, { vendor }: Question) {
  return {
    prompt_tokens: tokens.inputTokens,
    completion_tokens: tokens.outputTokens,
    total_tokens: tokens.inputTokens + tokens.outputTokens,
    prompt_tokens_details: { cached_tokens: tokens.cachedTokens },
    completion_tokens_details: { reasoning_tokens: tokens.reasoningTokens },
    ...(vendor === "deepseek"
      ? {
          prompt_cache_hit_tokens: tokens.cachedTokens,
          prompt_cache_miss_tokens: Math.max(0, tokens.inputTokens - tokens.cachedTokens),
        }
      : {}),
  };
}

function streamEvents(reply: Reply, question: Question): readonly StreamEvent[] {
  const frame = {
    id: `chatcmpl-${reply.id}`,
    object: "chat.completion.chunk",
    created: reply.createdSeconds,
    model: reply.servedModel,
    system_fingerprint: "fp_rehearsal",
  };
  const odd = reply.shape === "choices_null" ? null : reply.shape === "choices_empty" ? [] : undefined;
  const chunk = (delta: object, finish: string | null, more: object = {}): string =>
    data({
      ...frame,
      choices: odd === undefined ? [{ index: 0, delta, logprobs: null, finish_reason: finish }] : odd,
      ...more,
    });
  const field = reply.finish === "refused" && question.vendor === "openai" ? "refusal" : "content";
  const tokens = reply.shape === "no_usage" ? {} : { usage: usage(reply, question) };
  const isDeepseek = question.vendor === "deepseek";
  return [
    { wire: chunk({ role: "assistant", content: "" }, null), isDelta: false },
    ...(showsReasoning(question) ? piecesOf(reply.reasoning) : []).map((piece) => ({
      wire: chunk({ reasoning_content: piece }, null),
      isDelta: true,
    })),
    ...piecesOf(reply.text).map((piece) => ({ wire: chunk({ [field]: piece }, null), isDelta: true })),
    { wire: chunk({}, finishReason(reply), isDeepseek ? tokens : {}), isDelta: false },
    ...(question.streamsUsage && !isDeepseek
      ? [{ wire: data({ ...frame, choices: [], ...tokens }), isDelta: false }]
      : []),
    { wire: "data: [DONE]\n\n", isDelta: false },
  ];
}

function data(body: unknown): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}
