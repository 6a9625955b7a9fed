import { HalluMazeError } from "@hallumaze/foundation";
import pino, { type Logger as PinoLogger } from "pino";

/** One line per state change, with ids; never prompts, replies or keys. */
export type Logger = Pick<PinoLogger, "debug" | "info" | "warn" | "error">;

/** Opens the logger: JSON lines on stderr, so that stdout stays the command's own; or to `write`. */
export function openLogger(level: string, write?: (line: string) => void): Logger {
  const options = { level, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } };
  if (write !== undefined) return pino(options, { write });
  const stderr = pino.destination({ dest: 2, sync: true });
  // A log that can no longer be written must not end the work.
  stderr.on("error", () => undefined);
  return pino(options, stderr);
}

/** An expected error by what it says; the stack is for those that nobody foresaw. */
function describeError(error: unknown): unknown {
  if (error instanceof HalluMazeError) return { code: error.code, message: error.message, ...error.context };
  return error instanceof Error ? pino.stdSerializers.err(error) : error;
}
