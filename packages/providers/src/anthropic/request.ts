import type { ChatRequest } from "@hallumaze/engine";

import type { Draft } from "../attempt.ts";
import { bareSchema, findCapabilities, readThinking } from "../capabilities.ts";

/** The last version of the interface that takes a temperature; the SDK speaks a newer one by itself. */
const versionWithSampling = "2023-06-01";
/**
 * A Messages request. The system prompt is marked for the cache, for it is the same in every trial; so is the last
 * message of a longer conversation, for the next turn begins with it. SOURCE: @anthropic-ai/sdk 1.14.0
 * `MessageCreateParamsBase`; platform.claude.com, API version 2026-10-21 and prompt caching (read 2026-11-29).
 */
export function draftAnthropic(request: ChatRequest): Draft {
  const { maxTokens } = request;
  const { temperatureMax, streamAbove } = findCapabilities(request);
  const { effort, mode, others, ...wish } = readThinking(request.params);
  const budget = typeof wish.budget === "number" ? wish.budget : 0;
  const further = Object.entries(others).filter(([name]) => name !== "stream");
  const temperature = temperatureMax === null || budget > 0 ? null : request.temperature;
  const isSampled = temperature !== null || further.some(([name]) => /^(temperature|top_?[pk])$/i.test(name));
  const stream = others["stream"] === true || (streamAbove !== null && maxTokens > streamAbove);
  const marker = { cache_control: { type: "ephemeral" } };
  const body = {
    model: request.model,
    max_tokens: maxTokens,
    ...(request.system === "" ? {} : { system: [{ type: "text", text: request.system, ...marker }] }),
    messages: request.messages.map(({ role, content }, index) => {
      const isMarked = request.messages.length > 1 && index === request.messages.length - 1;
      return { role, content: isMarked ? [{ type: "text", text: content, ...marker }] : content };
    }),
    ...(temperature === null ? {} : { temperature }),
    ...thinking(budget, mode),
    ...outputConfig(effort, request.answerSchema),
    ...Object.fromEntries(further.map(([name, value]) => [snake(name), value])),
    ...(stream ? { stream: true } : {}),
  };
  return { body, headers: isSampled ? { "anthropic-version": versionWithSampling } : {}, stream, api: "messages" };
}

function outputConfig(effort: unknown, schema: ChatRequest["answerSchema"]): Record<string, unknown> {
  const format = schema === undefined ? {} : { format: { type: "json_schema", schema: bareSchema(schema) } };
  const config = { ...(effort === undefined ? {} : { effort }), ...format };
  return Object.keys(config).length === 0 ? {} : { output_config: config };
}

function thinking(budget: number, mode: number | string | boolean | undefined): Record<string, unknown> {
  if (budget > 0) return { thinking: { type: "enabled", budget_tokens: budget } };
  if (mode === undefined) return {};
  return { thinking: { type: mode === true ? "adaptive" : mode === false ? "disabled" : mode } };
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
