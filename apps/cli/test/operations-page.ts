import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { type MockProviders, type Rule, startMockProviders } from "@hallumaze/mock-providers";
import { createDatabase, createRedis, type DisposableRedis } from "@hallumaze/testkit";

import { runHeld } from "./held-console.ts";
import { type Ledger, openLedger, openStage, type Program, type Stage } from "./program-stage.ts";

/** A section of the page: its heading, and the commands of its `sh` blocks in their order. */
export interface Section {
  readonly heading: string;
  readonly commands: readonly string[];
}

/** Reads the operations page. Throws where a command stands before the first section, or the program's in a `text` block. */
export function readOperationsPage(): { readonly text: string; readonly sections: readonly Section[] } {
  const text = readFileSync(new URL("../../../docs/operations.md", import.meta.url), "utf8");
  const [intro = "", ...rest] = text.split(/^## /m);
  if (intro.includes("```")) throw new Error("a block stands before the first section: no test would run it");
  const sections = rest.map((section) => {
    const fences = Array.from(section.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm), ([, kind = "", body = ""]) => {
      if (kind !== "sh" && (kind !== "text" || body.includes("hallumaze"))) {
        throw new Error(`a block that no test runs: ${kind} ${body}`);
      }
      return kind === "sh" ? body.split("\n").filter((line) => line !== "") : [];
    });
    return { heading: section.split("\n", 1)[0] ?? "", commands: fences.flat() };
  });
  return { text, sections };
}

/** What a command of the page left. `code` of a shell's command: null where a signal ended it. */
export interface Done {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A section's commands, run one after the other in a situation of its own. */
export interface Play extends AsyncDisposable {
  readonly stage: Stage;
  readonly ledger: Ledger;
  readonly mock: MockProviders;
  readonly redis: DisposableRedis;
  /** Runs the next command of the section, which must begin so, with these words in the place of others. */
  readonly next: (start: string, words?: Readonly<Record<string, string>>) => Promise<Done>;
  /** The same as a process that is left to run. */
  readonly begin: (start: string, words?: Readonly<Record<string, string>>) => Program;
  /** The next command exports a variable: sets it, to a value of the test's own. */
  readonly exports: (name: string, value: string) => void;
  /** Runs what is on no page. */
  readonly say: (...words: readonly string[]) => Promise<Done>;
  /** Writes `examples/overnight.yaml`. */
  readonly spec: (changes?: object) => void;
  /** Commands of the section that have not been run. */
  readonly left: () => readonly string[];
}

/** The models of the page. */
export const openai = "openai/gpt-5.4-mini";
export const anthropic = "anthropic/claude-sonnet-4-6";

/** Limits that hold nothing back. */
const limits = {
  [openai]: { rpm: 1e6, tpm: 1e9, concurrency: 50 },
  [anthropic]: { rpm: 1e6, inputTpm: 1e9, outputTpm: 1e9, concurrency: 50 },
};

/** Opens the situation of a section: a database, a Redis, the vendors' stand-in, and the sweep `overnight` of 12 trials, not begun. */
export async function openPlay(
  section: Section,
  variables: Readonly<Record<string, string>>,
  options: { readonly script?: readonly Rule[]; readonly baseMs?: number; readonly spec?: object } = {},
): Promise<Play> {
  const mock = await startMockProviders({
    script: [...(options.script ?? [])],
    latency: { baseMs: options.baseMs ?? 0 },
  });
  const database = await createDatabase();
  // What a lane is allowed, and whether it is parked, stands in Redis: a section's own.
  const redis = await createRedis();
  const given: Record<string, string> = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    ...variables,
    ...mock.environment(),
  };
  // A stage keeps the object: what a section exports holds for all that follows.
  const stage = openStage(given);
  const ledger = await openLedger(database.url);
  const commands = [...section.commands];
  const take = (start: string, words: Readonly<Record<string, string>>): string => {
    const command = commands.shift();
    if (command === undefined || !plain(command).startsWith(start)) {
      throw new Error(`${section.heading}: expected "${start}", the page has ${JSON.stringify(command)}`);
    }
    return Object.entries(words).reduce((text, [word, own]) => text.replaceAll(word, own), plain(command));
  };
  const say: Play["say"] = (...words) => runHeld(words, { variables: given, folder: stage.folder });
  const spec: Play["spec"] = (changes = {}) => {
    mkdirSync(join(stage.folder, "examples"), { recursive: true });
    const whole = {
      name: "overnight",
      models: [openai, anthropic],
      seeds: ["1001..1006"],
      sizes: [5],
      groups: ["A"],
      mirage: [true],
      retries: { tries: 1 },
      limits,
      ...options.spec,
      ...changes,
    };
    writeFileSync(join(stage.folder, "examples", "overnight.yaml"), JSON.stringify(whole));
  };
  mkdirSync(join(stage.folder, "results"));
  spec();
  return {
    stage,
    ledger,
    mock,
    redis,
    next: async (start, words = {}) => {
      const command = take(start, words);
      if (isOurs(section, start)) return say(...wordsOf(command));
      const { status: code, stdout: out, stderr: err } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
      return { code, out, err };
    },
    begin: (start, words = {}) => stage.start(wordsOf(take(start, words))),
    exports: (name, value) => {
      take(`export ${name}=`, {});
      given[name] = value;
    },
    say,
    spec,
    left: () => commands,
    [Symbol.asyncDispose]: async () => {
      await ledger[Symbol.asyncDispose]();
      await stage.clear();
      await mock.close();
      await redis.drop();
      await database.drop();
    },
  };
}

/** A command without the words that call the program. */
function plain(command: string): string {
  return command.replace(/^npx hallumaze /, "");
}

function isOurs({ commands }: Section, start: string): boolean {
  return commands.some((command) => command.startsWith(`npx hallumaze ${start}`));
}

/** The words of a command; double quotes hold a word together. */
function wordsOf(command: string): readonly string[] {
  return Array.from(command.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, bare]) => quoted ?? bare ?? "");
}
