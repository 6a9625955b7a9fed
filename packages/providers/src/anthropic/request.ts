import type { ChatRequest } from "@hallumaze/engine";

import type { Draft } from "../attempt.ts";
import { findCapabilities } from "../capabilities.ts";

/** The last version of the interface that takes a temperature; the SDK speaks a newer one by itself. */
const versionWithSampling = "2023-06-01";
const ownParameters = new Set(["thinkingBudget", "reasoningEffort", "stream"]);

/**
 * A Messages request. The system prompt is marked for the cache, for it is the same in every trial; so is the last
 * message of a longer conversation, for the next turn begins with it. SOURCE: @anthropic-ai/sdk 1.14.0
 * `MessageCreateParamsBase`; platform.claude.com, API version 2026-10-21 and prompt caching (read 2026-11-29).
 */
export function draftAnthropic(request: ChatRequest): Draft {
  const { params, maxTokens } = request;
  const { temperatureMax, streamAbove } = findCapabilities(request);
  const budget = typeof params["thinkingBudget"] === "number" ? params["thinkingBudget"] : 0;
  const effort = params["reasoningEffort"];
  const further = Object.entries(params).filter(([name]) => !ownParameters.has(name));
  const temperature = temperatureMax === null || budget > 0 ? null : request.temperature;
  const isSampled = temperature !== null || further.some(([name]) => /^(temperature|top_?[pk])$/i.test(name));
  const stream = params["stream"] === true || (streamAbove !== null && maxTokens > streamAbove);
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
    ...(budget > 0 ? { thinking: { type: "enabled", budget_tokens: budget } } : {}),
    ...(effort === undefined ? {} : { output_config: { effort } }),
    ...Object.fromEntries(further.map(([name, value]) => [snake(name), value])),
    ...(stream ? { stream: true } : {}),
  };
  return { body, headers: isSampled ? { "anthropic-version": versionWithSampling } : {}, stream, api: "messages" };
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
