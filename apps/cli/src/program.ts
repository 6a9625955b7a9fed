import { type Console, type ExitCode, exitCodes, explainError, listenProblem, type Register } from "@hallumaze/console";
import { HalluMazeError } from "@hallumaze/foundation";
import { Command, CommanderError } from "commander";
import { closest } from "fastest-levenshtein";

import { commandModules } from "./command-modules.ts";
import { programVersion } from "./env.ts";

/** Parses the words after the program's name, runs the command, and gives the exit code; never throws. */
export async function runProgram(words: readonly string[], console: Console): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.ok;
  const program = new Command("hallumaze");
  program
    .description("HalluMaze sweeps: does a model know that it is wrong, and does it get out?")
    .version(programVersion)
    // Options before a subcommand are the seed document's, those after it are the subcommand's own.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => console.out(text.trimEnd()),
      writeErr: (text) => console.err(text.trimEnd()),
    })
    .showHelpAfterError("(--help shows the options)")
    .addHelpText("after", "\nExample:\n  $ hallumaze run examples/baselines.yaml\n  $ hallumaze status baselines\n");
  const register: Register = (command, action) => {
    command.exitOverride().action(async (...given: unknown[]) => {
      exitCode = await (action as (...given: unknown[]) => Promise<ExitCode>)(...given);
    });
  };
  // The other commands' libraries are half a program's start, and of its memory.
  const own = commandModules.filter(({ names }) => names.some((name) => name === words[0]));
  for (const { load } of own.length > 0 ? own : commandModules) {
    for (const add of await load()) add(program, console, register);
  }
  const unknown = unknownCommand(program, words);
  if (words.length === 0) {
    // The seed document's program asks when it is called bare; without a terminal there is nobody to ask.
    if (!console.isTerminal) {
      program.outputHelp({ error: true });
      return exitCodes.usage;
    }
    return runProgram(["--interactive"], console);
  }
  if (unknown) {
    console.err(unknown);
    return exitCodes.usage;
  }
  try {
    await program.parseAsync(words, { from: "user" });
    return exitCode;
  } catch (error) {
    return exitCodeOf(error, console);
  }
}

function unknownCommand(program: Command, words: readonly string[]): string | null {
  const [first] = words;
  if (first === undefined || first.startsWith("-")) return null;
  const names = [...program.commands.map((command) => command.name()), "help"];
  if (names.includes(first)) return null;
  return `unknown command "${first}"; did you mean "${closest(first, names)}"? (hallumaze --help lists them)`;
}

function exitCodeOf(error: unknown, console: Console): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (console.interrupt.aborted) {
    console.err("Interrupted. The same command resumes where it stopped.");
    return exitCodes.interrupted;
  }
  console.err(explainError(error));
  const isUsage = (error instanceof HalluMazeError && usageCodes.has(error.code)) || listenProblem(error) !== null;
  return isUsage ? exitCodes.usage : exitCodes.unexpected;
}

/** Errors that the user mends in words, spec or environment. */
const usageCodes: ReadonlySet<string> = new Set([
  "spec-invalid",
  "usage",
  "environment-invalid",
  "maze-size",
  "maze-seed",
  "maze-generator",
  "maze-placement",
]);
