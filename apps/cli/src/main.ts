import { text } from "node:stream/consumers";

import { openLogger } from "@hallumaze/runtime";

import { type Console, exitCodes } from "./console.ts";
import { environment, variables } from "./env.ts";
import { runProgram } from "./program.ts";

const interrupt = new AbortController();

function onSignal(name: NodeJS.Signals): void {
  if (interrupt.signal.aborted) {
    process.stderr.write(`${name} again: stopping at once. The same command resumes.\n`);
    process.exit(exitCodes.interrupted);
  }
  interrupt.abort(new Error(name));
}

process.on("SIGINT", onSignal);
process.on("SIGTERM", onSignal);
// A reader that goes away early (`| head`) is no error: the command goes on without it, its files are still written.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

let logger: ReturnType<typeof openLogger> | null = null;

const terminal: Console = {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
  isTerminal: process.stdout.isTTY === true && variables["TERM"] !== "dumb" && !variables["CI"],
  columns: () => (process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY),
  workingFolder: process.cwd(),
  environment,
  variables,
  logger: () => {
    logger ??= openLogger(environment().HALLUMAZE_LOG_LEVEL);
    return logger;
  },
  interrupt: interrupt.signal,
  readInput: () => text(process.stdin),
  now: Date.now,
};

process.exitCode = await runProgram(process.argv.slice(2), terminal);
