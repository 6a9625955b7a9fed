import type { FinishReason } from "@hallumaze/protocol";
import { z } from "zod";

import { type ProviderUsage, type Reading, type ReplyFacts, unknownUsage } from "../attempt.ts";
import { findError } from "../classify-failure.ts";
import type { ReplyBody } from "../reply-body.ts";

const count = z.number().nullish();
const usageSchema = z.looseObject({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_cache_hit_tokens: count,
  prompt_tokens_details: z.looseObject({ cached_tokens: count, cache_write_tokens: count }).nullish(),
  completion_tokens_details: z.looseObject({ reasoning_tokens: count }).nullish(),
});
const partsSchema = z.array(z.looseObject({ type: z.string().nullish(), text: z.string().nullish() }));
const messageSchema = z.looseObject({
  content: z.union([z.string(), partsSchema]).nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish().catch(null),
});
const chatSchema = z.looseObject({
  model: z.string().nullish(),
  system_fingerprint: z.string().nullish(),
  provider: z.string().nullish(),
  choices: z.array(
    z.looseObject({
      message: messageSchema.nullish(),
      delta: messageSchema.nullish(),
      finish_reason: z.string().nullish(),
      error: z.unknown().optional(),
    }),
  ),
  usage: usageSchema.nullish(),
});

type Chat = z.infer<typeof chatSchema>;
type Message = z.infer<typeof messageSchema>;

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  eos: "stop",
  length: "length",
  max_tokens: "length",
  refusal: "refusal",
};

/** What a choice said, whole or put together from its pieces. */
interface Said {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly finishReason: string | null;
  readonly error: unknown;
}

/** Reads a reply of Chat Completions, whole or streamed, from OpenAI, DeepSeek or a compatible server. */
export function readChat(body: ReplyBody): Reading {
  if (body.kind === "events") return readStream(body);
  const chat = chatSchema.safeParse(body.kind === "json" ? body.value : undefined);
  if (!chat.success) {
    const what = body.kind === "nothing" ? "an empty body" : "no list of choices";
    const message = `status 200 with ${what}`;
    return { ...factsOf([], null), kind: "broken", outcome: "unparseable_body", message };
  }
  const choice = chat.data.choices[0];
  return conclude(factsOf([chat.data], choice?.finish_reason ?? null), {
    ...pieces([choice?.message ?? choice?.delta]),
    finishReason: choice?.finish_reason ?? null,
    error: choice?.error,
  });
}

/** A stream is complete with its finish reason; `[DONE]` alone also ends streams whose upstream was cut. */
function readStream(body: ReplyBody & { readonly kind: "events" }): Reading {
  const chunks = body.events.flatMap((event) => chatSchema.safeParse(event.json).data ?? []);
  const choices = chunks.flatMap((chunk) => chunk.choices.slice(0, 1));
  const finishReason = choices.findLast((choice) => typeof choice.finish_reason === "string")?.finish_reason ?? null;
  const facts = factsOf(chunks, finishReason);
  const error = choices.find((choice) => choice.error !== undefined && choice.error !== null)?.error;
  if (finishReason === null && error === undefined) {
    const message = "the stream ended without a finish reason";
    return { ...facts, kind: "broken", outcome: "transport", message };
  }
  return conclude(facts, { ...pieces(choices.map((choice) => choice.delta ?? choice.message)), finishReason, error });
}

function conclude(facts: ReplyFacts, said: Said): Reading {
  const error = said.error === undefined || said.error === null ? null : findError({ error: said.error });
  if (error !== null) return { ...facts, kind: "error", error };
  const { finishReason: native } = said;
  if (native === "content_filter") {
    return {
      ...facts,
      kind: "filtered",
      detail: "answer:content_filter",
      message: "the answer was held back (content_filter)",
    };
  }
  if (native === "error" || native === "insufficient_system_resource") {
    const status = native === "error" ? 500 : 529;
    const message = `the model stopped with finish reason ${native}`;
    return { ...facts, kind: "error", error: { status, message, parameter: null, words: [native], text: "" } };
  }
  const isRefusal = said.refusal !== "" && said.text === "";
  return {
    ...facts,
    kind: "reply",
    text: isRefusal ? said.refusal : said.text,
    reasoning: said.reasoning === "" ? null : said.reasoning,
    finishReason: isRefusal ? "refusal" : native === null ? null : (finishReasons[native] ?? "other"),
  };
}

function pieces(messages: readonly (Message | null | undefined)[]): Pick<Said, "text" | "reasoning" | "refusal"> {
  const join = (pick: (message: Message) => string | null | undefined): string =>
    messages.map((message) => (message ? (pick(message) ?? "") : "")).join("");
  return {
    text: join(({ content }) => textOf(content)),
    // Servers that send both send the same thoughts twice.
    reasoning: join((message) => message.reasoning_content) || join((message) => message.reasoning),
    refusal: join((message) => message.refusal),
  };
}

function textOf(content: Message["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => (part.type === "text" || !part.type ? (part.text ?? "") : "")).join("");
}

function factsOf(chunks: readonly Chat[], finishReason: string | null): ReplyFacts {
  const find = (pick: (chunk: Chat) => string | null | undefined): string | null =>
    chunks.map(pick).find((value) => typeof value === "string" && value !== "") ?? null;
  return {
    servedModel: find((chunk) => chunk.model),
    servedBy: find((chunk) => chunk.provider) ?? find((chunk) => chunk.system_fingerprint),
    nativeFinishReason: finishReason,
    usage: readUsage(chunks.findLast((chunk) => chunk.usage)?.usage),
  };
}

function readUsage(usage: Chat["usage"]): ProviderUsage {
  if (!usage) return unknownUsage;
  return {
    inputTokens: usage.prompt_tokens ?? null,
    outputTokens: usage.completion_tokens ?? null,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? null,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? null,
    cacheWriteTokens: usage.prompt_tokens_details?.cache_write_tokens ?? null,
  };
}
