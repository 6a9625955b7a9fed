import type { SpanProcessor } from "@opentelemetry/sdk-trace-base";

import type { TelemetryEnvironment } from "./env.ts";
import type { Tracing } from "./tracing.ts";

/**
 * Opens tracing where the environment configures an exporter; null where it does not, and then nothing of it runs.
 * Endpoint, headers, sampler, resource and batch are OpenTelemetry's own variables, read by its SDK.
 */
export async function tracingFromEnvironment(
  environment: TelemetryEnvironment,
  version: string,
): Promise<Tracing | null> {
  const { OTEL_TRACES_EXPORTER: named } = environment;
  const hasEndpoint =
    environment.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined ||
    environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== undefined;
  if (environment.OTEL_SDK_DISABLED === "true" || named === "none" || (named === undefined && !hasEndpoint))
    return null;
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto");
  const { BatchSpanProcessor } = await import("@opentelemetry/sdk-trace-base");
  return openTracing(new BatchSpanProcessor(new OTLPTraceExporter()), version);
}

/** Opens tracing over a processor of spans; OpenTelemetry is loaded here, where somebody wants it. */
export async function openTracing(processor: SpanProcessor, version: string): Promise<Tracing> {
  return (await import("./tracing.ts")).openTracing(processor, version);
}
