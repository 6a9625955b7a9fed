import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

import { explainError } from "./errors.ts";
import { writeBeside, writeWhole } from "./files.ts";

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "hallumaze-files-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** What the system says of a full disk: it names no file. */
function fullDisk(): Error {
  return Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
}

describe("a file that is written over", () => {
  it("is as it was where the new one cannot be written, and the error names it in plain words", async () => {
    const folder = await emptyFolder();
    const path = join(folder, "trials.parquet");
    await writeFile(path, "the old one");
    const torn = writeBeside(path, async (draft) => {
      await writeFile(draft, "half of");
      throw fullDisk();
    });
    const error: unknown = await torn.catch((thrown: unknown) => thrown);
    expect(explainError(error)).toBe(`cannot use ${path}: the disk is full (ENOSPC).`);
    expect(await readFile(path, "utf8")).toBe("the old one");
    expect(await readdir(folder)).toEqual(["trials.parquet"]);
  });

  it("is told of by its name, too, where its text comes to an end", async () => {
    const path = join(await emptyFolder(), "trials.csv");
    const chunks = async function* () {
      yield "a";
      throw fullDisk();
    };
    const error: unknown = await writeWhole(path, chunks()).catch((thrown: unknown) => thrown);
    expect(explainError(error)).toBe(`cannot use ${path}: the disk is full (ENOSPC).`);
  });

  it("a folder that another process has put in its place meanwhile is named", async () => {
    const folder = await emptyFolder();
    const [draft, target] = [join(folder, "bundle.partial"), join(folder, "bundle")];
    await Promise.all([mkdir(draft), mkdir(join(target, "data"), { recursive: true })]);
    const error: unknown = await rename(draft, target).catch((thrown: unknown) => thrown);
    expect(explainError(error)).toBe(
      `cannot use ${target}: a folder that holds something stands in the way (ENOTEMPTY).`,
    );
  });

  it("is written straight into where it is a pipe: it must not be replaced", async () => {
    const folder = await emptyFolder();
    const path = join(folder, "pipe");
    execFileSync("mkfifo", [path]);
    expect(await writeBeside(path, async (place, mode) => [place, mode])).toEqual([path, null]);
    expect(await readdir(folder)).toEqual(["pipe"]);
  });
});
