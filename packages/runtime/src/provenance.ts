import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { Provenance } from "@hallumaze/engine";

const run = promisify(execFile);

/** Reads where the running program comes from: git commit and dirty flag of `folder` (null outside a clone), versions. */
export async function readProvenance(folder: string, programVersion: string): Promise<Provenance> {
  const gitCommit = await git(folder, ["rev-parse", "HEAD"]);
  const status = gitCommit === null ? null : await git(folder, ["status", "--porcelain", "--untracked-files=no"]);
  return {
    gitCommit,
    gitDirty: status === null ? null : status !== "",
    programVersion,
    nodeVersion: process.version,
  };
}

async function git(folder: string, words: readonly string[]): Promise<string | null> {
  try {
    return (await run("git", ["-C", folder, ...words], { timeout: 5000 })).stdout.trim();
  } catch {
    // No git, or no clone: the version alone must do.
    return null;
  }
}
