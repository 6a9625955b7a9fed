import type { ChatRequest } from "@hallumaze/engine";

import type { Draft } from "../attempt.ts";
import { bareSchema, findCapabilities, readThinking } from "../capabilities.ts";

const ownParameters = new Set(["stream", "api"]);

/**
 * A Chat Completions request, or one of Responses where the model wants it (`params.api` overrides). The token limit
 * goes by the name that the family takes: o-series and later refuse `max_tokens`, compatible servers know no other.
 * SOURCE: openai 6.49.0 types; developers.openai.com (read 2026-11-29).
 */
export function draftOpenAi(request: ChatRequest): Draft {
  const capabilities = findCapabilities(request);
  const { params } = request;
  const api = params["api"] === "responses" || params["api"] === "chat" ? params["api"] : capabilities.api;
  const { streamAbove, temperatureMax } = capabilities;
  const stream = params["stream"] === true || (streamAbove !== null && request.maxTokens > streamAbove);
  const temperature = temperatureMax === null ? null : request.temperature;
  const { budget, mode, others } = readThinking(params);
  const further = Object.fromEntries(
    Object.entries(others)
      .filter(([name]) => !ownParameters.has(name))
      .map(([name, value]) => [snake(name), value]),
  );
  const shared = {
    model: request.model,
    ...(temperature === null ? {} : { temperature }),
    // Not of OpenAI's interface: DeepSeek's switch, and a budget that some compatible servers take.
    ...(mode === undefined
      ? {}
      : { thinking: typeof mode === "boolean" ? { type: mode ? "enabled" : "disabled" } : { type: mode } }),
    ...(budget === undefined ? {} : { thinking_budget: budget }),
    ...further,
  };
  const body = api === "responses" ? responsesBody(request) : chatBody(request, capabilities.tokenParameter, stream);
  return {
    body: { ...shared, ...body, ...(stream ? { stream: true } : {}) },
    headers: {},
    stream,
    api: api === "responses" ? "responses" : "chat",
  };
}

function chatBody(request: ChatRequest, tokenParameter: string, stream: boolean): Record<string, unknown> {
  const { effort } = readThinking(request.params);
  const limit = tokenParameter === "max_output_tokens" ? "max_completion_tokens" : tokenParameter;
  return {
    messages: conversation(request),
    [limit]: request.maxTokens,
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    ...(request.answerSchema === undefined ? {} : { response_format: answerFormat(request, request.answerSchema) }),
  };
}

/** DeepSeek forces an object, not its shape; its prompt has to say the word JSON, as ours does. */
function answerFormat({ provider }: ChatRequest, schema: object): Record<string, unknown> {
  if (provider === "deepseek") return { type: "json_object" };
  return { type: "json_schema", json_schema: { name: "answer", strict: true, schema: bareSchema(schema) } };
}

function responsesBody(request: ChatRequest): Record<string, unknown> {
  const { effort } = readThinking(request.params);
  return {
    ...(request.system === "" ? {} : { instructions: request.system }),
    input: request.messages.map(({ role, content }) => ({ role, content })),
    max_output_tokens: request.maxTokens,
    // Trials are not to be kept on the vendor's side.
    store: false,
    ...(effort === undefined ? {} : { reasoning: { effort } }),
    ...(request.answerSchema === undefined
      ? {}
      : {
          text: {
            format: { type: "json_schema", name: "answer", strict: true, schema: bareSchema(request.answerSchema) },
          },
        }),
  };
}

/** The system prompt first, word for word the same in every trial: vendors cache by prefix. */
function conversation(request: ChatRequest): readonly { readonly role: string; readonly content: string }[] {
  const messages = request.messages.map(({ role, content }) => ({ role, content }));
  return request.system === "" ? messages : [{ role: "system", content: request.system }, ...messages];
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
