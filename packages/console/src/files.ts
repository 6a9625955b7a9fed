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
  await writeBeside(path, (draft, mode) =>
    pipeline(Readable.from(chunks), createWriteStream(draft, mode === null ? {} : { mode })),
  );
}

/**
 * Has `write` write a file beside the target and renames it: what stood there is whole until the new one is. Makes missing
 * folders; a link leads to what it names, a pipe or a device is written straight into. `mode` is that of the file which is
 * replaced; null where there is none. Rejects with an error that names the target.
 */
export async function writeBeside<Written>(
  path: string,
  write: (draft: string, mode: number | null) => Promise<Written>,
): Promise<Written> {
  const existing = await stat(path).catch(() => null);
  if (existing !== null && !existing.isFile() && !existing.isDirectory()) return write(path, null);
  if (existing !== null) await access(path, constants.W_OK);
  const target = existing === null ? path : await realpath(path);
  await mkdir(dirname(target), { recursive: true });
  const draft = `${target}.${process.pid}.part`;
  try {
    const written = await write(draft, existing?.mode ?? null);
    await rename(draft, target);
    return written;
  } catch (error) {
    await rm(draft, { force: true });
    // A full disk does not say where it is, and nobody knows the draft.
    if (error instanceof Error && "code" in error) Object.assign(error, { path: target });
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
