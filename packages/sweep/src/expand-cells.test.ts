import { createRandom } from "@hallumaze/foundation";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";

import type { CellPlan } from "./cell-plan.ts";
import { canonicalPlan, cellId, countCells, expandCells, trialId } from "./expand-cells.ts";
import { parseSpec } from "./parse-spec.ts";
import type { SweepSpec } from "./spec.ts";

const SOLVERS = new Map([
  ["dfs-honest", {}],
  ["mirage-prone", { rate: { min: 0, max: 1, default: 0.8 } }],
]);

const PUBLISHED_CELL =
  '{"baseUrl":null,"confidence":true,"format":1,"generator":"dfs","group":"A","language":"ko","maxTokens":2500,' +
  '"mirage":true,"model":"dfs-honest","params":{},"placement":"path-order","promptVersion":"v1.1-ko",' +
  '"provider":"sim","rehearsal":false,"repeat":0,"seed":1001,"size":5,"temperature":0}';

const SERVER_PLAN: CellPlan = {
  format: 1,
  provider: "openai",
  model: "llama3.1:70b",
  baseUrl: "http://localhost:11434/v1",
  temperature: null,
  params: { top_p: 0.9 },
  maxTokens: 4000,
  promptVersion: "v1.1-en",
  generator: "wilson",
  placement: "sampled",
  seed: 0,
  size: 101,
  group: "C",
  mirage: false,
  language: "en",
  confidence: false,
  repeat: 2,
  rehearsal: true,
};

function read(text: string): SweepSpec {
  return parseSpec(text, { fileName: "sweep.yaml", solvers: SOLVERS }).spec;
}

function idsOf(text: string): readonly string[] {
  return [...expandCells(read(text), { rehearsal: false })].map((cell) => cell.cellId);
}

const PLAIN = "name: golden\nmodels: [sim/dfs-honest]\nseeds: [1001]\nsizes: [5]\n";

describe("cell ids", () => {
  it("are the first 128 bits of the SHA-256 of the plan's canonical text (golden, hashed by another program)", () => {
    const cells = [...expandCells(read(PLAIN), { rehearsal: false })];
    expect(cells.map((cell) => canonicalPlan(cell.plan))).toEqual([PUBLISHED_CELL]);
    expect(cells.map((cell) => cell.cellId)).toEqual(["e0d059dda758d23b14d522d05d463500"]);
    expect(cells.map((cell) => cell.ordinal)).toEqual([1_908_257_747]);
    expect(cellId(SERVER_PLAN)).toBe("081a93af8049435bd7b1c4448c8ce7d1");
    expect(trialId("s", "e0d059dda758d23b14d522d05d463500")).toBe("2ca960979c2857c3318b21e53017b364");
  });

  it.each([
    ["a float form", `${PLAIN}temperature: 0.0\n`],
    ["minus zero", `${PLAIN}temperature: -0.0\n`],
    [
      "every default written out",
      `${PLAIN}groups: [A]\nmirage: true\nconfidence: [true]\nlanguages: [ko]\ngenerator: dfs
placement: path-order\nrepeats: 1\nmaxTokens: 2500\ntemperature: 0\nretries: {tries: 4, empty: 1}\n`,
    ],
    ["another order of keys", "sizes: [5]\nseeds: [1001]\nmodels: [sim/dfs-honest]\nname: golden\n"],
    ["JSON", '{"name":"golden","models":["sim/dfs-honest"],"seeds":[1001],"sizes":[5]}'],
    ["a range", PLAIN.replace("[1001]", '["1001..1001"]')],
    ["an object for the model", PLAIN.replace("[sim/dfs-honest]", "[{model: sim/dfs-honest, temperature: 0}]")],
    ["a token limit a size", `${PLAIN}maxTokens: {perSize: {5: 2500, 7: 9000}}\n`],
    ["an alias", PLAIN.replace("[sim/dfs-honest]", "[{model: sim/dfs-honest, as: other}]")],
    ["another lane", PLAIN.replace("[sim/dfs-honest]", "[{model: sim/dfs-honest, lane: slow}]")],
    ["another sweep name", PLAIN.replace("golden", "renamed")],
    ["limits and retries", `${PLAIN}limits: {sim/dfs-honest: {concurrency: 3}}\nretries: {tries: 1, empty: 0}\n`],
  ])("do not change with %s", (_, text) => {
    expect(idsOf(text)).toEqual(["e0d059dda758d23b14d522d05d463500"]);
  });

  it("do not change when a solver's default parameter is written out", () => {
    const written = PLAIN.replace("[sim/dfs-honest]", "[{model: sim/mirage-prone, params: {rate: 0.80}}]");
    expect(idsOf(written)).toEqual(idsOf(PLAIN.replace("dfs-honest", "mirage-prone")));
  });

  it.each(Object.keys(SERVER_PLAN) as (keyof CellPlan)[])("change with the plan's %s", (key) => {
    const changed = { ...SERVER_PLAN, [key]: "another value" } as unknown as CellPlan;
    expect(cellId(changed)).not.toBe(cellId(SERVER_PLAN));
  });

  it("tell a rehearsal from a real run", () => {
    const [real] = expandCells(read(PLAIN), { rehearsal: false });
    const [rehearsal] = expandCells(read(PLAIN), { rehearsal: true });
    expect(rehearsal?.cellId).not.toBe(real?.cellId);
  });

  it("are those of the plan hashed the plain way, for any grid", () => {
    const spec = read(`${PLAIN.replace("[5]", "[5, 101]").replace("[1001]", '[0, 9007199254740991, "7..12"]')}
mirage: [true, false]
languages: [ko, en]
repeats: 2
`);
    // A parameter that spells the plan's own keys must not mislead the search for the seed's place.
    const models = spec.models.map((model) => ({ ...model, params: { seed: 0, size: 3, a: ',"seed":0,"size":' } }));
    const cells = [...expandCells({ ...spec, models }, { rehearsal: false })];
    expect(cells).toHaveLength(128);
    for (const cell of cells) expect(cell.cellId).toBe(cellId(cell.plan));
    expect(new Set(cells.map((cell) => cell.cellId)).size).toBe(128);
  });

  it("do not depend on how the file is written (property)", () => {
    const spec = {
      name: "golden",
      models: ["sim/dfs-honest", { model: "sim/mirage-prone", as: "prone", params: { rate: 0.5 } }],
      seeds: [1, "5..8", "published30"],
      sizes: [5, 7],
      mirage: [true, false],
      maxTokens: { perSize: { 5: 2500, 7: 4000 } },
      exclude: [{ size: 7, model: "prone" }],
    };
    const expected = idsOf(JSON.stringify(spec));
    const orders = fc.shuffledSubarray(Object.entries(spec), { minLength: 7, maxLength: 7 });
    fc.assert(
      fc.property(orders, fc.boolean(), fc.integer({ min: 1, max: 8 }), (entries, flow, indent) => {
        const options = { indent, collectionStyle: flow ? "flow" : "block" } as const;
        expect(idsOf(`# a comment\n${stringify(Object.fromEntries(entries), options)}`)).toEqual(expected);
      }),
      { seed: 1001, numRuns: 40 },
    );
  }, 20_000);
});

