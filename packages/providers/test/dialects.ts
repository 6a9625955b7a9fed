import type { ChatRequest } from "@hallumaze/engine";

import { openProviders, type Providers, type Variables } from "../src/index.ts";
import type { Deadlines } from "../src/recorder.ts";

/** Keys that must be found nowhere but in the request's own header. */
export const canaryKeys = {
  ANTHROPIC_API_KEY: "sk-ant-canary-5a1f0c7d9e",
  OPENAI_API_KEY: "sk-canary-b27c4e8f10aa",
  GOOGLE_API_KEY: "AIzaCanary93ee17f2d4",
  DEEPSEEK_API_KEY: "sk-canary-deep-771e0b",
  LOCAL_KEY: "sk-canary-local-4410cc",
} as const;

/** One wire format, with what a test needs to speak both sides of it. */
export interface Dialect {
  readonly name: string;
  readonly model: Pick<ChatRequest, "provider" | "model"> & Partial<ChatRequest>;
  readonly path: string;
  readonly key: string;
  /** A complete reply with this text. */
  readonly reply: (text: string) => unknown;
  /** A complete streamed reply with these pieces of text; the last element is its finish frame. */
  readonly events: (pieces: readonly string[]) => readonly string[];
  /** An error body in the vendor's shape. */
  readonly error: (status: number, message: string) => unknown;
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { readonly type: string }): string => `event: ${value.type}\n${data(value)}`;

const chat = {
  path: "/v1/chat/completions",
  reply: (text: string) => ({
    model: "served-1",
    system_fingerprint: "fp_1",
    choices: [{ message: { role: "assistant", content: text }, finish_reason: "stop" }],
    usage: {
      prompt_tokens: 30,
      completion_tokens: 12,
      prompt_tokens_details: { cached_tokens: 8 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
  }),
  events: (pieces: readonly string[]) => [
    ...pieces.map((content) => data({ model: "served-1", choices: [{ delta: { content }, finish_reason: null }] })),
    data({ choices: [{ delta: {}, finish_reason: "stop" }] }) +
      data({ choices: [], usage: { prompt_tokens: 30, completion_tokens: 12 } }) +
      "data: [DONE]\n\n",
  ],
  error: (status: number, message: string) => ({
    error: { message, type: status === 429 ? "requests" : "server_error", code: null, param: null },
  }),
};

const response = (text: string): unknown => ({
  object: "response",
  status: "completed",
  error: null,
  incomplete_details: null,
  model: "served-1",
  output: [
    { type: "reasoning", summary: [{ type: "summary_text", text: "thinking" }] },
    { type: "message", content: [{ type: "output_text", text }] },
  ],
  usage: {
    input_tokens: 30,
    output_tokens: 12,
    input_tokens_details: { cached_tokens: 8 },
    output_tokens_details: { reasoning_tokens: 5 },
  },
});

/** Every wire format that the providers speak. */
export const dialects: readonly Dialect[] = [
  {
    name: "anthropic",
    model: { provider: "anthropic", model: "claude-haiku-4-5-20251001" },
    path: "/v1/messages",
    key: canaryKeys.ANTHROPIC_API_KEY,
    reply: (text) => ({
      type: "message",
      model: "served-1",
      content: [{ type: "text", text }],
      stop_reason: "end_turn",
      usage: {
        input_tokens: 20,
        cache_read_input_tokens: 8,
        cache_creation_input_tokens: 2,
        output_tokens: 12,
        output_tokens_details: { thinking_tokens: 5 },
      },
    }),
    events: (pieces) => [
      named({
        type: "message_start",
        message: { model: "served-1", usage: { input_tokens: 30, output_tokens: 1 } },
      } as never) +
        named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } } as never) +
        named({ type: "ping" }),
      ...pieces.map((text) =>
        named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } } as never),
      ),
      named({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 12 } } as never) +
        named({ type: "message_stop" }),
    ],
    error: (status, message) => ({
      type: "error",
      error: { type: status === 429 ? "rate_limit_error" : status === 529 ? "overloaded_error" : "api_error", message },
    }),
  },
  { name: "openai chat", model: { provider: "openai", model: "gpt-4o" }, key: canaryKeys.OPENAI_API_KEY, ...chat },
  {
    name: "openai responses",
    model: { provider: "openai", model: "o1-pro" },
    path: "/v1/responses",
    key: canaryKeys.OPENAI_API_KEY,
    reply: response,
    events: (pieces) => [
      ...pieces.map((delta) => named({ type: "response.output_text.delta", delta } as never)),
      named({ type: "response.completed", response: response(pieces.join("")) } as never),
    ],
    error: chat.error,
  },
  {
    name: "google",
    model: { provider: "google", model: "gemini-2.5-flash" },
    path: "/v1beta/models/gemini-2.5-flash:generateContent",
    key: canaryKeys.GOOGLE_API_KEY,
    reply: (text) => ({
      modelVersion: "served-1",
      candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }],
      usageMetadata: {
        promptTokenCount: 30,
        candidatesTokenCount: 7,
        thoughtsTokenCount: 5,
        cachedContentTokenCount: 8,
      },
    }),
    events: (pieces) => [
      ...pieces.map((text) => data({ modelVersion: "served-1", candidates: [{ content: { parts: [{ text }] } }] })),
      data({
        candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 12 },
      }),
    ],
    error: (status, message) => ({
      error: { code: status, message, status: status === 429 ? "RESOURCE_EXHAUSTED" : "INTERNAL" },
    }),
  },
  {
    name: "deepseek",
    model: { provider: "deepseek", model: "deepseek-flash" },
    key: canaryKeys.DEEPSEEK_API_KEY,
    ...chat,
  },
  {
    name: "compatible server",
    model: { provider: "openai", model: "llama3.1:70b", baseUrl: "/v1", keyEnv: "LOCAL_KEY" },
    key: canaryKeys.LOCAL_KEY,
    ...chat,
  },
];

/** The dialect of that name. */
export function dialectOf(name: string): Dialect {
  const found = dialects.find((dialect) => dialect.name === name);
  if (found === undefined) throw new Error(`no dialect "${name}"`);
  return found;
}

/** The environment that points every provider at one server. */
export function variablesFor(url: string): Variables {
  return {
    ...canaryKeys,
    ANTHROPIC_BASE_URL: url,
    GOOGLE_BASE_URL: url,
    OPENAI_BASE_URL: `${url}/v1`,
    DEEPSEEK_BASE_URL: `${url}/v1`,
  };
}

/** Opens the providers for one test; disposing closes them. */
export function openFor(url: string, deadlines: Partial<Deadlines> = {}): Providers & AsyncDisposable {
  const providers = openProviders({ variables: variablesFor(url), deadlines });
  return { ...providers, [Symbol.asyncDispose]: providers.close };
}

/** A request in a dialect; a base URL that begins with `/` stands on the server. */
export function ask(dialect: Dialect, url: string, changes: Partial<ChatRequest> = {}): ChatRequest {
  const request: ChatRequest = {
    baseUrl: null,
    keyEnv: null,
    system: "You walk mazes.",
    messages: [{ role: "user", content: "Find the exit." }],
    maxTokens: 2500,
    temperature: 0,
    params: {},
    repeat: 0,
    ...dialect.model,
    ...changes,
  };
  return request.baseUrl?.startsWith("/") === true ? { ...request, baseUrl: url + request.baseUrl } : request;
}

/** A signal that never fires. */
export const never = new AbortController().signal;
