import { describe, expect, it } from "vitest";

import { parseSpec } from "./parse-spec.ts";
import { SpecError } from "./spec-error.ts";

const SOLVERS = new Map([
  ["oracle", {}],
  ["dfs-honest", { latencyMs: { min: 0, max: 60_000, default: 0, integer: true } }],
  ["mirage-prone", { rate: { min: 0, max: 1, default: 0.8 } }],
]);

function refusal(text: string, fileName = "sweep.yaml"): SpecError {
  try {
    parseSpec(text, { fileName, solvers: SOLVERS });
  } catch (error) {
    if (error instanceof SpecError) return error;
    throw error;
  }
  throw new Error("accepted");
}

const spec = (lines: string, models = "[sim/oracle]"): string =>
  `name: night\nmodels: ${models}\nseeds: [1, 2]\nsizes: [5]\n${lines}`;

describe("a spec that cannot be used names the place and the mend", () => {
  it.each([
    ["an unknown key", spec("mirrage: true"), 'sweep.yaml:5:1 mirrage: unknown key; did you mean "mirage"?'],
    [
      "an unknown key of a model",
      spec("", "\n  - sim/oracle\n  - model: sim/dfs-honest\n    temprature: 1"),
      'sweep.yaml:5:5 models[1].temprature: unknown key; did you mean "temperature"?',
    ],
    [
      "a wrong type",
      spec("repeats: two"),
      'sweep.yaml:5:10 repeats: expected a number, got "two"; it takes a whole number from 1',
    ],
    ["a boolean of YAML 1.1", spec("mirage: yes"), 'mirage: wrong value "yes"; write true without quotes'],
    ["a name that reads as a number", "name: 2024\nmodels: [sim/oracle]\n", 'got 2024; write it in quotes: "2024"'],
    ["a size of 2", spec("").replace("[5]", "[5, 2]"), "sweep.yaml:4:12 sizes[1]: must be at least 3, got 2"],
    ["a size of 1000", spec("").replace("[5]", "[1000]"), "sweep.yaml:4:9 sizes[0]: must be at most 101, got 1000"],
    ["a negative seed", spec("").replace("[1, 2]", "[-7]"), "sweep.yaml:3:9 seeds[0]: must be at least 0, got -7"],
    ["a seed with a fraction", spec("").replace("[1, 2]", "[1.5]"), "seeds[0]: wrong value 1.5"],
    ["a seed no number holds", spec("").replace("[1, 2]", "[9007199254740993]"), "seeds[0]"],
    ["a backward range", spec("").replace("[1, 2]", '["9..2"]'), 'runs backwards; write "2..9"'],
    ["too many seeds", spec("").replace("[1, 2]", '["0..1000000"]'), "1,000,001 seeds are listed; at most 1,000,000"],
    ["too many cells", spec("repeats: 1000").replace("[1, 2]", '["1..20000"]'), "the grid has 20,000,000 cells"],
    ["an empty list", spec("").replace("[1, 2]", "[]"), "seeds: the list is empty"],
    ["an empty grid", spec("exclude: [{size: 5}]"), "sweep.yaml:5:10 exclude: the grid is empty"],
    ["an empty rule", spec("exclude: [{}]"), "exclude[0]: an empty entry would exclude every cell"],
    ["an unknown model in exclude", spec("exclude: [{model: sim/oracel}]"), 'did you mean "sim/oracle"?'],
    ["a limit of no model", spec("limits: {sim/oracel: {concurrency: 1}}"), 'did you mean "sim/oracle"?'],
    [
      "a duplicate alias",
      spec("", "[sim/oracle, {model: sim/dfs-honest, as: sim/oracle}]"),
      'sweep.yaml:2:50 models[1].as: models[0] has this name already: "sim/oracle"; give one of them another name',
    ],
    [
      "one model twice",
      spec("", "[sim/oracle, {model: sim/oracle, as: b}]"),
      "the same model with the same parameters",
    ],
    ["an unknown provider", spec("", "[antropic/claude]"), 'unknown provider "antropic"; did you mean "anthropic"?'],
    ["a model without provider", spec("", "[oracle]"), 'did you mean "sim/oracle"?'],
    ["an unknown solver", spec("", "[sim/orcale]"), 'models[0]: unknown solver "orcale"; did you mean "oracle"?'],
    [
      "an unknown parameter",
      spec("", "[{model: sim/mirage-prone, params: {ratio: 1}}]"),
      'models[0].params.ratio: solver mirage-prone has no such parameter; did you mean "rate"?',
    ],
    ["a parameter out of range", spec("", "[{model: sim/mirage-prone, params: {rate: 1.1}}]"), "from 0 to 1, got 1.1"],
    ["a parameter with a fraction", spec("", "[{model: sim/dfs-honest, params: {latencyMs: 1.5}}]"), "a whole number"],
    ["a server for sim", spec("", "[{model: sim/oracle, baseUrl: 'http://h/v1'}]"), "models[0].baseUrl: provider sim"],
    ["a bad size in perSize", spec("maxTokens: {perSize: {2: 9}}"), 'sweep.yaml:5:23 maxTokens.perSize["2"]'],
    [
      "a key that is missing",
      "name: x\nmodels: [sim/oracle]\nseeds: [1]\n",
      "sizes: missing; it takes a list of whole",
    ],
    ["no object", "- a\n- b\n", "a spec is a list of `key: value` lines"],
  ])("%s", (_, text, message) => {
    expect(refusal(text).code).toBe("spec-invalid");
    expect(refusal(text).message).toContain(message);
  });

  it("tells every problem at once, in the file's order", () => {
    const error = refusal("name: x\nmodels: [sim/orcale, foo/bar]\nseeds: [-1]\nsizes: [2]\ngroups: [B, Z]\nsead: 1\n");
    expect(error.issues.map(({ path, line }) => [path, line])).toEqual([
      ["models[0]", 2],
      ["models[1]", 2],
      ["seeds[0]", 3],
      ["sizes[0]", 4],
      ["groups[1]", 5],
      ["sead", 6],
    ]);
  });
});

