import { setTimeout as sleep } from "node:timers/promises";

import type { ChatRequest, ChatResult } from "@hallumaze/engine";
import { createRandom, sha256Hex } from "@hallumaze/foundation";
import { simJudge } from "@hallumaze/judge";
import { estimateTokens } from "@hallumaze/protocol";
import { answerAsSolver, isSolverName } from "@hallumaze/solvers";

/**
 * Provider `sim`: the baseline solvers behind the same port as a vendor's model. Parameters `latencyMs`, `failureRate`
 * and `truncationRate` make it late, faulty or cut, so that a sweep can be rehearsed; which requests are hit is drawn
 * from the request and a counter of its repeats in this process, so that a retry is a new draw.
 */
export function openSim(): (request: ChatRequest, signal: AbortSignal) => Promise<ChatResult> {
  const asked = new Map<string, number>();
  return async (request, signal) => {
    signal.throwIfAborted();
    const startedMs = performance.now();
    const latencyMs = numberOf(request.params["latencyMs"], 0);
    if (latencyMs > 0) await sleep(latencyMs, undefined, { signal });
    const draw = faultDraw(request, asked);
    if (draw.fails) return failure(request, startedMs);
    return reply(request, draw.truncates, startedMs);
  };
}

function faultDraw(request: ChatRequest, asked: Map<string, number>): { fails: boolean; truncates: boolean } {
  const failureRate = numberOf(request.params["failureRate"], 0);
  const truncationRate = numberOf(request.params["truncationRate"], 0);
  if (failureRate === 0 && truncationRate === 0) return { fails: false, truncates: false };
  const key = sha256Hex(JSON.stringify([request.model, request.messages, request.params, request.repeat]));
  const time = failureRate > 0 ? (asked.get(key) ?? 0) : 0;
  const random = createRandom(`${key} ${time}`);
  const fails = random.fraction() < failureRate;
  // Only failing requests come back, so the counter stays as small as the failures under way.
  if (fails) asked.set(key, time + 1);
  else asked.delete(key);
  return { fails, truncates: createRandom(`${key} cut`).fraction() < truncationRate };
}

function reply(request: ChatRequest, truncate: boolean, startedMs: number): ChatResult {
  if (request.model === judgeModel) return verdict(request, startedMs);
  if (!isSolverName(request.model)) {
    return { ...received(request, null, startedMs), ...modelNotFound(request.model) };
  }
  const answer = answerAsSolver(request.model, request);
  const cut = truncate ? answer.text.slice(0, Math.floor(answer.text.length * 0.6)) : answer.text;
  const finishReason = truncate ? "length" : answer.finishReason;
  const body = JSON.stringify({
    model: request.model,
    choices: [{ message: { role: "assistant", content: cut }, finish_reason: finishReason }],
  });
  return {
    ...received(request, body, startedMs),
    kind: "reply",
    text: cut,
    reasoning: null,
    finishReason,
    nativeFinishReason: finishReason,
    usage: { ...inputUsage(request), outputTokens: estimateTokens(cut), cachedTokens: 0, reasoningTokens: 0 },
  };
}

/** The stand-in judge: for tests and demonstrations, never one to cite. */
const judgeModel = "judge";

function verdict(request: ChatRequest, startedMs: number): ChatResult {
  const user = request.messages.at(-1)?.content ?? "";
  const params = { ...request.params, repeat: request.repeat };
  const text = simJudge({ system: request.system, user, params });
  const body = JSON.stringify({ model: judgeModel, choices: [{ message: { role: "assistant", content: text } }] });
  return {
    ...received(request, body, startedMs),
    kind: "reply",
    text,
    reasoning: null,
    finishReason: "stop",
    nativeFinishReason: "stop",
    usage: { ...inputUsage(request), outputTokens: estimateTokens(text), cachedTokens: 0, reasoningTokens: 0 },
  };
}

function failure(request: ChatRequest, startedMs: number): ChatResult {
  return {
    ...received(request, JSON.stringify({ error: { message: "rehearsed failure" } }), startedMs),
    kind: "failure",
    outcome: "transient_server",
    message: "503: rehearsed failure (failureRate)",
    ...unexplained,
  };
}

function modelNotFound(model: string) {
  const message = `sim has no solver "${model}"`;
  const park = { reason: `model_not_found: ${message}`, resumeAfterMs: null };
  return { kind: "failure", outcome: "model_not_found", message, ...unexplained, park } as const;
}

const unexplained = { retryAfterMs: null, detail: null, park: null } as const;

function received(request: ChatRequest, rawBody: string | null, startedMs: number) {
  const httpMs = Math.round(performance.now() - startedMs);
  return {
    rawBody,
    servedModel: request.model,
    servedBy: null,
    nativeFinishReason: null,
    usage: inputUsage(request),
    httpMs,
    ttftMs: httpMs,
    effectiveParams: { maxTokens: request.maxTokens, temperature: request.temperature, ...request.params },
    limits: {},
    sideRequests: [],
  };
}

function inputUsage(request: ChatRequest): ChatResult["usage"] {
  const text = [request.system, ...request.messages.map((message) => message.content)];
  const inputTokens = text.reduce((sum, part) => sum + estimateTokens(part), 0);
  return { inputTokens, outputTokens: null, cachedTokens: null, reasoningTokens: null };
}

function numberOf(value: number | string | boolean | undefined, fallback: number): number {
  return typeof value === "number" ? value : fallback;
}
