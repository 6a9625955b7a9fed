import type { ChatRequest } from "@hallumaze/engine";

import type { Draft } from "../attempt.ts";
import { bareSchema, findCapabilities, readThinking } from "../capabilities.ts";

/**
 * A generateContent request; every parameter stands in `generationConfig`. SOURCE: ai.google.dev, generateContent and
 * thinking (read 2026-11-29): a budget of tokens for Gemini 2.5, a level for Gemini 3.
 */
export function draftGoogle(request: ChatRequest): Draft {
  const { budget, effort: level, others } = readThinking(request.params);
  const { stream, ...further } = others;
  const { temperatureMax } = findCapabilities(request);
  const temperature = temperatureMax === null ? null : request.temperature;
  const thinkingConfig = {
    ...(budget === undefined ? {} : { thinkingBudget: budget }),
    ...(level === undefined ? {} : { thinkingLevel: level }),
  };
  const body = {
    ...(request.system === "" ? {} : { systemInstruction: { role: "system", parts: [{ text: request.system }] } }),
    contents: request.messages.map(({ role, content }) => ({
      role: role === "assistant" ? "model" : "user",
      parts: [{ text: content }],
    })),
    generationConfig: {
      maxOutputTokens: request.maxTokens,
      ...(temperature === null ? {} : { temperature }),
      ...further,
      ...(request.answerSchema === undefined
        ? {}
        : { responseMimeType: "application/json", responseJsonSchema: bareSchema(request.answerSchema) }),
      ...(Object.keys(thinkingConfig).length === 0 ? {} : { thinkingConfig }),
    },
  };
  return { body, headers: {}, stream: stream === true, api: "generateContent" };
}
