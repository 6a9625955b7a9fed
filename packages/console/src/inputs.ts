import { readFile } from "node:fs/promises";

import type { StorePort, SweepRecord } from "@hallumaze/engine";
import { InvalidArgumentError } from "commander";
import { closest } from "fastest-levenshtein";

import { UsageError } from "./errors.ts";

/** Bytes that are read at most: no spec and no reply is longer. */
const readLimitBytes = 64 * 1024 * 1024;

/** Reads a text file; a missing or unreadable one is a usage error that names it. */
export async function readText(absolutePath: string, shownPath: string): Promise<string> {
  return (await readBytes(absolutePath, shownPath)).toString("utf8");
}

/** Reads a file as it is; a missing or unreadable one is a usage error that names it. */
export async function readBytes(absolutePath: string, shownPath: string): Promise<Buffer> {
  try {
    // A pipe has no size to trust: read to the end.
    const bytes = await readFile(absolutePath);
    if (bytes.length > readLimitBytes) {
      throw new UsageError(`${shownPath} has ${bytes.length} bytes; at most ${readLimitBytes} are read.`);
    }
    return bytes;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    const reason = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : String(code);
    throw new UsageError(`cannot read ${shownPath}: ${reason}. Give the path of a file.`);
  }
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
