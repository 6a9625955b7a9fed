import pino, { type Logger as PinoLogger } from "pino";

/** One line per state change, with ids; never prompts, replies or keys. */
export type Logger = Pick<PinoLogger, "debug" | "info" | "warn" | "error">;

/** Opens the logger: JSON lines on stderr, so that stdout stays the command's own. */
export function openLogger(level: string): Logger {
  return pino({ level, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 2, sync: true }));
}
