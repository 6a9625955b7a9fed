import { open } from "node:fs/promises";
import { resolve } from "node:path";

import type { StorePort, SweepRecord } from "@hallumaze/engine";
import { solverNames, solverParameters } from "@hallumaze/solvers";
import { parseSpec, type SolverRules, type SweepSpec } from "@hallumaze/sweep";
import { closest } from "fastest-levenshtein";

import type { Console } from "./console.ts";
import { UsageError } from "./errors.ts";

/** Bytes of a spec that are read at most; parseSpec says what is wrong with a longer one. */
const readLimitBytes = 8 * 1024 * 1024;

/** The baseline solvers and their parameters, as a spec is checked against them. */
export const solverRules: SolverRules = new Map(
  solverNames.map((name) => [
    name,
    Object.fromEntries(solverParameters(name).map((parameter) => [parameter.name, parameter])),
  ]),
);

/** Reads and checks a spec file. Notes go to stderr; every problem is listed with its place. */
export async function readSpecFile(console: Console, path: string): Promise<SweepSpec> {
  const text = await readText(resolve(console.workingFolder, path), path);
  const { spec, notes } = parseSpec(text, { fileName: path, solvers: solverRules });
  for (const note of notes) console.err(`note: ${note}`);
  return spec;
}

/** Reads a text file; a missing or unreadable one is a usage error that names it. */
export async function readText(absolutePath: string, shownPath: string): Promise<string> {
  try {
    const file = await open(absolutePath, "r");
    try {
      const { size } = await file.stat();
      const buffer = Buffer.alloc(Math.min(Math.max(size, 0), readLimitBytes));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
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
  if (names.length === 0)
    throw new UsageError(
      `there is no sweep "${name}": this database holds none yet. Start one with: hallumaze run SPEC`,
    );
  throw new UsageError(
    `there is no sweep "${name}"; the nearest is "${closest(name, names)}". hallumaze status lists all.`,
  );
}
