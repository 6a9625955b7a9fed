import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { findPage, pageHeaders, readPage } from "./find-page.ts";

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "hallumaze-kept-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

it("two that ask at once get one whole page, and the next builds nothing", async () => {
  const kept = await emptyFolder();
  const [one, other] = await Promise.all([findPage(kept), findPage(kept)]);
  expect(other).toBe(one);
  expect(await readdir(kept)).toEqual([one.slice(kept.length + 1)]);
  const built = (await stat(join(one, "index.html"))).mtimeMs;
  expect(await findPage(kept)).toBe(one);
  expect((await stat(join(one, "index.html"))).mtimeMs).toBe(built);
});

it("where nothing can be kept the page is built among the temporary files", async () => {
  const file = join(await emptyFolder(), "file");
  await writeFile(file, "");
  const folder = await findPage(join(file, "below"));
  onTestFinished(() => rm(dirname(folder), { recursive: true, force: true }));
  expect(await readdir(folder)).toContain("index.html");
});

it("no file of the page holds a script or a style inline, an address elsewhere to load from, or eval", async () => {
  const files = await readPage();
  const html = new TextDecoder().decode(files.get("/index.html")?.body);
  expect(html).not.toMatch(/<style|style=|<script(?![^>]*\bsrc=)| on\w+=/);
  expect(html.match(/(?:src|href)="[^"]*"/g)?.every((address) => /="\.\/assets\//.test(address))).toBe(true);
  expect([...files].filter(([path]) => path !== "/index.html").every(([, { isHashed }]) => isHashed)).toBe(true);
  expect(pageHeaders["content-security-policy"]).not.toMatch(/unsafe|\*|https?:/);
});

it("the first view loads less than 160 kB of compressed script, and the charts come later", async () => {
  const { gzipSync } = await import("node:zlib");
  const files = await readPage();
  const html = new TextDecoder().decode(files.get("/index.html")?.body);
  const first = [...html.matchAll(/(?:src|href)="\.(\/assets\/[^"]+\.js)"/g)].map(([, path]) => path ?? "");
  const bytes = first.map((path) => gzipSync(files.get(path)?.body ?? new Uint8Array()).byteLength);
  expect(first.length).toBeGreaterThan(0);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(160_000);
});
