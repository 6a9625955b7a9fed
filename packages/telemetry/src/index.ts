export { telemetryEnv, type TelemetryEnvironment } from "./env.ts";
export { type Metrics, type MetricsSources, openMetrics, type WorkKind } from "./metrics.ts";
export { openChannels } from "./notify.ts";
export type { Tracing } from "./tracing.ts";
export { openTracing, tracingFromEnvironment } from "./tracing-from-environment.ts";
