import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";

import type { TelemetryEnvironment } from "./env.ts";
import { openTracing, type Tracing } from "./tracing.ts";

/**
 * Opens tracing where the environment configures an exporter; null where it does not, and then nothing of it runs.
 * Endpoint, headers, sampler, resource and batch are OpenTelemetry's own variables, read by its SDK.
 */
export function tracingFromEnvironment(environment: TelemetryEnvironment, version: string): Tracing | null {
  const { OTEL_TRACES_EXPORTER: named } = environment;
  const hasEndpoint =
    environment.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined ||
    environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== undefined;
  if (environment.OTEL_SDK_DISABLED === "true" || named === "none" || (named === undefined && !hasEndpoint))
    return null;
  return openTracing(new BatchSpanProcessor(new OTLPTraceExporter()), version);
}
