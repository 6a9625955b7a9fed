import type { Dialect, Finish, Question, Reply, StreamEvent, Vendor } from "./dialect.ts";
import { asList, asNumber, asObject, contentText, inputTokensOf, parameterPaths, piecesOf } from "./read-json.ts";

/** Google's generateContent and streamGenerateContent. SOURCE: types of @google/generative-ai 0.24.1; Gemini API reference. */
export const googleContent: Dialect = {
  name: "generateContent",
  read: readQuestion,
  body: (reply) => response(reply, answerParts(reply), finishReason(reply)),
  events: streamEvents,
  errorEvent: (failure) => data(failure.body),
};

const finishReasons: Readonly<Record<Finish, string>> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  refused: "STOP",
  safety: "SAFETY",
  recitation: "RECITATION",
  prohibited: "PROHIBITED_CONTENT",
  paused: "STOP",
  context: "MAX_TOKENS",
  other: "OTHER",
};

function readQuestion(body: unknown, vendor: Vendor, path: string): Question | string {
  const request = asObject(body);
  const [, model, method] = /\/models\/([^/:]+):(\w+)$/.exec(path) ?? [];
  if (model === undefined) return "Invalid resource name";
  const contents = asList(request["contents"]).map(asObject);
  if (contents.length === 0) return "* GenerateContentRequest.contents: contents is not specified";
  const said = contents.map(({ role, parts }) => ({
    role: role === "model" ? ("assistant" as const) : ("user" as const),
    content: contentText(parts),
  }));
  const system = contentText(asObject(request["systemInstruction"] ?? request["system_instruction"])["parts"]);
  const config = asObject(request["generationConfig"]);
  const thinking = asObject(config["thinkingConfig"]);
  return {
    vendor,
    model: decodeURIComponent(model),
    system,
    messages: said,
    maxTokens: asNumber(config["maxOutputTokens"]),
    stream: method === "streamGenerateContent",
    thinks: Object.keys(thinking).length > 0 && thinking["thinkingBudget"] !== 0,
    streamsUsage: true,
    parameters: parameterPaths(body),
    inputTokens: inputTokensOf(system, said),
  };
}

function answerParts({ text, finish }: Reply): readonly { readonly text: string }[] {
  // A blocked answer and one whose budget went into thinking come without parts.
  return text === "" || finish === "safety" || finish === "prohibited" || finish === "recitation" ? [] : [{ text }];
}

function finishReason(reply: Reply): string {
  return reply.nativeFinish ?? finishReasons[reply.finish];
}

function response(reply: Reply, parts: readonly unknown[], finish: string | null) {
  const content = parts.length > 0 ? { content: { parts, role: "model" } } : withoutParts(reply);
  const candidate = { ...content, ...(finish === null ? {} : { finishReason: finish }), index: 0 };
  return {
    ...candidates(reply, candidate),
    ...(reply.shape === "no_usage" ? {} : { usageMetadata: usage(reply) }),
    modelVersion: reply.servedModel,
    responseId: reply.id,
  };
}

function withoutParts({ finish }: Reply): object {
  if (finish === "safety" || finish === "prohibited") return {};
  return finish === "recitation" ? { content: {} } : { content: { role: "model" } };
}

function candidates(reply: Reply, candidate: object): object {
  if (reply.shape === "prompt_blocked") {
    return { promptFeedback: { blockReason: reply.nativeFinish ?? "SAFETY", safetyRatings: [] } };
  }
  if (reply.shape === "choices_null") return { candidates: null };
  return { candidates: reply.shape === "choices_empty" ? [] : [candidate] };
}

/** Thoughts stand beside the candidate's tokens, not within them. */
function usage({ usage: tokens }: Reply) {
  return {
    promptTokenCount: tokens.inputTokens,
    ...(tokens.outputTokens > tokens.reasoningTokens
      ? { candidatesTokenCount: tokens.outputTokens - tokens.reasoningTokens }
      : {}),
    ...(tokens.reasoningTokens > 0 ? { thoughtsTokenCount: tokens.reasoningTokens } : {}),
    ...(tokens.cachedTokens > 0 ? { cachedContentTokenCount: tokens.cachedTokens } : {}),
    totalTokenCount: tokens.inputTokens + tokens.outputTokens,
  };
}

function streamEvents(reply: Reply, _question: Question): readonly StreamEvent[] {
  const pieces =
    reply.shape === "normal" || reply.shape === "no_usage" ? piecesOf(answerParts(reply)[0]?.text ?? "") : [];
  return [
    ...pieces.map((text) => ({ wire: data(response(reply, [{ text }], null)), isDelta: true })),
    { wire: data(response(reply, pieces.length > 0 ? [{ text: "" }] : [], finishReason(reply))), isDelta: false },
  ];
}

function data(body: unknown): string {
  return `data: ${JSON.stringify(body)}\r\n\r\n`;
}
