import { AsyncLocalStorage } from "node:async_hooks";

import type { ChatRequest, ChatResult, Claim, Enqueue, ProviderPort, QueuePort } from "@hallumaze/engine";
import type { JudgeClaim } from "@hallumaze/judging";
import { type Attributes, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, type SpanProcessor } from "@opentelemetry/sdk-trace-base";

import { openPlannedIds, trialParent, trialSpanIds } from "./trace-ids.ts";

/** Spans of one process: a trial's trace is its making, each of its runs, their calls, and the judgements of its result. */
export interface Tracing {
  /** Runs the handling of one delivery; what is claimed and called in it belongs together. */
  readonly handle: <T>(run: () => Promise<T>) => Promise<T>;
  /** A trial is ours: its span begins. */
  readonly trialClaimed: (claim: Claim) => void;
  readonly judgeClaimed: (claim: JudgeClaim) => void;
  /** How the try that is handled here ended; its span goes on until `handle` is over. */
  readonly ended: (end: string, outcome: string) => void;
  /** A provider whose every call is a span. */
  readonly provider: <Port extends ProviderPort>(provider: Port) => Port;
  /** A queue whose first deliveries of trials are the spans that make them. For submitting only. */
  readonly producer: <Port extends Pick<QueuePort, "enqueue">>(queue: Port) => Port;
  /** Sends what waits, within the exporter's own time. */
  readonly close: () => Promise<void>;
}

/** Opens tracing over a processor of spans. Spans hold ids, figures and outcomes: never a prompt, reply or message. */
export function openTracing(processor: SpanProcessor, version: string): Tracing {
  const ids = openPlannedIds();
  const resource = defaultResource().merge(
    resourceFromAttributes({ "service.name": "hallumaze", "service.version": version }),
  );
  const provider = new BasicTracerProvider({ resource, idGenerator: ids, spanProcessors: [processor] });
  const tracer = provider.getTracer("hallumaze", version);
  const handling = new AsyncLocalStorage<{ span: Span | null }>();

  const begin = (name: string, trialId: string | null, attributes: Attributes): void => {
    const current = handling.getStore();
    if (current === undefined) return;
    const parent = trialId === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, trialParent(trialId));
    current.span = tracer.startSpan(name, { kind: SpanKind.CONSUMER, attributes }, parent);
  };
  return {
    handle: (run) =>
      handling.run({ span: null }, async () => {
        try {
          return await run();
        } finally {
          handling.getStore()?.span?.end();
        }
      }),
    trialClaimed: (claim) =>
      begin("process trial", claim.trialId, {
        ...messagingOf(claim.lane, "process"),
        "hallumaze.trial.id": claim.trialId,
        "hallumaze.sweep.id": claim.sweepId,
        "hallumaze.fence": claim.fence,
        "hallumaze.try": claim.tries + claim.waits + claim.emptyRetries + 1,
      }),
    judgeClaimed: (claim) =>
      begin("process judgement", claim.trialId, {
        ...messagingOf(claim.lane, "process"),
        "hallumaze.judge_request.id": claim.requestId,
        "hallumaze.result.id": claim.resultId,
        "hallumaze.fence": claim.fence,
        "hallumaze.try": claim.tries + claim.waits + 1,
      }),
    ended: (end, outcome) => {
      const span = handling.getStore()?.span;
      span?.setAttributes({ "hallumaze.end": end, "hallumaze.outcome": outcome });
      if (end === "failed") span?.setStatus({ code: SpanStatusCode.ERROR }).setAttribute("error.type", outcome);
    },
    provider: (port) => ({
      ...port,
      complete: async (request, signal) => {
        const parent = handling.getStore()?.span ?? null;
        const span = tracer.startSpan(
          `chat ${request.model}`,
          { kind: SpanKind.CLIENT, attributes: attributesOfRequest(request) },
          parent === null ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent),
        );
        try {
          const result = await port.complete(request, signal);
          describeResult(span, result);
          return result;
        } catch (error) {
          const type = signal.aborted ? "aborted" : error instanceof Error ? error.name : "unknown";
          span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute("error.type", type);
          throw error;
        } finally {
          span.end();
        }
      },
    }),
    producer: (port) => ({
      ...port,
      enqueue: async (lane, items) => {
        for (const { trialId } of items.filter(isFirst)) {
          const attributes = { ...messagingOf(lane, "create"), "hallumaze.trial.id": trialId };
          const options = { kind: SpanKind.PRODUCER, root: true, attributes };
          ids.using(trialSpanIds(trialId), () => tracer.startSpan("create trial", options, ROOT_CONTEXT)).end();
        }
        await port.enqueue(lane, items);
      },
    }),
    close: () => provider.shutdown(),
  };
}

/** A trial that comes again was made before. */
function isFirst({ generation }: Enqueue): boolean {
  return generation === 0;
}

/** SOURCE: OpenTelemetry semantic conventions, messaging spans (read 2026-11-30). */
function messagingOf(lane: string, operation: "create" | "process"): Attributes {
  return {
    "messaging.system": "bullmq",
    "messaging.operation.type": operation,
    "messaging.operation.name": operation,
    "messaging.destination.name": lane,
  };
}

/** Providers that the conventions know by another name than ours. */
const providerNames: Readonly<Record<string, string>> = { google: "gcp.gemini" };

/** SOURCE: OpenTelemetry semantic conventions 1.41, GenAI client spans, without the opt-in content (read 2026-11-30). */
function attributesOfRequest(request: ChatRequest): Attributes {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": providerNames[request.provider] ?? request.provider,
    "gen_ai.request.model": request.model,
    "gen_ai.request.max_tokens": request.maxTokens,
    ...(request.temperature === null ? {} : { "gen_ai.request.temperature": request.temperature }),
    ...(request.answerSchema === undefined ? {} : { "gen_ai.output.type": "json" }),
  };
}

function describeResult(span: Span, result: ChatResult): void {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = result.usage;
  span.setAttributes({
    ...attribute("gen_ai.response.model", nameOrNull(result.servedModel)),
    ...attribute("gen_ai.response.time_to_first_chunk", result.ttftMs === null ? null : result.ttftMs / 1000),
    ...attribute("gen_ai.usage.input_tokens", inputTokens),
    ...attribute("gen_ai.usage.output_tokens", outputTokens),
    ...attribute("gen_ai.usage.cache_read.input_tokens", cachedTokens),
    ...attribute("gen_ai.usage.reasoning.output_tokens", reasoningTokens),
  });
  if (result.kind === "failure") {
    span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute("error.type", result.outcome);
  } else if (result.finishReason !== null) {
    span.setAttribute("gen_ai.response.finish_reasons", [result.finishReason]);
  }
}

function attribute(name: string, value: string | number | null): Attributes {
  return value === null ? {} : { [name]: value };
}

/** What a server calls its model, where it reads like a name: the field is a stranger's text. */
function nameOrNull(name: string | null): string | null {
  return name !== null && /^[\w./:@-]{1,100}$/.test(name) ? name : null;
}
