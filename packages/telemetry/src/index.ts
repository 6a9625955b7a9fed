export { telemetryEnv, type TelemetryEnvironment } from "./env.ts";
export { type Metrics, type MetricsSources, openMetrics, type WorkKind } from "./metrics.ts";
export { openChannels } from "./notify.ts";
export { openTracing, type Tracing } from "./tracing.ts";
export { tracingFromEnvironment } from "./tracing-from-environment.ts";
