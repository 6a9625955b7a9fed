import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import { describeThisProcess } from "../process-identity.ts";
import { withFolderLock } from "./data-folder.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "hallumaze-lock-"));
  file = path.join(folder, "lock");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const deadHolder = () => `${describeThisProcess().split("/")[0]}/${process.pid}/1 ${randomUUID()}`;

it("lets one in at a time, and leaves nothing behind", async () => {
  let inside = 0;
  let most = 0;
  const enter = () =>
    withFolderLock(file, 10_000, async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise(setImmediate);
      inside -= 1;
    });
  await Promise.all([enter(), enter(), enter()]);
  expect(most).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});

it("opens again after work that failed", async () => {
  await expect(withFolderLock(file, 1000, () => Promise.reject(new Error("work")))).rejects.toThrow("work");
  expect(await withFolderLock(file, 1000, async () => "in")).toBe("in");
});

it("takes over from a dead holder, by one of several that see it", async () => {
  writeFileSync(file, deadHolder());
  const entered: string[] = [];
  const enter = (name: string) =>
    withFolderLock(file, 10_000, async () => {
      entered.push(`${name} in`);
      await new Promise(setImmediate);
      entered.push(`${name} out`);
    });
  await Promise.all([enter("a"), enter("b")]);
  expect([
    ["a in", "a out", "b in", "b out"],
    ["b in", "b out", "a in", "a out"],
  ]).toContainEqual(entered);
  expect(readdirSync(folder)).toEqual([]);
});

it("gives up on a live holder after the wait, naming it", async () => {
  writeFileSync(file, `${describeThisProcess()} ${randomUUID()}`);
  const failure = withFolderLock(file, 60, async () => undefined);
  await expect(failure).rejects.toMatchObject({ code: "embedded-locked", retry: true });
  await expect(failure).rejects.toThrow(new RegExp(`/${process.pid}/`));
  expect(existsSync(file)).toBe(true);
});

it("spares a lock that is being written, and removes one left half-written long ago", async () => {
  writeFileSync(file, "");
  await expect(withFolderLock(file, 60, async () => undefined)).rejects.toMatchObject({ code: "embedded-locked" });
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(file, longAgo, longAgo);
  expect(await withFolderLock(file, 1000, async () => "in")).toBe("in");
});