describe("expandCells", () => {
  it("gives model, size, mirage, repeat, then seed, each in the spec's order", () => {
    const spec = read(
      `${PLAIN.replace("[1001]", "[9, 3]").replace("[5]", "[7, 5]")}mirage: [false, true]\nrepeats: 2\n`,
    );
    const cells = [...expandCells(spec, { rehearsal: false })].map(({ plan }) => plan);
    expect(cells.slice(0, 5).map(({ size, mirage, repeat, seed }) => [size, mirage, repeat, seed])).toEqual([
      [7, false, 0, 9],
      [7, false, 0, 3],
      [7, false, 1, 9],
      [7, false, 1, 3],
      [7, true, 0, 9],
    ]);
    expect(cells).toHaveLength(16);
  });

  it("takes out what exclude names, seed by seed", () => {
    const spec = read(`${PLAIN.replace("[1001]", '["1..10", 50]').replace("[5]", "[5, 7, 9]")}mirage: [true, false]
exclude:
  - { size: 9 }
  - { size: 7, mirage: true }
  - { seed: ["2..4", "4..6", 50], size: 5 }
  - { seed: 10, mirage: [false] }
`);
    const cells = [...expandCells(spec, { rehearsal: false })].map(({ plan }) => plan);
    const seedsOf = (size: number, mirage: boolean): number[] =>
      cells.filter((plan) => plan.size === size && plan.mirage === mirage).map(({ seed }) => seed);
    expect(seedsOf(5, true)).toEqual([1, 7, 8, 9, 10]);
    expect(seedsOf(5, false)).toEqual([1, 7, 8, 9]);
    expect(seedsOf(7, true)).toEqual([]);
    expect(seedsOf(7, false)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 50]);
    expect(seedsOf(9, false)).toEqual([]);
    expect(countCells(spec)).toBe(cells.length);
  });

  it("yields its first cells at once, whatever the grid's size", () => {
    const spec = read(PLAIN.replace("[1001]", '["0..999999"]').replace("[5]", "[5, 7, 9]"));
    const cells = expandCells(spec, { rehearsal: false });
    expect(cells.next().value?.plan.seed).toBe(0);
    expect(cells.next().value?.plan.seed).toBe(1);
    expect(countCells(spec)).toBe(3_000_000);
  });

  it("spreads every condition over a lane's order: the first tenth of the ordinals holds each about alike", () => {
    const spec = read(PLAIN.replace("[1001]", '["1..1000"]').replace("[5]", "[5, 7]"));
    const early = [...expandCells(spec, { rehearsal: false })].filter(({ ordinal }) => ordinal < 2 ** 31 / 10);
    const small = early.filter(({ plan }) => plan.size === 5).length;
    expect(early.length).toBeGreaterThan(150);
    expect(early.length).toBeLessThan(250);
    expect(small / early.length).toBeGreaterThan(0.4);
    expect(small / early.length).toBeLessThan(0.6);
  });

  it("shuffles differently in a sweep of another name, with ordinals of 31 bits", () => {
    const random = createRandom(7);
    const seeds = Array.from({ length: 50 }, () => random.below(1_000_000));
    const ordinals = (name: string): number[] =>
      [...expandCells(read(PLAIN.replace("golden", name).replace("1001", seeds.join())), { rehearsal: false })].map(
        ({ ordinal }) => ordinal,
      );
    expect(ordinals("a")).not.toEqual(ordinals("b"));
    expect(Math.max(...ordinals("a"))).toBeLessThan(2 ** 31);
    expect(ordinals("a").every((ordinal) => Number.isInteger(ordinal) && ordinal >= 0)).toBe(true);
  });
});
