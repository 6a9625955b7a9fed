import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

import { writeManifest, readManifest } from "@hallumaze/publishing";
import { createDatabase } from "@hallumaze/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { runHeld } from "../test/held-console.ts";
import { openStage, type Stage } from "../test/program-stage.ts";

// From rows to the paper: the commands that a researcher ends with, and those that a reviewer begins with.

let stage: Stage;
let drop: () => Promise<void>;
const quick = ["--resamples", "500"];

beforeAll(async () => {
  const database = await createDatabase();
  drop = database.drop;
  stage = openStage({ DATABASE_URL: database.url });
  const spec = stage.spec("paper", {
    models: ["sim/oracle", "sim/dfs-honest", "sim/mirage-prone"],
    seeds: ["1..8"],
    sizes: [5, 7],
    mirage: [true, false],
  });
  const ran = await stage.run(["run", spec]);
  if (ran.code !== 0) throw new Error(ran.err);
}, 180_000);
afterAll(async () => {
  await stage.clear();
  await drop();
});

/** Models of which every request fails. */
const failing = ["sim/oracle", "sim/raster"].map((model) => ({
  model,
  as: `${model}-broken`,
  params: { failureRate: 1 },
}));

describe("report", () => {
  it("writes every experiment that the sweep holds: a page that loads nothing, tables and figures in every form", async () => {
    const report = await stage.run(["report", "paper", "--experiments", "models,mirage,language", ...quick]);
    expect(report).toMatchObject({ code: 0 });
    expect(report.out).toContain("left out: language: all prompts are in one language");
    const folder = join(stage.folder, "results/paper/report");
    const page = readFileSync(join(folder, "report.html"), "utf8");
    expect(page).toContain("<h2>");
    expect(page.match(/(?:src|href)="(?!data:image\/svg\+xml;base64,|#)[^"]*"/g)).toBeNull();
    expect(page).toContain("default-src 'none'");
    const mirage = JSON.parse(readFileSync(join(folder, "experiments/mirage.json"), "utf8")) as {
      readonly tables: readonly { readonly rows: readonly object[] }[];
      readonly figures: readonly object[];
    };
    expect(mirage.tables[0]?.rows.length).toBeGreaterThan(0);
    expect(mirage.figures.length).toBeGreaterThan(0);
    for (const end of [".md", ".csv", ".tex"]) expect(existsSync(join(folder, `tables/models${end}`))).toBe(true);
    const [svg, pdf] = ["svg", "pdf"].map((end) => readFileSync(join(folder, `figures/models-wide.${end}`)));
    expect(svg?.toString().startsWith("<svg")).toBe(true);
    expect(pdf?.subarray(0, 5).toString()).toBe("%PDF-");
  });

  it.each([
    ["nothing was asked yet", "submit", { seeds: ["9001..9003"] }],
    ["every trial failed", "run", { models: failing, retries: { tries: 1 } }],
  ])("is written where %s, without the figures that nothing is known for", async (name, verb, spec) => {
    const sweep = name.replaceAll(" ", "-");
    await stage.run([verb, stage.spec(sweep, { models: ["sim/oracle", "sim/raster"], seeds: ["1..3"], ...spec })]);
    expect(await stage.run(["report", sweep, ...quick])).toMatchObject({ code: 0 });
    const folder = join(stage.folder, "results", sweep, "report");
    expect(existsSync(join(folder, "report.html"))).toBe(true);
    expect(existsSync(join(folder, "figures/models.svg"))).toBe(false);
    expect(existsSync(join(folder, "figures/outcomes.svg"))).toBe(true);
  });
});

it("a sweep of which every trial failed is bundled and replayed", async () => {
  await stage.run(["run", stage.spec("failed", { models: failing, seeds: ["21..23"], retries: { tries: 1 } })]);
  const bundle = join(stage.folder, "bundle-failed");
  expect(await stage.run(["bundle", "failed", "--output", bundle, ...quick])).toMatchObject({ code: 0 });
  expect(await stage.run(["replay", bundle])).toMatchObject({ code: 0 });
});

describe("analyze", () => {
  it("finds Mirage Δ where it was built in and none where it was not", async () => {
    const told = await stage.run(["analyze", "paper", "--experiment", "mirage", "--json", ...quick]);
    expect(told).toMatchObject({ code: 0 });
    const { reading } = JSON.parse(told.out) as { readonly reading: readonly string[] };
    expect(reading.find((sentence) => sentence.includes("sim/mirage-prone"))).toBeDefined();
    const paired = await stage.run(["analyze", "paper", "--json", ...quick]);
    const { pairs } = JSON.parse(paired.out) as {
      readonly pairs: readonly {
        readonly a: string;
        readonly b: string;
        readonly difference: { readonly lo: number };
      }[];
    };
    expect(pairs.map(({ a, b }) => `${a} ${b}`)).toContain("sim/mirage-prone sim/oracle");
  });

  it("gives the published figures for a file of published trials, with the warning of the ceiling", async () => {
    const source = new URL("../../../packages/metrics/src/published-trials-5x5.csv", import.meta.url);
    writeFileSync(join(stage.folder, "glm.csv"), readFileSync(source));
    const told = await runHeld(["analyze", "glm.csv", "--method", "published", "--json"], { folder: stage.folder });
    expect(told).toMatchObject({ code: 0, openedHouse: false });
    const { models, warnings } = JSON.parse(told.out) as {
      readonly models: Readonly<Record<string, { readonly n: number; readonly mei: { readonly mean: number } }>>;
      readonly warnings: readonly { readonly code: string }[];
    };
    expect(models["glm-4.7"]?.n).toBe(30);
    // SOURCE: the mean of the file's thirty values.
    expect(models["glm-4.7"]?.mei.mean).toBeCloseTo(0.646243, 6);
    expect(warnings.map(({ code }) => code)).toContain("ceiling-test");
  });

  it.each([
    [["analyze", "no-such.csv", "--method", "published"], "there is no file no-such.csv"],
    [["analyze", "glm.csv"], "--method published"],
    [["analyze", "paper", "--method", "paired", "--experiment", "mirage"], "give one"],
    [["analyze", "paper", "--level", "95"], "0.95"],
  ] as const)("says what is wrong with %j", async (words, message) => {
    const told = await runHeld([...words], { folder: stage.folder });
    expect(told).toMatchObject({ code: 2, openedHouse: false });
    expect(told.err).toContain(message);
  });
});

it("exports Parquet to a file, and to nothing else", async () => {
  expect(await stage.run(["export", "paper", "--format", "parquet"])).toMatchObject({ code: 2 });
  const told = await stage.run(["export", "paper", "--format", "parquet", "--output", "trials.parquet"]);
  expect(told).toMatchObject({ code: 0 });
  expect(told.err).toContain("96 trials");
  expect(readFileSync(join(stage.folder, "trials.parquet")).subarray(0, 4).toString()).toBe("PAR1");
});

describe("bundle and replay", () => {
  const replay = (folder: string, ...words: readonly string[]) =>
    runHeld(["replay", folder, "--json", ...words], { folder: stage.folder });

  it("replays to the same bytes without key or database, and tells what was changed", async () => {
    const made = await stage.run(["bundle", "paper", "--output", "bundle", "--experiments", "models", ...quick]);
    expect(made).toMatchObject({ code: 0 });
    const same = await replay("bundle");
    expect(same).toMatchObject({ code: 0, openedHouse: false });
    expect(JSON.parse(same.out)).toMatchObject({ trials: 96, rescored: 96, same: true, differentFiles: [] });
    expect(await stage.run(["bundle", "paper", "--output", "bundle"])).toMatchObject({ code: 2 });

    const records = join(stage.folder, "bundle/records.jsonl.gz");
    const text = gunzipSync(readFileSync(records)).toString();
    writeFileSync(records, gzipSync(text.replace("FINAL_PATH", "FINAL PATHS ARE")));
    const touched = await replay("bundle");
    expect(touched).toMatchObject({ code: 2 });
    expect(touched.err).toContain("changed: records.jsonl.gz");

    // Whoever hashes it anew is found out by the scores.
    const folder = join(stage.folder, "bundle");
    await writeManifest(folder, (await readManifest(folder)).facts);
    const forged = await replay("bundle", "--output", "forged");
    expect(forged).toMatchObject({ code: 1 });
    expect(JSON.parse(forged.out)).toMatchObject({ same: false, differentScores: 1 });

    // Nothing is written over: not a folder that is there, not the bundle itself.
    expect(await replay("bundle", "--output", "forged")).toMatchObject({ code: 2 });
    expect(await replay("bundle", "--output", "bundle/report")).toMatchObject({ code: 2 });
    writeFileSync(records, gzipSync(`${text.split("\n")[0]}\n{ no JSON`));
    await writeManifest(folder, (await readManifest(folder)).facts);
    const broken = await replay("bundle");
    expect(broken).toMatchObject({ code: 2 });
    expect(broken.err).toContain("records.jsonl.gz, line 2: not what bundle writes");

    // Some 300 KB that unpack to 300 MB of one line.
    writeFileSync(records, gzipSync(Buffer.alloc(300 * 1024 ** 2, "x")));
    await writeManifest(folder, (await readManifest(folder)).facts);
    const bomb = await replay("bundle");
    expect(bomb).toMatchObject({ code: 2 });
    expect(bomb.err).toContain("records.jsonl.gz, line 1: longer than 256 MiB");
  });

  it("says that a folder is no bundle", async () => {
    const told = await replay("results");
    expect(told).toMatchObject({ code: 2 });
    expect(told.err).toContain("is no bundle");
  });
});
