import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** Transformed sources, by the hash of all that they follow from. May be removed at any time. */
const cache = new URL("../../../node_modules/.cache/hallumaze/", import.meta.url);
/** Raise it when the options of the transform, or the form of what is kept, change. */
const format = "2";

// SOURCE: Node's documentation of customization hooks, `load`.
export async function load(url, context, nextLoad) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return nextLoad(url, context);
  const path = fileURLToPath(url);
  const text = await readFile(path, "utf8");
  const key = createHash("sha256").update(`${format}\n${path}\n${text}`).digest("hex");
  const kept = new URL(`${key}.mjs`, cache);
  const source = (await readKept(kept)) ?? (await transformed(path, text, kept));
  return { format: "module", source, shortCircuit: true };
}

/** Null where nothing is kept, or not as it was written: a host that lost its power leaves names without their bytes. */
async function readKept(kept) {
  const text = await readFile(kept, "utf8").catch(() => "");
  const [hash = "", ...lines] = text.split("\n");
  const code = lines.join("\n");
  return hash === hashOf(code) ? code : null;
}

function hashOf(code) {
  return createHash("sha256").update(code).digest("hex");
}

/** Strips the types, and keeps the result where the folder can be written. */
async function transformed(path, text, kept) {
  // Loaded here: where everything is kept, the compiler's process is not started.
  const { transform } = await import("esbuild");
  const { code } = await transform(text, {
    loader: "ts",
    format: "esm",
    target: "node20",
    sourcefile: path,
    sourcemap: "inline",
    sourcesContent: false,
  });
  try {
    await mkdir(cache, { recursive: true });
    // Renamed: a process that starts beside this one never reads half a file.
    const draft = new URL(`${randomUUID()}.part`, cache);
    await writeFile(draft, `${hashOf(code)}\n${code}`);
    await rename(draft, kept);
  } catch {
    // A folder that may only be read: slower, and the same.
  }
  return code;
}
