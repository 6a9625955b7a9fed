import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { countCells, expandCells } from "./expand-cells.ts";
import { judgesOf, lanesOf } from "./lanes.ts";
import { parseSpec, parseStoredSpec, specToJson } from "./parse-spec.ts";
import { PUBLISHED_30 } from "./seeds.ts";
import type { SweepSpec } from "./spec.ts";
import { SpecError } from "./spec-error.ts";
import { specJsonSchema } from "./spec-schema.ts";

const SOLVERS = new Map([
  ["oracle", {}],
  ["mirage-prone", { rate: { min: 0, max: 1, default: 0.8 } }],
]);
const OPTIONS = { fileName: "sweep.yaml", solvers: SOLVERS };

const REHEARSAL = `# every key that this version takes
name: overnight-mirage
models:
  - sim/oracle
  - { model: sim/mirage-prone, params: { rate: 0.5 }, as: prone, temperature: 0, maxTokens: 900, lane: slow }
seeds: [1001, "2000..2029", published30]
sizes: [5, 7, 9, 11]
groups: [A]
mirage: [true, false]
confidence: true
languages: [ko]
generator: dfs
placement: path-order
repeats: 1
maxTokens: { perSize: {5: 2500, 7: 4000} }
temperature: 0
limits:
  prone: { concurrency: 10 }
retries: { tries: 4, empty: 1 }
exclude: [{ size: 11, model: prone }]
`;

function accept(text: string): SweepSpec | null {
  try {
    return parseSpec(text, OPTIONS).spec;
  } catch (error) {
    if (error instanceof SpecError) return null;
    throw error;
  }
}

describe("parseSpec", () => {
  it("reads every key, fills in the defaults and notes what it dropped", () => {
    const { spec, notes } = parseSpec(REHEARSAL, OPTIONS);
    expect(spec.models).toMatchObject([
      { provider: "sim", model: "oracle", alias: "sim/oracle", lane: "sim.oracle", temperatureExplicit: true },
      { alias: "prone", lane: "lane.sim.slow", params: { rate: 0.5 }, maxTokens: { default: 900, perSize: {} } },
    ]);
    expect(notes).toEqual([
      "seeds: 2 repeats dropped, the first of seed 1001",
      "sim/oracle: sizes 9, 11 take maxTokens 2500",
    ]);
    // 1 + 30 + 28 seeds (1001 and 2002 are in the pool) on 2 mirages; 4 sizes for one model, 3 for the other.
    expect(countCells(spec)).toBe(59 * 2 * 7);
    expect(lanesOf(spec).map(({ lane, limits }) => [lane, limits])).toEqual([
      ["sim.oracle", {}],
      ["lane.sim.slow", { concurrency: 10 }],
    ]);
  });

  it("takes the published seeds in their published order", () => {
    const { spec } = parseSpec("name: p\nmodels: [sim/oracle]\nseeds: [published30]\nsizes: [5]\n", OPTIONS);
    expect(spec.seeds.map(({ first }) => first)).toEqual([...PUBLISHED_30]);
    expect(new Set(PUBLISHED_30).size).toBe(30);
  });

  it("asks for temperature 0 by default, which is not asking for it explicitly", () => {
    const { spec } = parseSpec("name: p\nmodels: [sim/oracle]\nseeds: [0]\nsizes: [3, 101]\n", OPTIONS);
    expect(spec.models[0]).toMatchObject({ temperature: 0, temperatureExplicit: false });
    expect(spec.seeds).toEqual([{ first: 0, last: 0 }]);
  });

  it("drops repeats of any list with a note", () => {
    const text = "name: p\nmodels: [sim/oracle]\nseeds: [5, '3..6', 4]\nsizes: [5, 5]\nmirage: [true, true]\n";
    const { spec, notes } = parseSpec(text, OPTIONS);
    expect(spec.seeds).toEqual([
      { first: 5, last: 5 },
      { first: 3, last: 4 },
      { first: 6, last: 6 },
    ]);
    expect(notes).toEqual([
      "seeds: 2 repeats dropped, the first of seed 5",
      "sizes: 1 repeat dropped",
      "mirage: 1 repeat dropped",
    ]);
  });

  it("reads JSON by the file's ending", () => {
    const json = '{"name":"p","models":["sim/oracle"],"seeds":[1],"sizes":[5]}';
    expect(parseSpec(json, { ...OPTIONS, fileName: "sweep.json" }).spec.name).toBe("p");
    expect(() => parseSpec("name: p", { ...OPTIONS, fileName: "sweep.json" })).toThrow(SpecError);
  });
});

