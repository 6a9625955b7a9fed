import { constants, createReadStream, openSync } from "node:fs";
import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import { resolve } from "node:path";
import { addAbortSignal } from "node:stream";

import type { StorePort, SweepRecord } from "@hallumaze/engine";
import { formatCount } from "@hallumaze/reports";
import { InvalidArgumentError } from "commander";
import { closest } from "fastest-levenshtein";

import type { Console } from "./console.ts";
import { UsageError } from "./errors.ts";

/** Bytes that are read at most: no spec and no reply is longer. */
const readLimitBytes = 64 * 1024 * 1024;

/** What reading a file takes of a console. */
type ReadingConsole = Pick<Console, "workingFolder" | "interrupt">;

/** Reads a text file; a missing or unreadable one is a usage error that names it. Ends at an interrupt. */
export async function readText(console: ReadingConsole, path: string): Promise<string> {
  return (await readBytes(console, path)).toString("utf8");
}

/** Reads a file as it is; a missing, unreadable or too long one is a usage error that names it. Ends at an interrupt. */
export async function readBytes({ workingFolder, interrupt }: ReadingConsole, path: string): Promise<Buffer> {
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    // A pipe or a device has no size to trust, and may have no end.
    for await (const chunk of await openBytes(resolve(workingFolder, path), interrupt)) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > readLimitBytes)
        throw new UsageError(`${path} is too long; at most ${formatCount(readLimitBytes)} bytes are read.`);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof UsageError || interrupt.aborted) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    const reason = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : String(code);
    throw new UsageError(`cannot read ${path}: ${reason}. Give the path of a file.`);
  }
}

async function openBytes(path: string, interrupt: AbortSignal): Promise<AsyncIterable<Buffer>> {
  if (!(await stat(path)).isFIFO()) return createReadStream(path, { signal: interrupt });
  // Opened the usual way, a pipe that nobody writes into holds a thread that no signal ends, and the process with it.
  const { O_RDONLY, O_NONBLOCK } = constants;
  const socket = new Socket({ fd: openSync(path, O_RDONLY | O_NONBLOCK), readable: true, writable: false });
  return addAbortSignal(interrupt, socket);
}

/** Finds a sweep by name; an unknown name is a usage error that lists the nearest. */
export async function findSweep(
  store: Pick<StorePort, "findSweep" | "listSweeps">,
  name: string,
): Promise<SweepRecord> {
  const sweep = await store.findSweep(name);
  if (sweep) return sweep;
  const names = (await store.listSweeps()).map((known) => known.name);
  // A name may come from a script or a file: what is printed is one line without control characters.
  const shown = JSON.stringify(name.slice(0, 200)).slice(1, -1);
  if (names.length === 0)
    throw new UsageError(
      `there is no sweep "${shown}": this database holds none yet. Start one with hallumaze run SPEC; ` +
        "data of another folder is reached with HALLUMAZE_HOME.",
    );
  throw new UsageError(
    `there is no sweep "${shown}"; the nearest is "${closest(name, names)}". hallumaze status lists all.`,
  );
}

/** Makes an option parser for an integer in [min, max]. */
export function integerBetween(min: number, max: number): (word: string) => number {
  return (word) => {
    const value = Number(word);
    if (!/^-?\d+$/.test(word) || value < min || value > max) {
      throw new InvalidArgumentError(`expected a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** Makes a collecting option parser: comma-separated and repeatable. */
export function list(word: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), ...word.split(",").map((part) => part.trim())].filter((part) => part !== "");
}

/** A word that names nothing would select nothing, and look like success. */
export function checkKnown(what: string, word: string, known: readonly string[]): void {
  if (known.includes(word)) return;
  throw new UsageError(`unknown ${what} "${word}"; did you mean "${closest(word, known)}"?`);
}
