import { type Console, exitCodes } from "@hallumaze/console";
import { addAbortSignal } from "node:stream";
import { text } from "node:stream/consumers";

import { openLogger } from "@hallumaze/runtime";

import { environment, variables } from "./env.ts";
import { runProgram } from "./program.ts";

const interrupt = new AbortController();

function onSignal(name: NodeJS.Signals): void {
  if (interrupt.signal.aborted) {
    process.stderr.write(
      `${name} again: stopping at once. The same command resumes; an embedded database stays up until it has.\n`,
    );
    process.exit(exitCodes.interrupted);
  }
  interrupt.abort(new Error(name));
}

process.on("SIGINT", onSignal);
process.on("SIGTERM", onSignal);
// A closed terminal or a dropped connection: drain as well; what is written then goes nowhere.
process.on("SIGHUP", onSignal);
// What can no longer be written must not end the work: trials under way are paid for. A reader that went away (`| head`)
// is no error; a full disk below a log is, and is told at the end.
const output: { lost: string | null } = { lost: null };

function onOutputError(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE" && error.code !== "EIO") output.lost ??= error.code ?? error.message;
}

process.stdout.on("error", onOutputError);
process.stderr.on("error", onOutputError);

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
  readInput: () => text(addAbortSignal(interrupt.signal, process.stdin)),
  now: Date.now,
};

const code = await runProgram(process.argv.slice(2), terminal);
if (output.lost !== null) terminal.err(`output was lost (${output.lost}); the command itself went on to its end`);
process.exitCode = output.lost === null ? code : Math.max(code, exitCodes.unexpected);
