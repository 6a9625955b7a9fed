import type { Dialect, Question, Reply, StreamEvent, Vendor } from "./dialect.ts";
import { alwaysReasons } from "./openai-chat.ts";
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

/** OpenAI's Responses API; its stream ends without `[DONE]`. SOURCE: types of openai 6.49.0. */
export const openaiResponses: Dialect = {
  name: "responses",
  read: readQuestion,
  body: (reply, question) => response(reply, question, outputItems(reply), status(reply)),
  events: streamEvents,
  errorEvent: (failure) => {
    const error = asObject(asObject(failure.body)["error"]);
    return event("error", { code: error["code"] ?? null, message: error["message"] ?? "", param: null }, 0);
  },
};

function readQuestion(body: unknown, vendor: Vendor): Question | string {
  const request = asObject(body);
  const model = asText(request["model"]);
  if (model === null) return "Missing required parameter: 'model'.";
  const input = request["input"];
  const items = typeof input === "string" ? [{ role: "user", content: input }] : asList(input).map(asObject);
  if (items.length === 0) return "Missing required parameter: 'input'.";
  const isSystem = (role: unknown): boolean => role === "system" || role === "developer";
  const said = items
    .filter((item) => !isSystem(item["role"]) && item["content"] !== undefined)
    .map((item) => ({
      role: item["role"] === "assistant" ? ("assistant" as const) : ("user" as const),
      content: contentText(item["content"]),
    }));
  const system = [
    asText(request["instructions"]) ?? "",
    ...items.filter((item) => isSystem(item["role"])).map((item) => contentText(item["content"])),
  ]
    .filter((text) => text !== "")
    .join("\n");
  const effort = asText(asObject(request["reasoning"])["effort"]);
  return {
    vendor,
    model,
    system,
    messages: said,
    maxTokens: asNumber(request["max_output_tokens"]),
    stream: request["stream"] === true,
    thinks: effort === null ? alwaysReasons(model) : effort !== "none",
    streamsUsage: true,
    parameters: parameterPaths(body),
    inputTokens: inputTokensOf(system, said),
  };
}

function status(reply: Reply): "completed" | "incomplete" {
  return incompleteReason(reply) === null ? "completed" : "incomplete";
}

function incompleteReason({ finish, nativeFinish }: Reply): string | null {
  if (nativeFinish !== null) return nativeFinish;
  if (finish === "length" || finish === "context") return "max_output_tokens";
  return finish === "safety" || finish === "recitation" || finish === "prohibited" ? "content_filter" : null;
}

function outputItems(reply: Reply): unknown {
  if (reply.shape === "choices_null") return null;
  if (reply.shape === "choices_empty") return [];
  return [
    ...reasoningItems(reply),
    ...(reply.text === "" ? [] : [messageItem(reply, [contentPart(reply, reply.text)])]),
  ];
}

function reasoningItems(reply: Reply) {
  return reply.usage.reasoningTokens > 0 ? [{ id: `rs_${reply.id}`, type: "reasoning", summary: [] }] : [];
}

function messageItem(reply: Reply, content: readonly unknown[], state: string = status(reply)) {
  return { id: `msg_${reply.id}`, type: "message", role: "assistant", status: state, content };
}

function contentPart(reply: Reply, text: string) {
  return reply.finish === "refused"
    ? { type: "refusal", refusal: text }
    : { type: "output_text", text, annotations: [], logprobs: [] };
}

function response(reply: Reply, question: Question, output: unknown, state: string) {
  const reason = state === "incomplete" ? incompleteReason(reply) : null;
  return {
    id: `resp_${reply.id}`,
    object: "response",
    created_at: reply.createdSeconds,
    status: state,
    error: null,
    incomplete_details: reason === null ? null : { reason },
    instructions: question.system === "" ? null : question.system,
    max_output_tokens: question.maxTokens,
    metadata: {},
    model: reply.servedModel,
    output,
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: "auto",
    tools: [],
    top_p: null,
    ...(state === "in_progress" || reply.shape === "no_usage" ? {} : { usage: usage(reply) }),
  };
}

function usage({ usage: tokens }: Reply) {
  return {
    input_tokens: tokens.inputTokens,
    input_tokens_details: { cached_tokens: tokens.cachedTokens, cache_write_tokens: 0 },
    output_tokens: tokens.outputTokens,
    output_tokens_details: { reasoning_tokens: tokens.reasoningTokens },
    total_tokens: tokens.inputTokens + tokens.outputTokens,
  };
}

function streamEvents(reply: Reply, question: Question): readonly StreamEvent[] {
  const started = { response: response(reply, question, [], "in_progress") };
  const hasText = reply.text !== "" && reply.shape !== "choices_null" && reply.shape !== "choices_empty";
  const steps: readonly { readonly type: string; readonly fields: object; readonly isDelta?: true }[] = [
    { type: "response.created", fields: started },
    { type: "response.in_progress", fields: started },
    ...reasoningItems(reply).flatMap((item) => [
      { type: "response.output_item.added", fields: { output_index: 0, item } },
      { type: "response.output_item.done", fields: { output_index: 0, item } },
    ]),
    ...(hasText ? messageSteps(reply) : []),
    {
      type: `response.${status(reply)}`,
      fields: { response: response(reply, question, outputItems(reply), status(reply)) },
    },
  ];
  return steps.map(({ type, fields, isDelta }, number) => ({
    wire: event(type, fields, number),
    isDelta: isDelta === true,
  }));
}

function messageSteps(reply: Reply) {
  const kind = reply.finish === "refused" ? "refusal" : "output_text";
  const place = { item_id: `msg_${reply.id}`, output_index: reasoningItems(reply).length, content_index: 0 };
  const { output_index } = place;
  const whole = contentPart(reply, reply.text);
  return [
    { type: "response.output_item.added", fields: { output_index, item: messageItem(reply, [], "in_progress") } },
    { type: "response.content_part.added", fields: { ...place, part: contentPart(reply, "") } },
    ...piecesOf(reply.text).map((delta) => ({
      type: `response.${kind}.delta`,
      fields: { ...place, delta, ...(kind === "output_text" ? { logprobs: [] } : {}) },
      isDelta: true as const,
    })),
    {
      type: `response.${kind}.done`,
      fields: { ...place, ...(kind === "refusal" ? { refusal: reply.text } : { text: reply.text, logprobs: [] }) },
    },
    { type: "response.content_part.done", fields: { ...place, part: whole } },
    { type: "response.output_item.done", fields: { output_index, item: messageItem(reply, [whole]) } },
  ];
}

function event(type: string, fields: object, number: number): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...fields })}\n\n`;
}
