import { expect, test } from "vitest";

import { costOf, findPrice, priceDate } from "./prices.ts";

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

test("unknown is not zero: no price, no count, or more input than the price is for", () => {
  expect(costOf({ ...gpt4o, model: "gpt-none" }, usage(1, 1))).toBeNull();
  expect(costOf({ ...gpt4o, baseUrl: "http://localhost:1/v1" }, usage(1, 1))).toBeNull();
  expect(costOf(gpt4o, usage(null, 1))).toBeNull();
  expect(costOf({ ...gpt4o, model: "gpt-6.1-sol" }, usage(300_000, 1))).toBeNull();
});

test("a price of one's own goes first, and serves models that have none", () => {
  const price = { input: "0.07", cached: null, cacheWrite: null, output: "0.3", upToInputTokens: null };
  const overrides = { "openai/llama3.1:70b": price };
  const local = { provider: "openai", model: "llama3.1:70b", baseUrl: "http://localhost:11434/v1" };
  expect(costOf(local, usage(1_000_000, 1_000_000), overrides)?.usd).toBe("0.37");
  expect(findPrice(local)).toBeNull();
});

test("a baseline solver costs nothing", () => {
  expect(costOf({ provider: "sim", model: "dfs-honest", baseUrl: null }, usage(9, 9))?.usd).toBe("0");
});
