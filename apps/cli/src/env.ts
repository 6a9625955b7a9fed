import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { type Environment, parseEnvironment, readProvenance } from "@hallumaze/runtime";

/** The process's variables: the one place that reads them. */
export const variables: Readonly<Record<string, string | undefined>> = process.env;

/** The program's version, as released in CHANGELOG.md. */
export const programVersion: string = readVersion();

/** The folder of the running program, for its git commit. */
export const programFolder: string = fileURLToPath(new URL("..", import.meta.url));

/** What runs, for those who watch it: the version, and the git commit where there is one. */
export async function readBuild(): Promise<{ readonly version: string; readonly commit: string | null }> {
  const { gitCommit } = await readProvenance(programFolder, programVersion);
  return { version: programVersion, commit: gitCommit };
}

let parsed: Environment | null = null;

/** The checked environment; throws an error that lists every problem at once. */
export function environment(): Environment {
  parsed ??= parseEnvironment(variables);
  return parsed;
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return version;
}
