import { z } from "zod";

/** Whom to tell of what comes about, and OpenTelemetry's variables that decide whether traces are exported: its SDK
 * reads the others itself. */
export const telemetryEnv = {
  /** Gets a POST of JSON; may hold a secret. */
  HALLUMAZE_NOTIFY_URL: z.url({ protocol: /^https?$/, error: "must be an http:// or https:// URL" }).optional(),
  /** Signs it, as Standard Webhooks has it. */
  HALLUMAZE_NOTIFY_SECRET: z.string().min(8).optional(),
  /** A program with its words, split at spaces; it gets the JSON on stdin. */
  HALLUMAZE_NOTIFY_COMMAND: z.string().trim().min(1, "names no program").optional(),
  /** Share of failed trials, among those that have ended, that is told of. */
  HALLUMAZE_NOTIFY_FAILURE_SHARE: z.coerce.number().gt(0).max(1).default(0.2),
  OTEL_SDK_DISABLED: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.enum(["otlp", "none"]).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** Only this protocol is spoken here. */
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal("http/protobuf").optional(),
};

/** The checked variables. */
export type TelemetryEnvironment = z.infer<z.ZodObject<typeof telemetryEnv>>;
