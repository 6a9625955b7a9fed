// Gathers the program's own source, and the packages that nearly every command loads, into a few files: a start reads some
// ten files instead of eight hundred, and each of those is known to V8 without a round trip to a loader's thread. What was
// gathered is kept and found by its content.
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
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

/**
 * Hash of this file, every source file and manifest of the workspaces, and the list of what is installed: a changed byte or
 * another version of a package is another program.
 */
function fingerprint() {
  const hash = createHash("sha256")
    .update(`${root}\n`)
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .update(installedPackages());
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

/** npm's own record of what it installed; where another tool did, the versions that were asked for. */
function installedPackages() {
  const record = join(root, "node_modules/.package-lock.json");
  return readFileSync(existsSync(record) ? record : join(root, "package-lock.json"));
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
      // CommonJS among what is gathered asks for Node's own modules by `require`.
      banner: { js: requireForGathered },
      plugins: [gathering],
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
 * What nearly every command loads is gathered as well. The others stay where they are, because they load files that lie
 * beside them or only few commands use them. A package of which there must be one copy (zod, which @hono/zod-openapi
 * extends) is on one side together with all that shares it.
 */
const gathered = new Set([
  "@hono/zod-openapi",
  "@noble/hashes",
  "@prisma/adapter-pg",
  // Not the query compiler beside it: five megabytes that would be hashed at each start.
  "@prisma/client/runtime/client",
  "bullmq",
  "cli-table3",
  "commander",
  "csv-stringify",
  "fastest-levenshtein",
  "he",
  "hono",
  "ioredis",
  "log-update",
  "pg",
  "pg-copy-streams",
  "prom-client",
  "random-js",
  "rate-limiter-flexible",
  "simple-statistics",
  "yaml",
  "zod",
]);

const requireForGathered = `import { createRequire as requireFrom } from "node:module"; const require = requireFrom(${JSON.stringify(pathToFileURL(join(root, "apps/cli/bin/")).href)});`;

/**
 * A source file of ours goes on to know its own place. No import of ours is there for a side effect, so a command loads what
 * it uses of a package and not what stands beside it.
 */
const gathering = {
  name: "gathering",
  setup({ onLoad, onResolve, resolve }) {
    onResolve({ filter: /.*/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (kind === "entry-point" || pluginData === gathering) return undefined;
      const isOurs = /^(\.|@hallumaze\/)/.test(path);
      // Within a gathered package: as its author meant it.
      if (relative(root, importer).split(sep).includes("node_modules")) return undefined;
      if (!isOurs && !gathered.has(path) && !gathered.has(packageOf(path)))
        return { path, external: true, sideEffects: false };
      const {
        path: file,
        errors,
        sideEffects,
        external,
      } = await resolve(path, { kind, resolveDir, pluginData: gathering });
      return errors.length > 0 ? { errors } : { path: file, external, sideEffects: isOurs ? false : sideEffects };
    });
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const address = JSON.stringify(pathToFileURL(path).href);
      return { loader: "ts", contents: (await readFile(path, "utf8")).replaceAll("import.meta.url", address) };
    });
  },
};

/** The name of the package in an import's words: the scope as well. */
function packageOf(path) {
  return path
    .split("/")
    .slice(0, path.startsWith("@") ? 2 : 1)
    .join("/");
}

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
