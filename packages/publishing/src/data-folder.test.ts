import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";

import { writeDataFolder } from "./data-folder.ts";
import { lostRow, pagesOf, trialRow } from "./row.fixture.ts";
import { trialColumns } from "./trial-columns.ts";
import { writeTrialParquet } from "./trial-parquet.ts";

const facts = { title: "A night", license: "cc-by-4.0", description: "Asked at night.", programVersion: "0.1.0" };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "hallumaze-data-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("the Parquet file, read back by a reader", () => {
  it("holds every trial with every column, and null for what is not known", async () => {
    const judge = { level: 3, unscoredReason: null, confidence: 0.8 } as never;
    const pages = pagesOf([trialRow(9_007_199_254_740_991, { judge })], [], [lostRow(2)]);
    const file = join(folder, "trials.parquet");
    expect(await writeTrialParquet(pages, file)).toEqual({ rows: 2 });
    const [done, lost] = await parquetReadObjects({ file: await asyncBufferFromFile(file) });
    expect(Object.keys(done ?? {})).toEqual(trialColumns.map(({ name }) => name));
    expect(done).toMatchObject({
      cell_id: "cell-9007199254740991",
      seed: 9_007_199_254_740_991n,
      mirage: true,
      params: '{"errorRate":0.1}',
      finished_at: new Date(Date.UTC(2026, 2, 22, 14, 30, 22)),
      latency_ms: 4200,
      cached_tokens: null,
      cost_usd: 0.00125,
      judge_level: 3,
      seed_mei: 0.9,
      published_ce: null,
      robust_sr: 1,
    });
    expect(lost).toMatchObject({
      state: "failed",
      outcome: "timeout",
      seed_sr: null,
      robust_mei: null,
      cost_usd: null,
    });
  });

  it("is made of groups of rows, so that memory holds one of them, and is the same bytes each time", async () => {
    const rows = Array.from({ length: 45 }, (_, seed) => trialRow(seed));
    const [a, b] = [join(folder, "a.parquet"), join(folder, "b.parquet")];
    await writeTrialParquet(pagesOf(rows), a, 20);
    await writeTrialParquet(pagesOf(...Array.from({ length: 9 }, (_, at) => rows.slice(at * 5, at * 5 + 5))), b, 20);
    expect((await readFile(a)).equals(await readFile(b))).toBe(true);
    const { row_groups: groups } = await parquetMetadataAsync(await asyncBufferFromFile(a));
    expect(groups.map(({ num_rows }) => Number(num_rows))).toEqual([20, 20, 5]);
  });

  it("has its columns also where there is no trial", async () => {
    const file = join(folder, "empty.parquet");
    expect(await writeTrialParquet(pagesOf(), file)).toEqual({ rows: 0 });
    const { schema, num_rows: rows } = await parquetMetadataAsync(await asyncBufferFromFile(file));
    expect(schema.slice(1).map(({ name }) => name)).toEqual(trialColumns.map(({ name }) => name));
    expect(Number(rows)).toBe(0);
  });

  it("says of every column whether it may be empty, as the card does", async () => {
    const file = join(folder, "trials.parquet");
    const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(file));
    expect(schema.slice(1).map(({ repetition_type: repetition }) => repetition === "OPTIONAL")).toEqual(
      trialColumns.map(({ nullable }) => nullable),
    );
  });
});

describe("the card", () => {
  it("has a head that the hub reads: licence, files, features of the file's own columns, counts", async () => {
    const report = await writeDataFolder(pagesOf([trialRow(1), trialRow(2), lostRow(3)]), join(folder, "set"), facts);
    expect(report).toMatchObject({
      rows: 3,
      answered: 2,
      models: ["sim/oracle"],
      files: ["README.md", "data/trials.parquet"],
    });
    const card = await readFile(join(folder, "set", "README.md"), "utf8");
    const head = parse(card.split("---\n")[1] ?? "") as Record<string, unknown>;
    expect(head).toMatchObject({
      license: "cc-by-4.0",
      pretty_name: "A night",
      language: ["ko"],
      size_categories: ["n<1K"],
      configs: [{ config_name: "default", data_files: [{ split: "train", path: "data/trials.parquet" }] }],
      dataset_info: {
        features: trialColumns.map(({ name }) => ({ name, dtype: expect.any(String) })),
        splits: [{ name: "train", num_bytes: report.byteCount, num_examples: 3 }],
      },
    });
    for (const { name, meaning } of trialColumns) {
      expect(card).toContain(`| \`${name}\` |`);
      expect(card).toContain(meaning);
    }
    expect(card).toContain("3 trials, 2 with an answer");
  });

  it("a hostile name breaks neither the head nor the page", async () => {
    const hostile = "a`b\n---\nlicense: none\n| x | [y](http://z)";
    const rows = [trialRow(1, { alias: hostile, sweep: hostile })];
    await writeDataFolder(pagesOf(rows), join(folder, "hostile"), { ...facts, title: "x: [y]\n---\n# z" });
    const card = await readFile(join(folder, "hostile", "README.md"), "utf8");
    const [, head = "", ...page] = card.split(/^---\n/m);
    expect(page).toHaveLength(1);
    expect(parse(head)).toMatchObject({ license: "cc-by-4.0", pretty_name: "x: [y]\n---\n# z" });
    expect(card).toContain("`a'b --- license: none | x | [y](http://z)`");
  });
});

it("every column has a name of its own, in the letters that all readers take, and a sentence", () => {
  const names = trialColumns.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, meaning } of trialColumns) {
    expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(meaning).toMatch(/^[^|\n]+\.$|…$/);
  }
});
