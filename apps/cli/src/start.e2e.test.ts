import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, truncate, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const call = promisify(execFile);
/** Below `node_modules`: what is built there finds the packages of the registry. */
let folder = "";

beforeAll(async () => {
  await mkdir(join(root, "node_modules/.cache"), { recursive: true });
  folder = await mkdtemp(join(root, "node_modules/.cache/start-test-"));
});

afterAll(async () => rm(folder, { recursive: true, force: true }));

/** What a start with this cache runs: a file, or null for the source file by file. */
async function findProgram(cache: string): Promise<string | null> {
  const script = `const { findProgram } = await import(${JSON.stringify(join(root, "apps/cli/bin/build-program.js"))});
    console.log(JSON.stringify(await findProgram(process.argv[1])));`;
  const { stdout } = await call(process.execPath, ["--input-type=module", "-e", script, cache]);
  const found: unknown = JSON.parse(stdout);
  return typeof found === "string" ? fileURLToPath(found) : null;
}

async function buildIn(cache: string): Promise<{ readonly program: string; readonly built: string }> {
  const program = await findProgram(cache);
  if (program === null) throw new Error("nothing was built");
  return { program, built: join(program, "..") };
}

async function versionOf(program: string): Promise<string> {
  return (await call(process.execPath, [program, "--version"])).stdout.trim();
}

describe("a start of the program", () => {
  it.each([
    ["an entrance without its bytes", async (built: string) => truncate(join(built, "main.mjs"), 0)],
    ["an entrance cut short", async (built: string) => truncate(join(built, "main.mjs"), 500)],
    ["a lost entrance", async (built: string) => unlink(join(built, "main.mjs"))],
    [
      "lost parts",
      async (built: string) => {
        for (const name of await readdir(built)) if (name.startsWith("chunk-")) await unlink(join(built, name));
      },
    ],
    ["a list of its files that is none", async (built: string) => writeFile(join(built, "inventory.json"), "{}")],
  ])("builds anew what was damaged: %s", async (name, damage) => {
    const cache = join(folder, name);
    const { program, built } = await buildIn(cache);
    await damage(built);
    expect(await findProgram(cache)).toBe(program);
    expect(await versionOf(program)).toMatch(/^\d+\.\d+\.\d+$/);
    expect((await readdir(cache)).length).toBe(1);
  });

  it("takes one build where several starts are the first", async () => {
    const cache = join(folder, "at once");
    const programs = await Promise.all([1, 2, 3].map(() => findProgram(cache)));
    expect(new Set(programs).size).toBe(1);
    expect(await versionOf(programs[0] ?? "")).toMatch(/^\d/);
    expect((await readdir(cache)).length).toBe(1);
  });

  it("reads the source file by file where a build can neither be read nor mended", async () => {
    const cache = join(folder, "no folder");
    await writeFile(cache, "a file in its place");
    await chmod(cache, 0o400);
    expect(await findProgram(cache)).toBeNull();
  });
});
