import { z } from "zod";

/** OpenTelemetry's variables that decide whether traces are exported; the SDK reads the others itself. */
export const telemetryEnv = {
  OTEL_SDK_DISABLED: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.enum(["otlp", "none"]).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** Only this protocol is spoken here. */
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal("http/protobuf").optional(),
};

/** The checked variables. */
export type TelemetryEnvironment = z.infer<z.ZodObject<typeof telemetryEnv>>;
