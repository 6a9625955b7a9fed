import { defaultDeadlines } from "@hallumaze/providers";
import { queueEnv } from "@hallumaze/queue";
import { storeEnv } from "@hallumaze/store";
import { telemetryEnv } from "@hallumaze/telemetry";
import { z } from "zod";

import { RuntimeError } from "./errors.ts";

const environmentShape = z.object({
  ...storeEnv,
  ...queueEnv,
  ...telemetryEnv,
  /** Longest time for one try, a resend and a repair included. */
  HALLUMAZE_CALL_TIMEOUT_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(defaultDeadlines.totalMs / 1000)
    .default(defaultDeadlines.totalMs / 1000),
  HALLUMAZE_LOG_LEVEL: z.enum(["debug", "info", "warn", "error", "silent"]).default("error"),
});

/** The plumbing that the environment sets; science stands in the spec. */
export type Environment = z.infer<typeof environmentShape>;

/**
 * How long a drain waits for what is under way, in ms: the longest request and the record of its reply, so that no reply
 * that is paid for is cut off. It ends as soon as nothing is under way.
 */
export function drainDeadlineMs(environment: Environment): number {
  return environment.HALLUMAZE_CALL_TIMEOUT_SECONDS * 1000 + 15_000;
}

/** Names of all variables that are read. */
export const environmentNames: readonly string[] = Object.keys(environmentShape.shape);

/** Checks the environment; throws one error that lists every problem by variable name. Empty values count as unset. */
export function parseEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const set = Object.fromEntries(
    environmentNames.flatMap((name) => (variables[name] ? [[name, variables[name]] as const] : [])),
  );
  const parsed = environmentShape.safeParse(set);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new RuntimeError("environment-invalid", `The environment is not usable:\n  ${problems.join("\n  ")}`);
}
