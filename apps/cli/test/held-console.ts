import type { Console } from "@hallumaze/console";
import { openLogger, parseEnvironment } from "@hallumaze/runtime";

import { runProgram } from "../src/program.ts";

/** What a command said and did, run in this process. */
export interface Held {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** True where the command asked for its environment: only then can it have opened a database. */
  readonly openedHouse: boolean;
  /** The lines that it logged at `info` and above. */
  readonly logged: readonly Readonly<Record<string, unknown>>[];
}

/** Runs one command on a console that is held in memory. */
export async function runHeld(
  words: readonly string[],
  given: {
    readonly folder?: string;
    readonly input?: string;
    readonly variables?: Readonly<Record<string, string>>;
    readonly interrupt?: AbortSignal;
  } = {},
): Promise<Held> {
  const lines: { readonly out: string[]; readonly err: string[] } = { out: [], err: [] };
  let openedHouse = false;
  const logged: string[] = [];
  const variables = given.variables ?? {};
  const console: Console = {
    out: (text) => void lines.out.push(text),
    err: (text) => void lines.err.push(text),
    isTerminal: false,
    columns: () => Number.POSITIVE_INFINITY,
    workingFolder: given.folder ?? "/nonexistent",
    environment: () => {
      openedHouse = true;
      return parseEnvironment(variables);
    },
    variables,
    logger: () => openLogger("info", (line) => logged.push(line)),
    interrupt: given.interrupt ?? new AbortController().signal,
    readInput: async () => given.input ?? "",
    now: Date.now,
  };
  const code = await runProgram(words, console);
  return {
    code,
    out: lines.out.join("\n"),
    err: lines.err.join("\n"),
    openedHouse,
    logged: logged.map((line) => JSON.parse(line) as Held["logged"][number]),
  };
}