it("what has been built runs: every provider, any path of a model, every limit", () => {
  const models = "[openai/gpt-4o, 'google/a/b:c', anthropic/x, deepseek/y]";
  const limits = "limits: {openai/gpt-4o: {rpm: 5, inputTpm: 9, outputTpm: 8, concurrency: 2}, anthropic/x: {tpm: 7}}";
  const { spec: read } = parseSpec(spec(limits, models), { fileName: "sweep.yaml", solvers: SOLVERS });
  expect(read.models.map(({ provider, model }) => `${provider} ${model}`)).toEqual([
    "openai gpt-4o",
    "google a/b:c",
    "anthropic x",
    "deepseek y",
  ]);
  expect(read.limits).toEqual({
    "openai/gpt-4o": { rpm: 5, inputTpm: 9, outputTpm: 8, concurrency: 2 },
    "anthropic/x": { tpm: 7 },
  });
});

describe("a key never stands in a spec, nor in what is said about it", () => {
  it.each([
    ["sk-ant-api03-Zm9vYmFyYmF6", spec("", "[{model: sim/oracle, as: SECRET}]")],
    ["sk-proj-abcdef0123456789", spec("apiKey: SECRET")],
    ["hunter2", spec("api_key: SECRET")],
    ["hunter2", spec("", "[{model: sim/oracle, params: {password: SECRET}}]")],
    ["AIzaSyA1234567890abcdefghijk", spec("", "[{model: sim/oracle, keyEnv: SECRET}]")],
    ["9f86d081884c7d659a2feaa0c55ad015", spec("generator: SECRET")],
    ["sk-ant-api03-Zm9vYmFyYmF6", spec("SECRET: 1")],
    ["sk-ant-api03-Zm9vYmFyYmF6", spec('maxTokens: "SECRET')],
    ["sk-ant-api03-Zm9vYmFyYmF6", spec("a: [b SECRET: {")],
    ["sk-ant-api03-Zm9vYmFyYmF6", spec("*SECRET : !SECRET &SECRET x")],
    ["user:passw0rd", spec("", "[{model: openai/x, baseUrl: 'http://SECRET@host/v1'}]")],
  ])("%s", (secret, text) => {
    const error = refusal(text.replaceAll("SECRET", secret));
    expect(error.message).not.toContain(secret);
    expect(JSON.stringify(error.issues)).not.toContain(secret);
  });

  it.each([
    "gpt-4o-2024-08-06",
    "claude-sonnet-4-20250514",
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8",
    "accounts/fireworks/models/deepseek-v3p1-terminus",
    "hf.co/bartowski/Qwen2.5-Coder-32B-Instruct-GGUF:Q4_K_M",
    "pplx-70b-online",
  ])("the model name %s is no key", (name) => {
    const { spec: read } = parseSpec(spec("", `[{model: 'openai/${name}'}]`), {
      fileName: "sweep.yaml",
      solvers: SOLVERS,
    });
    expect(read.models[0]?.model).toBe(name);
  });
});
