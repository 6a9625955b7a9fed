import { type ImportedFile, type ImportedTrial, parseImport } from "@hallumaze/imports";
import { afterAll, beforeAll, expect, it } from "vitest";

import { openStage, type Stage } from "../test/ledger-stage.ts";
import type { Ledger } from "./open-store.ts";

let stage: Stage;
let other: Ledger;
beforeAll(async () => {
  stage = await openStage();
  other = await stage.openAnother();
});
afterAll(() => stage.close());

it("a file and its rows come back as they were read, what is not told as null, hostile text unharmed", async () => {
  const log = `STEP 1: (0,0) → [E→]\0 \ud800 ' -- DROP TABLE`;
  const people = { participant: "P\0", size: 5, seed: 9007199254740991, mirage: true, latency_s: 1.5, log };
  const { file, rows } = read(JSON.stringify([people]), "a\0b.json");
  const { kind, stored } = await stage.store.addImport(file, rows);
  expect(kind).toBe("added");
  expect(stored).toMatchObject({ ...file, rowCount: 1 });
  expect(await rowsOf(stage.store, [stored.importId])).toEqual([
    { ...rows[0], importId: stored.importId, kind: "humanLog" },
  ]);
  expect(rows[0]?.logText).toBe(log);
});

it("the same import twice, from two processes at once, is one; a second file of other bytes is another", async () => {
  const { file, rows } = read(published(30));
  const answers = await Promise.all([stage.store, other, stage.store].map((store) => store.addImport(file, rows)));
  expect(answers.map(({ kind }) => kind).toSorted()).toEqual(["added", "known", "known"]);
  expect(new Set(answers.map(({ stored }) => stored.importId)).size).toBe(1);
  expect(await rowsOf(stage.store, [answers[0]?.stored.importId ?? ""])).toHaveLength(30);
  const longer = read(published(31));
  expect((await stage.store.addImport(longer.file, longer.rows)).kind).toBe("added");
});

it("an import that cannot be kept whole leaves nothing behind", async () => {
  // More than one statement's rows: the last of them breaks it.
  const { file, rows } = read(published(2500), "broken");
  const [first] = rows;
  const twice = first === undefined ? [] : [...rows, first];
  await expect(stage.store.addImport({ ...file, contentKey: "broken" }, twice)).rejects.toMatchObject({
    code: "database-refused",
  });
  expect((await stage.store.listImports()).filter(({ fileName }) => fileName === "broken")).toEqual([]);
});

it("imports are listed oldest first, streamed in pages by position, and removed with their rows", async () => {
  const { file, rows } = read(published(25, "paged"), "paged.csv");
  const { stored } = await stage.store.addImport(file, rows);
  expect((await stage.store.listImports()).at(-1)).toEqual(stored);
  const pages: number[][] = [];
  for await (const page of stage.store.streamImported(10, [stored.importId]))
    pages.push(page.map((row) => row.position));
  expect(pages.map((page) => page.length)).toEqual([10, 10, 5]);
  expect(pages.flat()).toEqual(rows.map(({ position }) => position));
  expect(await other.removeImport(stored.importId)).toEqual(stored);
  expect(await stage.store.removeImport(stored.importId)).toBeNull();
  expect(await rowsOf(stage.store, [stored.importId])).toEqual([]);
  const left = await stage.sql("SELECT 1 FROM imported_trials WHERE import_id = $1", [stored.importId]);
  expect(left).toEqual([]);
  expect((await stage.store.addImport(file, rows)).kind).toBe("added");
});

it("all imports are streamed where none is named, and an id that is none names nothing", async () => {
  const all = await rowsOf(stage.store);
  const counts = (await stage.store.listImports()).map(({ rowCount }) => rowCount);
  expect(all).toHaveLength(counts.reduce((sum, count) => sum + count, 0));
  expect(await rowsOf(stage.store, ["no id"])).toEqual([]);
  expect(await stage.store.removeImport("no id")).toBeNull();
});

function published(rows: number, model = "glm"): string {
  const lines = Array.from({ length: rows }, (_, at) => `${model},5,${at},1,0.9,`);
  return `model,size,seed,sr,mei,ce\n${lines.join("\n")}\n`;
}

function read(
  text: string,
  fileName = "file",
): { readonly file: ImportedFile; readonly rows: readonly ImportedTrial[] } {
  const bytes = new TextEncoder().encode(text);
  const result = parseImport({ fileName, bytes, as: null, model: null, skipBad: false });
  if (result.kind === "refused") throw new Error(JSON.stringify(result.problems));
  return result;
}

async function rowsOf(store: Ledger, importIds?: readonly string[]) {
  const rows = [];
  for await (const page of store.streamImported(1000, importIds)) rows.push(...page);
  return rows;
}
