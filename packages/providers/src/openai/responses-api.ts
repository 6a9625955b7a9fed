import { z } from "zod";

import { type ProviderUsage, type Reading, type ReplyFacts, unknownUsage } from "../attempt.ts";
import { findError } from "../classify-failure.ts";
import type { ReplyBody } from "../reply-body.ts";

const count = z.number().nullish();
const partSchema = z.looseObject({ type: z.string(), text: z.string().nullish(), refusal: z.string().nullish() });
const responseSchema = z.looseObject({
  model: z.string().nullish(),
  status: z.string().nullish(),
  incomplete_details: z.looseObject({ reason: z.string().nullish() }).nullish(),
  output: z.array(
    z.looseObject({
      type: z.string(),
      content: z.array(partSchema).nullish(),
      summary: z.array(partSchema).nullish(),
    }),
  ),
  usage: z
    .looseObject({
      input_tokens: count,
      output_tokens: count,
      input_tokens_details: z.looseObject({ cached_tokens: count, cache_write_tokens: count }).nullish(),
      output_tokens_details: z.looseObject({ reasoning_tokens: count }).nullish(),
    })
    .nullish(),
});
const eventSchema = z.looseObject({ type: z.string(), response: z.unknown().optional() });

type Response = z.infer<typeof responseSchema>;

/** The events that end a stream; each carries the whole response. */
const terminal = new Set(["response.completed", "response.incomplete", "response.failed"]);
const noFacts: ReplyFacts = { servedModel: null, servedBy: null, nativeFinishReason: null, usage: unknownUsage };

/** Reads a reply of OpenAI's Responses interface, whole or streamed. */
export function readResponse(body: ReplyBody): Reading {
  if (body.kind !== "events") return readWhole(body.kind === "json" ? body.value : undefined, body.kind === "nothing");
  const events = body.events.flatMap((event) => eventSchema.safeParse(event.json).data ?? []);
  const last = events.find((event) => terminal.has(event.type));
  if (last !== undefined) return readWhole(last.response, false);
  return { ...noFacts, kind: "broken", outcome: "transport", message: "the stream ended without a completed response" };
}

function readWhole(value: unknown, isEmpty: boolean): Reading {
  const error = findError(value);
  if (error !== null) return { ...noFacts, kind: "error", error };
  const read = responseSchema.safeParse(value);
  if (!read.success) {
    const message = `status 200 with ${isEmpty ? "an empty body" : "no response object"}`;
    return { ...noFacts, kind: "broken", outcome: "unparseable_body", message };
  }
  const response = read.data;
  const native = response.incomplete_details?.reason ?? response.status ?? null;
  const facts = {
    ...noFacts,
    servedModel: response.model ?? null,
    nativeFinishReason: native,
    usage: usageOf(response),
  };
  if (native === "content_filter") {
    return {
      ...facts,
      kind: "filtered",
      detail: "answer:content_filter",
      message: "the answer was held back (content_filter)",
    };
  }
  const parts = response.output.filter(({ type }) => type === "message").flatMap(({ content }) => content ?? []);
  const text = parts.map((part) => (part.type === "output_text" ? (part.text ?? "") : "")).join("");
  const refusal = parts.map((part) => part.refusal ?? "").join("");
  const thoughts = response.output
    .filter(({ type }) => type === "reasoning")
    .flatMap(({ content, summary }) => [...(summary ?? []), ...(content ?? [])])
    .map((part) => part.text ?? "");
  const isRefusal = refusal !== "" && text === "";
  return {
    ...facts,
    kind: "reply",
    text: isRefusal ? refusal : text,
    reasoning: thoughts.length === 0 ? null : thoughts.join("\n"),
    finishReason: isRefusal ? "refusal" : finish(native),
  };
}

function finish(native: string | null): "stop" | "length" | "other" | null {
  if (native === "completed") return "stop";
  if (native === "max_output_tokens" || native === "max_tokens") return "length";
  return native === null ? null : "other";
}

function usageOf({ usage }: Response): ProviderUsage {
  if (!usage) return unknownUsage;
  return {
    inputTokens: usage.input_tokens ?? null,
    outputTokens: usage.output_tokens ?? null,
    cachedTokens: usage.input_tokens_details?.cached_tokens ?? null,
    reasoningTokens: usage.output_tokens_details?.reasoning_tokens ?? null,
    cacheWriteTokens: usage.input_tokens_details?.cache_write_tokens ?? null,
  };
}
