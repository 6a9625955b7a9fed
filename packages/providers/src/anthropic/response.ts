import type { FinishReason } from "@hallumaze/protocol";
import { z } from "zod";

import { type ProviderUsage, type Reading, type ReplyFacts, unknownUsage } from "../attempt.ts";
import type { ReplyBody } from "../reply-body.ts";

const count = z.number().nullish();
const usageSchema = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  output_tokens_details: z.looseObject({ thinking_tokens: count }).nullish(),
});
const blockSchema = z.looseObject({ type: z.string(), text: z.string().optional(), thinking: z.string().optional() });
const messageSchema = z.looseObject({
  model: z.string().nullish(),
  content: z.array(blockSchema),
  stop_reason: z.string().nullish(),
  usage: usageSchema.nullish(),
});
const eventSchema = z.looseObject({
  type: z.string(),
  message: z.looseObject({ model: z.string().nullish(), usage: usageSchema.nullish() }).optional(),
  content_block: blockSchema.optional(),
  delta: z
    .looseObject({ text: z.string().optional(), thinking: z.string().optional(), stop_reason: z.string().nullish() })
    .optional(),
  usage: usageSchema.nullish(),
});

type RawUsage = z.infer<typeof usageSchema>;

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "refusal",
};

/** Reads a reply of the Messages interface, whole or streamed. */
export function readAnthropic(body: ReplyBody): Reading {
  if (body.kind === "events") return readStream(body.events.map((event) => eventSchema.safeParse(event.json).data));
  const message = messageSchema.safeParse(body.kind === "json" ? body.value : undefined);
  if (!message.success) return { ...facts(null, null, null), ...unparseable(body) };
  const { model, content, stop_reason: reason, usage } = message.data;
  const text = content.filter(({ type }) => type === "text").map((block) => block.text ?? "");
  const thoughts = content.filter(({ type }) => type === "thinking").map((block) => block.thinking ?? "");
  return {
    ...facts(model ?? null, reason ?? null, usage ?? null),
    kind: "reply",
    text: text.join(""),
    reasoning: thoughts.length === 0 ? null : thoughts.join("\n"),
    finishReason: finish(reason ?? null),
  };
}

function readStream(events: readonly (z.infer<typeof eventSchema> | undefined)[]): Reading {
  let model: string | null = null;
  let reason: string | null = null;
  let usage: RawUsage = {};
  let text = "";
  let thoughts = "";
  let isComplete = false;
  for (const event of events) {
    if (event === undefined) continue;
    model ??= event.message?.model ?? null;
    usage = { ...usage, ...present(event.message?.usage), ...present(event.usage) };
    text += (event.content_block?.text ?? "") + (event.delta?.text ?? "");
    thoughts += (event.content_block?.thinking ?? "") + (event.delta?.thinking ?? "");
    reason = event.delta?.stop_reason ?? reason;
    if (event.type === "message_stop") isComplete = true;
  }
  const known = facts(model, reason, usage);
  if (!isComplete || reason === null) {
    return { ...known, kind: "broken", outcome: "transport", message: "the stream ended without message_stop" };
  }
  return { ...known, kind: "reply", text, reasoning: thoughts === "" ? null : thoughts, finishReason: finish(reason) };
}

function finish(reason: string | null): FinishReason | null {
  return reason === null ? null : (finishReasons[reason] ?? "other");
}

function facts(model: string | null, reason: string | null, usage: RawUsage | null): ReplyFacts {
  return { servedModel: model, servedBy: null, nativeFinishReason: reason, usage: readUsage(usage) };
}

/** Anthropic counts cached tokens beside `input_tokens`; here they are a part of the input, as with the others. */
function readUsage(usage: RawUsage | null): ProviderUsage {
  if (usage?.input_tokens === undefined || usage.input_tokens === null) return unknownUsage;
  const cached = usage.cache_read_input_tokens ?? 0;
  const written = usage.cache_creation_input_tokens ?? 0;
  return {
    inputTokens: usage.input_tokens + cached + written,
    outputTokens: usage.output_tokens ?? null,
    cachedTokens: cached,
    reasoningTokens: usage.output_tokens_details?.thinking_tokens ?? null,
    cacheWriteTokens: written,
  };
}

/** A later event repeats some counts as null: those must not wipe what the first one told. */
function present(usage: RawUsage | null | undefined): RawUsage {
  return Object.fromEntries(Object.entries(usage ?? {}).filter(([, value]) => value !== null && value !== undefined));
}

function unparseable(body: ReplyBody): { kind: "broken"; outcome: "unparseable_body"; message: string } {
  const what = body.kind === "nothing" ? "an empty body" : "no message of Anthropic's format";
  return { kind: "broken", outcome: "unparseable_body", message: `status 200 with ${what}` };
}
