import type { FinishReason } from "@hallumaze/protocol";
import { z } from "zod";

import { type ProviderUsage, type Reading, type ReplyFacts, unknownUsage } from "../attempt.ts";
import type { ReplyBody } from "../reply-body.ts";

const count = z.number().nullish();
const replySchema = z.looseObject({
  candidates: z
    .array(
      z.looseObject({
        content: z
          .looseObject({
            parts: z.array(z.looseObject({ text: z.string().nullish(), thought: z.boolean().nullish() })).nullish(),
          })
          .nullish(),
        finishReason: z.string().nullish(),
        finishMessage: z.string().nullish(),
      }),
    )
    .optional(),
  promptFeedback: z.looseObject({ blockReason: z.string().nullish() }).nullish(),
  modelVersion: z.string().nullish(),
  usageMetadata: z
    .looseObject({
      promptTokenCount: count,
      candidatesTokenCount: count,
      thoughtsTokenCount: count,
      cachedContentTokenCount: count,
    })
    .nullish(),
});

type Reply = z.infer<typeof replySchema>;

const finishReasons: Readonly<Record<string, FinishReason>> = { STOP: "stop", MAX_TOKENS: "length" };
/** Reasons for which an answer is held back or withdrawn. */
const heldBack = /^(SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED_CONTENT|SPII|IMAGE_.*|MODEL_ARMOR|OTHER)$/;

/** Reads a reply of generateContent, whole or streamed. */
export function readGoogle(body: ReplyBody): Reading {
  if (body.kind === "events") {
    const chunks = body.events
      .map((event) => replySchema.safeParse(event.json).data)
      .filter((chunk) => chunk !== undefined);
    return conclude(chunks, true);
  }
  const reply = replySchema.safeParse(body.kind === "json" ? body.value : undefined);
  if (reply.success && (reply.data.candidates ?? reply.data.promptFeedback ?? reply.data.usageMetadata)) {
    return conclude([reply.data], false);
  }
  const message = `status 200 with ${body.kind === "nothing" ? "an empty body" : "no candidates"}`;
  return { ...factsOf([], null), kind: "broken", outcome: "unparseable_body", message };
}

function conclude(chunks: readonly Reply[], isStream: boolean): Reading {
  const candidates = chunks.flatMap((chunk) => chunk.candidates?.slice(0, 1) ?? []);
  const native = candidates.findLast(({ finishReason }) => finishReason)?.finishReason ?? null;
  const facts = factsOf(chunks, native);
  const blocked = chunks.map(({ promptFeedback }) => promptFeedback?.blockReason).find(Boolean);
  if (blocked) {
    return {
      ...facts,
      nativeFinishReason: blocked,
      kind: "filtered",
      detail: `prompt:${blocked}`,
      message: `the prompt was blocked (${blocked})`,
    };
  }
  if (native !== null && heldBack.test(native)) {
    const said = candidates.find(({ finishMessage }) => finishMessage)?.finishMessage;
    const message = `the answer was held back (${native})${said ? `: ${said}` : ""}`;
    return { ...facts, kind: "filtered", detail: `answer:${native}`, message };
  }
  if (isStream && native === null) {
    return { ...facts, kind: "broken", outcome: "transport", message: "the stream ended without a finish reason" };
  }
  const parts = candidates.flatMap(({ content }) => content?.parts ?? []);
  const join = (isThought: boolean): string =>
    parts.map(({ text, thought }) => ((thought === true) === isThought ? (text ?? "") : "")).join("");
  const thoughts = join(true);
  return {
    ...facts,
    kind: "reply",
    text: join(false),
    reasoning: thoughts === "" ? null : thoughts,
    finishReason: native === null ? null : (finishReasons[native] ?? "other"),
  };
}

function factsOf(chunks: readonly Reply[], native: string | null): ReplyFacts {
  return {
    servedModel: chunks.map(({ modelVersion }) => modelVersion).find(Boolean) ?? null,
    servedBy: null,
    nativeFinishReason: native,
    usage: readUsage(chunks.findLast(({ usageMetadata }) => usageMetadata)?.usageMetadata),
  };
}

/** Google counts thoughts beside the candidate's tokens; both are billed as output. */
function readUsage(usage: Reply["usageMetadata"]): ProviderUsage {
  if (!usage) return unknownUsage;
  const thoughts = usage.thoughtsTokenCount ?? null;
  const answer = usage.candidatesTokenCount ?? null;
  return {
    inputTokens: usage.promptTokenCount ?? null,
    outputTokens: answer === null && thoughts === null ? null : (answer ?? 0) + (thoughts ?? 0),
    cachedTokens: usage.cachedContentTokenCount ?? null,
    reasoningTokens: thoughts,
    cacheWriteTokens: null,
  };
}
