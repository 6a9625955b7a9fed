import { expect, test } from "vitest";

import { costBound, costOf, findPrice, missingPrices, priceDate } from "./prices.ts";

const usage = (inputTokens: number | null, outputTokens: number | null, cachedTokens: number | null = null) => ({
  inputTokens,
  outputTokens,
  cachedTokens,
  reasoningTokens: null,
});
const gpt4o = { provider: "openai", model: "gpt-4o", baseUrl: null };

test("a cost is exact: tokens times the price of a million", () => {
  expect(costOf(gpt4o, usage(1_000_000, 1_000_000))).toEqual({ usd: "12.5", priceDate });
  expect(costOf(gpt4o, usage(1, 0))).toEqual({ usd: "0.0000025", priceDate });
  expect(costOf(gpt4o, usage(0, 0))).toEqual({ usd: "0", priceDate });
});

test("cached tokens have their own price (T42)", () => {
  expect(costOf(gpt4o, usage(1000, 0, 800))?.usd).toBe("0.0015");
});

test("tokens written to the cache have theirs", () => {
  const claude = { provider: "anthropic", model: "claude-sonnet-4-6", baseUrl: null };
  expect(costOf(claude, { ...usage(1000, 0, 400), cacheWriteTokens: 100 })?.usd).toBe("0.001995");
});

test("thoughts are output and are paid as such (T50)", () => {
  const gemini = { provider: "google", model: "gemini-2.5-pro", baseUrl: null };
  expect(costOf(gemini, { ...usage(0, 3071), reasoningTokens: 3071 })?.usd).toBe("0.03071");
});

test("in a batch all costs half, the spec's own prices too, exactly and never less", () => {
  const batched = { ...gpt4o, mode: "batch" } as const;
  expect(costOf(batched, usage(1_000_000, 1_000_000))).toEqual({ usd: "6.25", priceDate });
  expect(costOf(batched, usage(1000, 0, 800))?.usd).toBe("0.00075");
  expect(costBound(batched, { inputTokens: 1_000_000, outputTokens: 0 })).toBe("1.25");
  const own = { "openai/gpt-4o": { input: 20, output: 0.000_001 } };
  expect(findPrice(batched, own)).toMatchObject({ input: "10", output: "0.000001" });
  expect(findPrice({ ...batched, provider: "sim" })).toMatchObject({ input: "0", output: "0" });
});

test("unknown is not zero: no price, no count, or more input than the price is for", () => {
  expect(costOf({ ...gpt4o, model: "gpt-none" }, usage(1, 1))).toBeNull();
  expect(costOf({ ...gpt4o, baseUrl: "http://localhost:1/v1" }, usage(1, 1))).toBeNull();
  expect(costOf(gpt4o, usage(null, 1))).toBeNull();
  expect(costOf({ ...gpt4o, model: "gpt-6.1-sol" }, usage(300_000, 1))).toBeNull();
});

const local = { provider: "openai", model: "llama3.1:70b", baseUrl: "http://localhost:11434/v1" };

test("a price of the spec's own goes first, has no list's date, and serves models that have none", () => {
  const overrides = { "openai/llama3.1:70b": { input: 0.07, output: 0.3 }, "openai/gpt-4o": { input: 1, output: 2 } };
  expect(costOf(local, usage(1_000_000, 1_000_000), overrides)).toEqual({ usd: "0.37", priceDate: null });
  expect(costOf(gpt4o, usage(1_000_000, 1_000_000), overrides)).toEqual({ usd: "3", priceDate: null });
  expect(findPrice(local)).toBeNull();
});

test("a price by alias goes before one by provider and model", () => {
  const overrides = { "openai/gpt-4o": { input: 1, output: 2 }, "gpt-4o-t0": { input: 3, output: 4 } };
  expect(findPrice({ ...gpt4o, alias: "gpt-4o-t0" }, overrides)).toMatchObject({ input: "3", output: "4" });
  expect(findPrice({ ...gpt4o, alias: "another" }, overrides)).toMatchObject({ input: "1", output: "2" });
});

test("a spec's numbers become the decimals that they stand for", () => {
  const priced = (input: number) => findPrice(local, { "openai/llama3.1:70b": { input, output: 0, cached: 0.1 } });
  expect(priced(0.1)).toMatchObject({ input: "0.1", output: "0", cached: "0.1" });
  expect(priced(0.000001)?.input).toBe("0.000001");
  expect(priced(1_000_000)?.input).toBe("1000000");
  expect(() => priced(0.0000001)).toThrow(RangeError);
  expect(() => priced(Number.NaN)).toThrow(RangeError);
});

test("a cached token of a price without one costs what any input does", () => {
  const overrides = { "openai/gpt-4o": { input: 1, output: 2 } };
  expect(costOf(gpt4o, usage(1_000_000, 0, 900_000), overrides)?.usd).toBe("1");
});

test("the most that a request can cost is all input at the dearest price and all output", () => {
  const sonnet = { provider: "anthropic", model: "claude-sonnet-4-6", baseUrl: null };
  // 1,000 × 3.75 (written to the cache) + 2,500 × 15, a million.
  expect(costBound(sonnet, { inputTokens: 1000, outputTokens: 2500 })).toBe("0.04125");
  // 1,000 × 2.5 + 2,500 × 10, a million: no price for writing.
  expect(costBound(gpt4o, { inputTokens: 1000, outputTokens: 2500 })).toBe("0.0275");
  expect(
    costBound(local, { inputTokens: 1000, outputTokens: 2000 }, { "openai/llama3.1:70b": { input: 0.5, output: 1.5 } }),
  ).toBe("0.0035");
});

test("without a price, or past the input that it is for, there is no bound: that is not zero", () => {
  expect(costBound(local, { inputTokens: 1, outputTokens: 1 })).toBeNull();
  expect(costBound({ ...gpt4o, model: "gpt-6.1-sol" }, { inputTokens: 272_001, outputTokens: 1 })).toBeNull();
  expect(costBound({ provider: "sim", model: "oracle", baseUrl: null }, { inputTokens: 9, outputTokens: 9 })).toBe("0");
});

test("models without a price are listed once each, with the key to set", () => {
  const models = [gpt4o, { ...local, alias: "one" }, { ...local, alias: "two" }];
  expect(missingPrices({ models, prices: {} })).toEqual([
    {
      key: "openai/llama3.1:70b",
      message:
        "the price of openai/llama3.1:70b is not known: set it in the spec, in US dollars for a million tokens, " +
        'for example prices: { "openai/llama3.1:70b": { input: 0.5, output: 1.5 } }',
    },
  ]);
  expect(missingPrices({ models, prices: { "openai/llama3.1:70b": { input: 0, output: 0 } } })).toEqual([]);
});

test("a baseline solver costs nothing", () => {
  expect(costOf({ provider: "sim", model: "dfs-honest", baseUrl: null }, usage(9, 9))?.usd).toBe("0");
});
