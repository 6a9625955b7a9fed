import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { access, constants, mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const builder = "apps/web/bin/build-page.js";
/** A build takes some seconds; one that takes so long hangs. */
const buildMaxMs = 120_000;
/** What a page is made of: the page itself and the packages that it imports. */
const parts = ["apps/web/src/page", "packages/display/src", "packages/contract/src"];
const manifests = [builder, "apps/web/package.json", "packages/display/package.json", "package-lock.json"];

/**
 * Headers for every file of the page: nothing is loaded from elsewhere, no script or style stands in the page itself, and no
 * other page can frame it.
 *
 * SOURCE: Content Security Policy Level 3.
 */
export const pageHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

/**
 * Gives the folder of the built page: `index.html`, and `assets/` whose names change with their content. Built where it has to
 * be (some seconds), kept and found by the content of its source; two processes may ask at once. Where nothing can be kept it
 * is built into a folder of its own among the temporary ones.
 *
 * Rejects where the source cannot be built, naming why.
 */
export async function findPage(kept = join(root, "node_modules/.cache/hallumaze")): Promise<string> {
  const folder = join(kept, `page-${fingerprint()}`);
  if (existsSync(folder)) {
    touch(folder);
    return folder;
  }
  const cache = (await canKeep(kept)) ? kept : await mkdtemp(join(tmpdir(), "hallumaze-page-"));
  return build(join(cache, `page-${fingerprint()}`), join(cache, `${randomUUID()}.part`));
}

/** One file of the page. */
export interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Such as `text/html; charset=utf-8`. */
  readonly type: string;
  /** True where its name holds a hash of its content: a browser may keep it for ever. */
  readonly isHashed: boolean;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The page's files by their path, such as `/index.html`, built where it has to be; some two megabytes in all. */
export async function readPage(): Promise<ReadonlyMap<string, PageFile>> {
  const folder = await findPage();
  const files = new Map<string, PageFile>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const place = join(entry.parentPath, entry.name);
    const path = `/${relative(folder, place).split(sep).join("/")}`;
    const type = types[extname(entry.name)] ?? "application/octet-stream";
    files.set(path, { body: new Uint8Array(await readFile(place)), type, isHashed: path.startsWith("/assets/") });
  }
  return files;
}

async function build(folder: string, draft: string): Promise<string> {
  try {
    await runBuilder(draft);
    // Renamed: a process that starts beside this one never serves half a page.
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
    return folder;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function runBuilder(draft: string): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [join(root, builder), draft],
      { env: { ...process.env, NODE_ENV: "production", NODE_OPTIONS: "" }, timeout: buildMaxMs },
      (error, out, err) => {
        if (error === null) resolve();
        else reject(new Error(`The page could not be built: ${err.trim() || out.trim() || error.message}`));
      },
    );
  });
}

/** Hash of every file that the page is built from: a changed byte is another page. */
function fingerprint(): string {
  const hash = createHash("sha256");
  for (const path of [...manifests, ...parts.flatMap((part) => filesBelow(part))]) {
    if (existsSync(join(root, path))) hash.update(`\n${path}\n`).update(readFileSync(join(root, path)));
  }
  return hash.digest("hex").slice(0, 32);
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return filesBelow(path);
      return entry.name.endsWith(".test.ts") ? [] : [path];
    });
}

async function canKeep(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** What is old is removed by the program's own build: a page in use must not look old. */
function touch(folder: string): void {
  try {
    const now = new Date();
    utimesSync(folder, now, now);
  } catch {
    // Another account's folder: it is only read.
  }
}
