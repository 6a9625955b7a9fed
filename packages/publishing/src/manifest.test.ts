import { appendFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { checkManifest, manifestFile, readManifest, writeManifest } from "./manifest.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hallumaze-manifest-"));
  await mkdir(join(folder, "tables"));
  await writeFile(join(folder, "tables", "b.csv"), "abc");
  await writeFile(join(folder, "a.svg"), "");
});
afterEach(() => rm(folder, { recursive: true }));

it("names every file below the folder with size and hash, in the order of paths, and no date", async () => {
  const made = await writeManifest(folder, { sweep: "night" });
  expect(made).toEqual({
    format: "hallumaze-manifest-1",
    facts: { sweep: "night" },
    files: [
      { path: "a.svg", bytes: 0, sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
      // SOURCE: FIPS 180-2, appendix B.1: the digest of "abc".
      { path: "tables/b.csv", bytes: 3, sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    ],
  });
  const first = await readFile(join(folder, manifestFile), "utf8");
  await writeManifest(folder, { sweep: "night" });
  expect(await readFile(join(folder, manifestFile), "utf8")).toBe(first);
});

it("a folder as it was made shows no difference", async () => {
  await writeManifest(folder);
  expect(await checkManifest(folder)).toMatchObject({ changed: [], missing: [], added: [] });
});

it("what was changed, taken away and put in is named", async () => {
  await writeManifest(folder);
  await writeFile(join(folder, "tables", "b.csv"), "abd");
  await rm(join(folder, "a.svg"));
  await writeFile(join(folder, "c.txt"), "new");
  expect(await checkManifest(folder)).toMatchObject({
    changed: ["tables/b.csv"],
    missing: ["a.svg"],
    added: ["c.txt"],
  });
});

it("a link is refused: a copy of the folder would not hold what it leads to", async () => {
  await symlink("/etc/hostname", join(folder, "link"));
  await expect(writeManifest(folder)).rejects.toMatchObject({ code: "manifest-path" });
});

describe("a manifest that is none", () => {
  const hash = "0".repeat(64);
  const withFiles = (files: unknown): string => JSON.stringify({ format: "hallumaze-manifest-1", facts: {}, files });
  it.each([
    ["half a file", '{"format":'],
    ["another format", '{"format":"x","facts":{},"files":[]}'],
    ["a path out of the folder", withFiles([{ path: "../x", bytes: 1, sha256: hash }])],
    ["a path from the root", withFiles([{ path: "/etc/passwd", bytes: 1, sha256: hash }])],
    ["a path of another system", withFiles([{ path: "C:\\x", bytes: 1, sha256: hash }])],
    ["no hash", withFiles([{ path: "x", bytes: 1, sha256: "0" }])],
    ["a path twice", withFiles([1, 2].map(() => ({ path: "x", bytes: 1, sha256: hash })))],
    ["a key too many", withFiles([{ path: "x", bytes: 1, sha256: hash, run: "me" }])],
  ])("%s is refused, with the place", async (_, text) => {
    await writeFile(join(folder, manifestFile), text);
    await expect(readManifest(folder)).rejects.toMatchObject({ code: "manifest-invalid" });
  });

  it("a folder without one says so", async () => {
    await expect(checkManifest(folder)).rejects.toMatchObject({ code: "manifest-missing" });
  });
});

it("a byte at the end of a file is seen", async () => {
  await writeManifest(folder);
  await appendFile(join(folder, "a.svg"), "\n");
  expect((await checkManifest(folder)).changed).toEqual(["a.svg"]);
});
