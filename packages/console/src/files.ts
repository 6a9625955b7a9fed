import { constants, createWriteStream } from "node:fs";
import { access, mkdir, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { sha256Hex } from "@hallumaze/foundation";

import type { Console } from "./console.ts";

/** Makes the folder of a sweep's tables, so that a wrong place is known before the sweep has run. Gives its path. */
export async function openResultsFolder(console: Console, sweepName: string, folder: string): Promise<string> {
  const target = resolve(console.workingFolder, folder, fileName(sweepName));
  await mkdir(target, { recursive: true });
  return target;
}

/**
 * Writes chunks to a file beside the target and renames it: a reader never sees half a file. Makes missing folders. A
 * target that is no regular file (a pipe, a device) is written straight into; a link leads to what it names.
 */
export async function writeWhole(
  path: string,
  chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const existing = await stat(path).catch(() => null);
  if (existing !== null && !existing.isFile() && !existing.isDirectory()) {
    await pipeline(Readable.from(chunks), createWriteStream(path));
    return;
  }
  if (existing !== null) await access(path, constants.W_OK);
  const target = existing === null ? path : await realpath(path);
  await mkdir(dirname(target), { recursive: true });
  const draft = `${target}.${process.pid}.part`;
  try {
    await pipeline(Readable.from(chunks), createWriteStream(draft, existing === null ? {} : { mode: existing.mode }));
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

function fileName(name: string): string {
  const safe = name
    .replace(/[^\p{L}\p{N}._-]+/gu, "-")
    .replace(/^\.+|\.+$/g, "")
    .slice(0, 80);
  // Names that differ only in what a file name cannot hold must not share a folder.
  return safe === name ? safe : `${safe}-${sha256Hex(name).slice(0, 8)}`;
}