describe("specToJson", () => {
  const model = fc.constantFrom("oracle", "mirage-prone");
  const written = fc.record(
    {
      name: fc.constantFrom("a", "야간 1", "x.y_z-1"),
      models: fc.uniqueArray(
        fc.record(
          {
            model: model.map((name) => `sim/${name}`),
            as: fc
              .string({ unit: fc.constantFrom("a", "b", "/", "1"), minLength: 1, maxLength: 6 })
              .map((s) => `m${s}`),
            temperature: fc.option(fc.double({ min: 0, max: 2, noNaN: true })),
            maxTokens: fc.oneof(fc.integer({ min: 1, max: 9999 }), fc.constant({ perSize: { 5: 100 }, default: 7 })),
            lane: fc.constantFrom("slow", "fast"),
          },
          { requiredKeys: ["model", "as"] },
        ),
        { minLength: 1, maxLength: 3, selector: (entry) => entry.as },
      ),
      seeds: fc.array(fc.oneof(fc.maxSafeNat(), fc.constantFrom("2..9", "published30", "7..7", "5..20")), {
        minLength: 1,
      }),
      sizes: fc.array(fc.integer({ min: 3, max: 101 }), { minLength: 1, maxLength: 5 }),
      mirage: fc.oneof(fc.boolean(), fc.array(fc.boolean(), { minLength: 1, maxLength: 3 })),
      languages: fc.subarray(["ko", "en"], { minLength: 1 }),
      generator: fc.constantFrom("dfs", "wilson", "prim", "kruskal"),
      placement: fc.constantFrom("path-order", "sampled"),
      repeats: fc.integer({ min: 1, max: 5 }),
      temperature: fc.double({ min: 0, max: 2, noNaN: true }),
      maxTokens: fc.constantFrom<unknown>(50, { perSize: { 7: 9 } }),
      retries: fc.constantFrom({}, { tries: 1 }, { empty: 0 }),
      exclude: fc.constantFrom<unknown[]>(
        [],
        [{ seed: ["3..4", 9], mirage: true }],
        [{ size: [5, 6], language: "en" }],
      ),
    },
    { requiredKeys: ["name", "models", "seeds", "sizes"] },
  );

  it("writes what parseSpec and parseStoredSpec read back to the same spec (property)", () => {
    fc.assert(
      fc.property(written, (input) => {
        const spec = accept(JSON.stringify(input));
        // Two entries may be the same model, or exclude may empty the grid.
        fc.pre(spec !== null);
        expect(parseSpec(specToJson(spec), OPTIONS).spec).toEqual(spec);
        expect(parseStoredSpec(specToJson(spec))).toEqual(spec);
      }),
      { seed: 1001, numRuns: 80 },
    );
  }, 20_000);

  it("keeps readable what a later version accepted: groups, providers, budget, judge, rate limits", () => {
    const stored = parseStoredSpec(
      JSON.stringify({
        name: "later",
        models: [{ model: "openai/llama3.1:70b", baseUrl: "http://LOCALHOST:11434/v1/", keyEnv: "OLLAMA_KEY" }],
        seeds: [1],
        sizes: [5],
        groups: ["A", "B", "C"],
        budgetUsd: 40,
        judge: { models: ["openai/gpt-4o"] },
        limits: { "openai/llama3.1:70b": { rpm: 5 } },
      }),
    );
    expect(stored.models[0]?.baseUrl).toBe("http://localhost:11434/v1");
    expect(stored.judge).toEqual({ models: ["openai/gpt-4o"], share: 1, consensusBelow: 0.6, repeats: 1 });
    expect(parseStoredSpec(specToJson(stored))).toEqual(stored);
  });

  it("writes priority and weight only where they are set: an older worker refuses keys that it does not know", () => {
    const read = (more: object) =>
      parseSpec(JSON.stringify({ name: "p", models: ["sim/oracle"], seeds: [1], sizes: [5], ...more }), OPTIONS).spec;
    expect(specToJson(read({}))).not.toMatch(/priority|weight/);
    const set = read({ priority: -3, weight: 0.5 });
    expect(set).toMatchObject({ priority: -3, weight: 0.5 });
    expect(parseStoredSpec(specToJson(set))).toEqual(set);
    expect(() => read({ priority: 11 })).toThrow(SpecError);
    expect(() => read({ weight: 0 })).toThrow(SpecError);
  });

  it("asks in batches what has them, moves no cell by it, and says what is asked live all the same", () => {
    const read = (more: object) => {
      const models = ["anthropic/claude-haiku-4-5", "sim/oracle"];
      return parseSpec(JSON.stringify({ name: "p", models, seeds: [1], sizes: [5], ...more }), OPTIONS);
    };
    const [live, batched] = [read({}), read({ mode: "batch" })];
    expect(batched.spec.models.map(({ mode, lane }) => [mode, lane])).toEqual([
      ["batch", "batch.anthropic.claude-haiku-4-5"],
      ["live", "sim.oracle"],
    ]);
    expect(batched.notes).toEqual(["mode: sim/oracle asked live: no batch interface"]);
    const cellsOf = ({ spec }: typeof live) => [...expandCells(spec, { rehearsal: false })].map(({ cellId }) => cellId);
    expect(cellsOf(batched)).toEqual(cellsOf(live));
    expect(specToJson(live.spec)).not.toContain(`"mode"`);
    expect(parseStoredSpec(specToJson(batched.spec))).toEqual(batched.spec);
    const one = { model: "anthropic/claude-haiku-4-5", mode: "live" };
    expect(read({ mode: "batch", models: [one] }).spec.models[0]?.lane).toBe("anthropic.claude-haiku-4-5");
  });

  it("takes mode auto with a deadline only, and keeps it", () => {
    const read = (more: object) => {
      const models = ["google/gemini-2.5-flash"];
      return parseSpec(JSON.stringify({ name: "p", models, seeds: [1], sizes: [5], mode: "auto", ...more }), OPTIONS);
    };
    expect(() => read({})).toThrow(/auto needs a deadline/);
    // One that cannot be read is not told as missing too.
    for (const deadline of ["8:00", "24:00", "2026-12-01", "tomorrow"]) {
      expect(() => read({ deadline })).toThrow(SpecError);
      expect(() => read({ deadline })).not.toThrow(/needs a deadline/);
    }
    const one = { model: "google/gemini-2.5-pro", deadline: "08:00" };
    expect(() => read({ models: [one, "google/gemini-2.5-flash"] })).toThrow(
      /needs a deadline.*\(google\/gemini-2.5-flash\)/,
    );
    for (const deadline of ["08:00", "2026-12-01T08:00:00+09:00"]) {
      const { spec } = read({ deadline });
      expect(spec).toMatchObject({ deadline, models: [{ mode: "auto", lane: "batch.google.gemini-2.5-flash" }] });
      expect(parseStoredSpec(specToJson(spec))).toEqual(spec);
    }
  });

  it("takes a model's own deadline with mode auto, and says of any other why it makes no sense there", () => {
    const flash = "google/gemini-2.5-flash";
    const read = (model: object, more: object = {}) =>
      parseSpec(JSON.stringify({ name: "p", models: [model], seeds: [1], sizes: [5], ...more }), OPTIONS);
    const deadline = "02:00";
    const { spec, notes } = read({ model: flash, mode: "auto", deadline });
    expect([spec.deadline, spec.models[0]?.deadline, notes]).toEqual([null, deadline, []]);
    expect(parseStoredSpec(specToJson(spec))).toEqual(spec);
    expect(specToJson(read({ model: flash, mode: "batch" }).spec)).not.toContain("deadline");
    expect(() => read({ model: flash, mode: "batch", deadline })).toThrow(
      /models\[0\]\.deadline.*waits for its batches/,
    );
    expect(() => read({ model: flash, mode: "live", deadline })).toThrow(/mode live asks at once.*set mode: auto/);
    expect(() => read({ model: flash, deadline }, { mode: "batch" })).toThrow(/waits for its batches/);
    expect(() => read({ model: "sim/oracle", deadline }, { mode: "auto" })).toThrow(/this model is asked live/);
    expect(read({ model: flash, mode: "batch" }, { deadline }).notes).toEqual([
      "deadline: no model is of mode auto; it changes nothing",
    ]);
    expect(read({ model: flash, mode: "auto", deadline }, { deadline: "08:00" }).notes).toEqual([
      "deadline: each model has its own; it changes nothing",
    ]);
    expect(() => read({ model: flash, mode: "auto", deadline: "24:00" })).toThrow(/midnight is "00:00"/);
    expect(() => read({ model: flash, mode: "auto", deadline: "2026-12-01T08:00" })).toThrow(/with its zone/);
  });

  it("asks the judges of a sweep in batches so too, unless they say otherwise or have none, and those of auto live", () => {
    const own = { model: "openai/llama", baseUrl: "http://localhost:11434/v1" };
    const asked = ["anthropic/claude-haiku-4-5", { model: "openai/gpt-4o", mode: "live" }, "sim/judge", own];
    const read = (more: object) => {
      const judge = { models: asked };
      return parseSpec(
        JSON.stringify({ name: "p", models: ["google/gemini-2.5-flash"], seeds: [1], sizes: [5], judge, ...more }),
        OPTIONS,
      );
    };
    const lanesIn = ({ spec }: ReturnType<typeof read>) => judgesOf(spec).map(({ lane }) => lane.slice(0, 16));
    const batched = read({ mode: "batch" });
    expect(lanesIn(batched)).toEqual(["judge.batch.anth", "judge.openai.gpt", "judge.sim.judge", "judge.openai.lla"]);
    expect(batched.notes).toEqual(["mode: judge sim/judge, openai/llama asked live: no batch interface"]);
    expect(parseStoredSpec(specToJson(batched.spec))).toEqual(batched.spec);
    const live = ["judge.anthropic.", "judge.openai.gpt", "judge.sim.judge", "judge.openai.lla"];
    expect(lanesIn(read({}))).toEqual(live);
    expect(lanesIn(read({ mode: "auto", deadline: "08:00" }))).toEqual(live);
    const refused = { judge: { models: [{ ...own, mode: "batch" }] } };
    expect(() => read(refused)).toThrow(/not asked in batches/);
  });

  it("refuses batches of what has none, where a model asks for them", () => {
    const own = { model: "openai/llama", baseUrl: "http://localhost:11434/v1", mode: "batch" };
    for (const model of [{ model: "sim/oracle", mode: "batch" }, own]) {
      const text = JSON.stringify({ name: "p", models: [model], seeds: [1], sizes: [5] });
      expect(() => parseSpec(text, OPTIONS)).toThrow(/not asked in batches/);
    }
  });

  it("is refused by parseStoredSpec where it is damaged", () => {
    expect(() => parseStoredSpec("{")).toThrow(SpecError);
    expect(() => parseStoredSpec('{"name":"x"}')).toThrow(SpecError);
  });
});

describe("specJsonSchema", () => {
  it("describes a strict object with every key of a spec", () => {
    const schema = specJsonSchema();
    expect(schema).toMatchObject({ type: "object", additionalProperties: false });
    expect(schema["required"]).toEqual(["name", "models", "seeds", "sizes"]);
    expect(Object.keys(schema["properties"] as object)).toEqual(
      expect.arrayContaining(["judge", "limits", "budgetUsd", "exclude", "retries", "generator", "placement"]),
    );
  });
});
