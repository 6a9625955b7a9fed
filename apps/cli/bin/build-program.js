// Gathers the program's own source into a few files: a start reads some ten files instead of four hundred, and each of
// those is known to V8 without a round trip to a loader's thread. What was gathered is kept and found by its content.
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** May be removed at any time that no program runs. */
const ownCache = join(root, "node_modules/.cache/hallumaze");
/** In each build: every file that runs and the hash of its bytes. */
const inventory = "inventory.json";
/** A build that nothing started from for so long is removed by the next one. */
const keptMs = 7 * 24 * 3_600_000;

/** The address of the program's entrance, built where it has to be; null where this machine cannot keep one. */
export async function findProgram(cache = ownCache) {
  try {
    const folder = join(cache, `program-${fingerprint()}`);
    if (!isWhole(folder)) await build(cache, folder);
    touch(folder);
    return pathToFileURL(join(folder, "main.mjs")).href;
  } catch {
    return null;
  }
}

/** Hash of this file and every source file and manifest of the workspaces: a changed byte is another program. */
function fingerprint() {
  const hash = createHash("sha256")
    .update(`${root}\n`)
    .update(readFileSync(fileURLToPath(import.meta.url)));
  for (const kind of ["apps", "packages"]) {
    for (const workspace of readdirSync(join(root, kind)).sort()) {
      const folder = join(root, kind, workspace);
      const manifest = join(folder, "package.json");
      if (!existsSync(manifest)) continue;
      hash.update(readFileSync(manifest));
      for (const path of sourcesBelow(join(folder, "src"))) hash.update(`\n${path}\n`).update(readFileSync(path));
    }
  }
  return hash.digest("hex").slice(0, 32);
}

function sourcesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return sourcesBelow(path);
      return entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts") ? [path] : [];
    });
}

/**
 * Whether each file is there as it was built. A host that lost its power leaves files of the right name without their
 * bytes, and an empty entrance would do nothing and end with success; what another account may not read is not there.
 */
function isWhole(folder) {
  try {
    const hashes = Object.entries(JSON.parse(readFileSync(join(folder, inventory), "utf8")));
    return hashes.length > 0 && hashes.every(([name, hash]) => hashOf(join(folder, name)) === hash);
  } catch {
    return false;
  }
}

function hashOf(path) {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

async function build(cache, folder) {
  const draft = join(cache, `${randomUUID()}.part`);
  const esbuild = await import("esbuild");
  try {
    await esbuild.build({
      entryPoints: [join(root, "apps/cli/src/main.ts")],
      outdir: draft,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "node20",
      // Beside the files, for `node --enable-source-maps`; reading them at each start would cost a tenth of a second.
      sourcemap: "linked",
      sourcesContent: false,
      logLevel: "silent",
      plugins: [ownSourceOnly],
    });
    const names = readdirSync(draft);
    const hashes = names.filter((name) => name.endsWith(".mjs")).map((name) => [name, hashOf(join(draft, name))]);
    await writeFile(join(draft, inventory), JSON.stringify(Object.fromEntries(hashes)));
    // Renamed: a process that starts beside this one never reads half a build.
    await rename(draft, folder).catch(async (error) => {
      if (!existsSync(folder)) throw error;
      // Another start was first, or the build was damaged. The same source gives the same files: each takes its place.
      if (!isWhole(folder))
        for (const name of [...names, inventory]) await rename(join(draft, name), join(folder, name));
    });
    await removeOld(cache);
  } finally {
    await rm(draft, { recursive: true, force: true });
    await esbuild.stop();
  }
}

/**
 * Packages from the registry stay where they are; a source file goes on to know its own place. No import of ours is there
 * for a side effect, so a command loads what it uses of a package and not what stands beside it.
 */
const ownSourceOnly = {
  name: "own-source-only",
  setup({ onLoad, onResolve, resolve }) {
    onResolve({ filter: /.*/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (kind === "entry-point" || pluginData === ownSourceOnly) return undefined;
      if (!/^(\.|@hallumaze\/)/.test(path)) return { path, external: true, sideEffects: false };
      const { path: file, errors } = await resolve(path, { kind, resolveDir, pluginData: ownSourceOnly });
      return errors.length > 0 ? { errors } : { path: file, sideEffects: false };
    });
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const address = JSON.stringify(pathToFileURL(path).href);
      return { loader: "ts", contents: (await readFile(path, "utf8")).replaceAll("import.meta.url", address) };
    });
  },
};

function touch(folder) {
  try {
    const now = new Date();
    utimesSync(folder, now, now);
  } catch {
    // Another account's folder: it is only read.
  }
}

async function removeOld(cache) {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    // Null: a draft that took its place meanwhile.
    const changedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
    if (changedMs !== null && changedMs < Date.now() - keptMs) await rm(path, { recursive: true, force: true });
  }
}
