import { describe, expect, test } from "vitest";

import { countForLimits, findCapabilities, findDefaultLimits } from "./capabilities.ts";
import { checkModel, type ModelWish } from "./check-model.ts";
import { isKnownModel, listKnownModels } from "./known-models.ts";
import { findPrice } from "./prices.ts";

const today = "2026-11-29";

function check(name: string, changes: Partial<ModelWish> = {}) {
  const [provider = "", model = ""] = name.split("/");
  const wish = {
    provider,
    model,
    baseUrl: null,
    temperature: 0,
    temperatureExplicit: false,
    maxTokens: 8000,
    params: {},
  };
  const { issues, temperature } = checkModel({ ...wish, ...changes }, today);
  return { temperature, codes: issues.map(({ severity, code }) => `${severity} ${code}`), issues };
}

test.each([
  ["anthropic/claude-sonnet-4-20250514", ["warning model-retired"]],
  ["anthropic/claude-opus-4-20250514", ["warning model-retired"]],
  ["anthropic/claude-haiku-4-5-20251001", []],
  ["openai/gpt-4o", ["warning model-retires"]],
  ["openai/o1", ["warning model-retired", "warning temperature-dropped"]],
  ["openai/o3-mini", ["warning model-retired", "warning temperature-dropped"]],
  ["google/gemini-2.5-flash", ["warning model-retires"]],
  ["google/gemini-2.5-pro", ["warning model-retires"]],
  ["deepseek/deepseek-reasoner", ["warning model-retired", "warning temperature-dropped"]],
  ["deepseek/deepseek-chat", ["warning model-retired"]],
])("the seed's %s works by name, with its fate told", (name, codes) => {
  expect(check(name).codes).toEqual(codes);
});

test.each(["anthropic/claude-sonnet-5-5", "openai/gpt-6.1-sol", "google/gemini-3.8-flash", "deepseek/deepseek-flash"])(
  "today's %s is known, has a price, and draws no warning of its name",
  (name) => {
    const [provider = "", model = ""] = name.split("/");
    expect(check(name).codes.filter((code) => code.includes("model-"))).toEqual([]);
    expect(findPrice({ provider, model, baseUrl: null })).not.toBeNull();
  },
);

test("an unlisted model works with defaults and a warning; on a server of one's own without one", () => {
  expect(check("openai/gpt-99-future").codes).toContain("warning model-unlisted");
  expect(check("openai/llama3.1:70b", { baseUrl: "http://localhost:11434/v1" }).codes).toEqual([]);
});

describe("temperature", () => {
  test("the default is dropped with a warning where the model refuses it; asked for, it is an error", () => {
    const dropped = check("anthropic/claude-opus-5-5");
    expect(dropped).toMatchObject({ temperature: null, codes: ["warning temperature-dropped"] });
    const asked = check("anthropic/claude-opus-5-5", { temperatureExplicit: true });
    expect(asked.codes).toEqual(["error temperature-refused"]);
  });

  test("with a thinking budget Claude takes none", () => {
    const params = { thinkingBudget: 2048 };
    expect(check("anthropic/claude-haiku-4-5", { params })).toMatchObject({
      temperature: null,
      codes: ["warning temperature-dropped"],
    });
    expect(check("anthropic/claude-haiku-4-5", { params, temperatureExplicit: true }).codes).toEqual([
      "error temperature-refused",
    ]);
  });

  test("null asks for the vendor's own and is never an issue", () => {
    expect(check("anthropic/claude-opus-5-5", { temperature: null, temperatureExplicit: true }).codes).toEqual([]);
  });

  test("out of range is an error", () => {
    expect(check("anthropic/claude-haiku-4-5", { temperature: 1.5, temperatureExplicit: true }).codes).toEqual([
      "error temperature-range",
    ]);
  });
});

describe("thinking (T52)", () => {
  test.each([
    ["anthropic/claude-haiku-4-5", 512, 8000, ["error thinking-budget"]],
    ["anthropic/claude-haiku-4-5", 8000, 8000, ["error thinking-budget"]],
    ["anthropic/claude-haiku-4-5", 9000, 8000, ["error thinking-budget"]],
    ["anthropic/claude-haiku-4-5", 2048, 8000, []],
    ["anthropic/claude-haiku-4-5", 1500.5, 8000, ["error thinking-budget"]],
    ["google/gemini-2.5-pro", 64, 8000, ["error thinking-budget"]],
    ["google/gemini-2.5-pro", 0, 8000, ["error thinking-budget"]],
    ["google/gemini-2.5-flash", 0, 8000, []],
    ["google/gemini-2.5-flash", 30_000, 60_000, ["error thinking-budget"]],
    ["anthropic/claude-sonnet-5-5", 2048, 8000, ["error thinking-refused"]],
    ["openai/gpt-4o", 2048, 8000, ["error thinking-refused"]],
  ])("%s with a budget of %i of %i tokens: %o", (name, thinkingBudget, maxTokens, expected) => {
    const { codes } = check(name, { params: { thinkingBudget }, maxTokens, temperature: null });
    expect(codes.filter((code) => code.includes("thinking"))).toEqual(expected);
  });

  test("a model that thinks unasked is warned of where the limit leaves it no room", () => {
    expect(check("deepseek/deepseek-flash", { maxTokens: 2500 }).codes).toEqual(["warning thinking-takes-limit"]);
  });
});

test("a token limit above the model's own is an error (T51)", () => {
  expect(check("openai/gpt-4o", { maxTokens: 20_000 }).codes).toContain("error max-tokens");
});

test("every known model has a family, and limits to begin with", () => {
  for (const provider of ["anthropic", "openai", "google", "deepseek"] as const) {
    for (const model of listKnownModels(provider)) {
      expect(isKnownModel(provider, model)).toBe(true);
      const address = { provider, model, baseUrl: null };
      expect(findCapabilities(address).maxOutputTokens, model).not.toBeNull();
      expect(findDefaultLimits(address), model).toMatchObject({ readOn: "2026-11-29" });
    }
  }
});

test("a thinking budget is found under any vendor's name for it (T52)", () => {
  for (const name of ["thinkingBudget", "thinking_budget", "budget_tokens"]) {
    expect(check("anthropic/claude-haiku-4-5", { params: { [name]: 512 } }).codes).toContain("error thinking-budget");
  }
});

test("a fine-tuned model is checked by its base; a server of one's own refuses nothing beforehand", () => {
  expect(check("openai/ft:gpt-4o-2024-08-06:lab::x1", { maxTokens: 20_000 }).codes).toContain("error max-tokens");
  const own = {
    baseUrl: "http://localhost:1",
    temperature: 0.7,
    temperatureExplicit: true,
    params: { thinkingBudget: 9 },
  };
  expect(check("anthropic/some-local-model", own).codes).toEqual([]);
  expect(check("openai/some-local-model", { ...own, maxTokens: 900_000 }).codes).toEqual([]);
});

test("cached tokens count against a lane's limits as its vendor counts them", () => {
  const usage = { inputTokens: 1000, outputTokens: 50, cachedTokens: 400, reasoningTokens: null };
  expect(countForLimits("anthropic", usage)).toEqual({ inputTokens: 600, outputTokens: 50 });
  expect(countForLimits("openai", usage)).toEqual({ inputTokens: 1000, outputTokens: 50 });
  expect(countForLimits("anthropic", { ...usage, inputTokens: null })).toEqual({ inputTokens: null, outputTokens: 50 });
});
