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

/** Anthropic's Messages API. SOURCE: types of @anthropic-ai/sdk 1.14.0. */
export const anthropicMessages: Dialect = {
  name: "messages",
  read: readQuestion,
  body: (reply) => message(reply, blocks(reply), stopReason(reply), usage(reply)),
  events: streamEvents,
  errorEvent: (failure) => event("error", failure.body),
};

const stopReasons: Readonly<Record<Finish, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  refused: "refusal",
  safety: "refusal",
  recitation: "refusal",
  prohibited: "refusal",
  paused: "pause_turn",
  context: "model_context_window_exceeded",
  other: "end_turn",
};

function readQuestion(body: unknown, vendor: Vendor): Question | string {
  const request = asObject(body);
  const model = asText(request["model"]);
  const messages = asList(request["messages"]).map(asObject);
  const maxTokens = asNumber(request["max_tokens"]);
  if (model === null) return "model: Field required";
  if (maxTokens === null) return "max_tokens: Field required";
  if (messages.length === 0) return "messages: at least one message is required";
  const said = messages.map(({ role, content }) => ({
    role: role === "assistant" ? ("assistant" as const) : ("user" as const),
    content: contentText(content),
  }));
  const system = contentText(request["system"]);
  const thinking = asText(asObject(request["thinking"])["type"]);
  return {
    vendor,
    model,
    system,
    messages: said,
    maxTokens,
    stream: request["stream"] === true,
    thinks: thinking === "enabled" || thinking === "adaptive",
    streamsUsage: true,
    parameters: parameterPaths(body),
    inputTokens: inputTokensOf(system, said),
  };
}

function blocks({ text, reasoning, shape }: Reply): unknown {
  if (shape === "choices_empty") return [];
  if (shape === "choices_null") return null;
  return [
    ...(reasoning === "" ? [] : [{ type: "thinking", thinking: reasoning, signature: "c2lnbmF0dXJl" }]),
    ...(text === "" ? [] : [{ type: "text", text, citations: null }]),
  ];
}

function message(reply: Reply, content: unknown, reason: string | null, tokens: unknown) {
  return {
    id: `msg_${reply.id}`,
    type: "message",
    role: "assistant",
    model: reply.servedModel,
    content,
    stop_reason: reason,
    stop_sequence: null,
    stop_details: stopDetails(reason),
    ...(reply.shape === "no_usage" ? {} : { usage: tokens }),
  };
}

function stopReason(reply: Reply): string {
  return reply.nativeFinish ?? stopReasons[reply.finish];
}

/** `input_tokens` are those after the last cache mark: the cached ones stand apart. */
function usage({ usage: tokens }: Reply) {
  return {
    input_tokens: Math.max(0, tokens.inputTokens - tokens.cachedTokens),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: tokens.cachedTokens,
    output_tokens: tokens.outputTokens,
    output_tokens_details: { thinking_tokens: tokens.reasoningTokens },
    service_tier: "standard",
  };
}

function streamEvents(reply: Reply): readonly StreamEvent[] {
  const parts = [
    ...(reply.reasoning === "" ? [] : [{ kind: "thinking" as const, text: reply.reasoning }]),
    ...(reply.text === "" ? [] : [{ kind: "text" as const, text: reply.text }]),
  ];
  const shown = reply.shape === "choices_empty" || reply.shape === "choices_null" ? [] : parts;
  const tokens = usage(reply);
  return [
    plain("message_start", { message: message(reply, [], null, { ...tokens, output_tokens: 1 }) }),
    plain("ping", {}),
    ...shown.flatMap((part, index) => blockEvents(part, index)),
    plain("message_delta", {
      delta: { stop_reason: stopReason(reply), stop_sequence: null, stop_details: stopDetails(stopReason(reply)) },
      ...(reply.shape === "no_usage" ? {} : { usage: tokens }),
    }),
    plain("message_stop", {}),
  ];
}

function stopDetails(reason: string | null): object | null {
  return reason === "refusal" ? { type: "refusal", category: null, explanation: null } : null;
}

function blockEvents(part: { kind: "thinking" | "text"; text: string }, index: number): readonly StreamEvent[] {
  const isText = part.kind === "text";
  const empty = isText
    ? { type: "text", text: "", citations: null }
    : { type: "thinking", thinking: "", signature: "" };
  return [
    plain("content_block_start", { index, content_block: empty }),
    ...piecesOf(part.text).map((piece) => ({
      wire: event("content_block_delta", {
        type: "content_block_delta",
        index,
        delta: isText ? { type: "text_delta", text: piece } : { type: "thinking_delta", thinking: piece },
      }),
      isDelta: true,
    })),
    ...(isText ? [] : [plain("content_block_delta", { index, delta: { type: "signature_delta", signature: "c2ln" } })]),
    plain("content_block_stop", { index }),
  ];
}

function plain(type: string, fields: Readonly<Record<string, unknown>>): StreamEvent {
  return { wire: event(type, { type, ...fields }), isDelta: false };
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
