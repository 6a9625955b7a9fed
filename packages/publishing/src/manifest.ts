import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import { z } from "zod";

import { PublishingError } from "./errors.ts";

/** Name of the manifest in its folder. */
export const manifestFile = "manifest.json";

const entry = z.strictObject({
  /** Below the folder, with `/`. */
  path: z.string().refine(isSafePath, "leads out of the folder or is no path"),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "is no SHA-256"),
});

const manifest = z.strictObject({
  format: z.literal("hallumaze-manifest-1"),
  /** Facts that its maker adds: versions, seeds of draws, names. Plain JSON. */
  facts: z.record(z.string(), z.json()),
  files: z.array(entry),
});

/** A file with its hash. */
export type ManifestEntry = Readonly<z.infer<typeof entry>>;

/** What a folder holds. Files are in the order of their paths' code units; there is no date. */
export type Manifest = Readonly<z.infer<typeof manifest>>;

/**
 * Hashes every file below a folder, whatever made it, and writes `manifest.json` there. The same files and facts give the
 * same bytes. Links and other things that are no files are refused (`manifest-path`): a copy of the folder would not
 * hold them.
 */
export async function writeManifest(folder: string, facts: Manifest["facts"] = {}): Promise<Manifest> {
  const made: Manifest = { format: "hallumaze-manifest-1", facts, files: await hashFiles(folder) };
  await writeFile(join(folder, manifestFile), `${JSON.stringify(made, null, 2)}\n`);
  return made;
}

/** What differs between a folder and its manifest; all lists are empty where nothing does. */
export interface ManifestCheck {
  readonly manifest: Manifest;
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  /** Files that the manifest does not name. */
  readonly added: readonly string[];
}

/**
 * Reads a folder's manifest and compares every file with it. Throws a PublishingError where there is no manifest or it is
 * none; what differs is a value.
 */
export async function checkManifest(folder: string): Promise<ManifestCheck> {
  const read = await readManifest(folder);
  const found = new Map((await hashFiles(folder)).map((each) => [each.path, each]));
  const named = new Set(read.files.map(({ path }) => path));
  return {
    manifest: read,
    changed: read.files.filter((file) => differs(file, found.get(file.path))).map(({ path }) => path),
    missing: read.files.filter(({ path }) => !found.has(path)).map(({ path }) => path),
    added: [...found.keys()].filter((path) => !named.has(path)),
  };
}

/** The manifest of a folder, checked for its form. */
export async function readManifest(folder: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(join(folder, manifestFile), "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    throw new PublishingError("manifest-missing", `There is no ${manifestFile} in ${folder}.`, cause);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new PublishingError("manifest-invalid", `${manifestFile} is no JSON: the folder is damaged.`, cause);
  }
  const result = manifest.safeParse(value);
  if (!result.success) {
    const [issue] = result.error.issues;
    const where = issue?.path.map(String).join(".") ?? "";
    throw new PublishingError("manifest-invalid", `${manifestFile}: ${where}: ${issue?.message ?? "is no manifest"}.`);
  }
  const paths = result.data.files.map(({ path }) => path);
  const twice = paths.find((path, at) => at > 0 && path <= (paths[at - 1] ?? ""));
  if (twice === undefined) return result.data;
  throw new PublishingError("manifest-invalid", `${manifestFile}: ${twice} stands twice or out of order.`);
}

function differs(file: ManifestEntry, found: ManifestEntry | undefined): boolean {
  return found !== undefined && (found.sha256 !== file.sha256 || found.bytes !== file.bytes);
}

async function hashFiles(folder: string): Promise<ManifestEntry[]> {
  const paths = (await filesBelow(folder, "")).filter((path) => path !== manifestFile);
  const files: ManifestEntry[] = [];
  for (const path of paths.toSorted((a, b) => (a < b ? -1 : 1))) {
    const hash = createHash("sha256");
    let bytes = 0;
    await pipeline(createReadStream(join(folder, path)), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
      }
    });
    files.push({ path, bytes, sha256: hash.digest("hex") });
  }
  return files;
}

async function filesBelow(folder: string, inner: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(join(folder, inner))) {
    const path = inner === "" ? name : `${inner}/${name}`;
    const kind = await lstat(join(folder, path));
    if (kind.isDirectory()) found.push(...(await filesBelow(folder, path)));
    else if (kind.isFile() && isSafePath(path)) found.push(path);
    else throw new PublishingError("manifest-path", `${path} is no plain file: take it out of the folder.`);
  }
  return found;
}

/** Below the folder on every system: no `..`, no root, no drive, no backslash, no control character. */
function isSafePath(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this refuses.
  if (path === "" || /[\\:\u0000-\u001f\u007f]/.test(path) || path.startsWith("/")) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}
