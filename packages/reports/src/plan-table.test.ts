import { expect, test } from "vitest";

import { planOutcomeLine, planSummary, planTable } from "./plan-table.ts";

const point = (figure: number) => ({ low: figure, expected: figure, high: figure });
const sonnet = {
  alias: "anthropic/claude-sonnet-4-6",
  cells: 1200,
  toRun: 200,
  inputTokens: { low: 200_000, expected: 250_000, high: 400_000 },
  outputTokens: { low: 90_000, expected: 100_000, high: 500_000 },
  costUsd: { low: 2, expected: 3.1, high: 5.2 },
  hours: { low: 0.9, expected: 1.2, high: 2 },
  limit: "outputTpm",
};
const oracle = { ...sonnet, alias: "sim/oracle", costUsd: point(0), hours: point(0), limit: "none" };
const llama = { ...sonnet, alias: "llama", costUsd: null, limit: "concurrency" };
const totals = { ...sonnet, done: 1000, reused: 0, requests: point(200), hasUnpriced: false, budget: null };

test("a plan is a table: a model a row, expected figures with their bounds", () => {
  expect(planTable([sonnet, oracle, llama], 120)).toBe(
    [
      "model                        cells  to run  tokens               cost          hours        limit",
      "anthropic/claude-sonnet-4-6  1,200     200    350k  $3.10 (2.00–5.20)  1.2 (0.9–2.0)    outputTpm",
      "sim/oracle                   1,200     200    350k                 $0              0         none",
      "llama                        1,200     200    350k            unknown  1.2 (0.9–2.0)  concurrency",
    ].join("\n"),
  );
});

test("on a narrow terminal a model's name has a line of its own, and no figure is cut", () => {
  const wide = { ...sonnet, cells: 200_000, toRun: 200_000, costUsd: { low: 200.5, expected: 310.25, high: 999.99 } };
  const table = planTable([wide, llama], 80);
  expect(table).not.toContain("…");
  expect(table.split("\n").map((line) => line.trim())).toEqual([
    "cells     to run  tokens                     cost          hours        limit",
    "anthropic/claude-sonnet-4-6",
    "200,000  200,000    350k  $310.25 (200.50–999.99)  1.2 (0.9–2.0)    outputTpm",
    "llama",
    "1,200        200    350k                  unknown  1.2 (0.9–2.0)  concurrency",
  ]);
  expect(Math.max(...table.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
});

test("a model's name is data: control characters do not reach the terminal", () => {
  expect(planTable([{ ...sonnet, alias: "a\u001b[31mb" }], 40)).not.toContain("\u001b");
});

test("in all, a part that is known is not the whole", () => {
  const lines = planSummary({ ...totals, hasUnpriced: true }).split("\n");
  expect(lines[0]).toBe("in all: 1,200 cells, 1,000 done, 200 to run");
  expect(lines).toContain("  cost           $3.10 (2.00–5.20) + unknown");
  expect(planSummary({ ...totals, costUsd: null, hasUnpriced: true })).toContain("cost           unknown");
  expect(planSummary(totals)).not.toContain("unknown");
});

test("a budget is said to be enough, enough for what is expected, or too little", () => {
  const words = (expectedExceeds: boolean, highExceeds: boolean) =>
    planSummary({ ...totals, budget: { usd: 40, spentUsd: 1.5, expectedExceeds, highExceeds } })
      .split("\n")
      .at(-1);
  expect(words(false, false)).toBe("  budget         $40.00, $1.50 spent: enough");
  expect(words(false, true)).toContain("enough for what is expected, not for the highest estimate");
  expect(words(true, true)).toContain("less than what is expected");
});

test("one line tells how a plan turned out", () => {
  const planned = { low: 2, expected: 3.1, high: 5.2 };
  const line = (actual: number, within: boolean) => planOutcomeLine({ judgedBy: "costUsd", planned, actual, within });
  expect(line(3.4, true)).toBe("planned $3.10 (2.00–5.20), spent $3.40: +10 %, within the interval");
  expect(line(6.2, false)).toBe("planned $3.10 (2.00–5.20), spent $6.20: +100 %, above the interval");
  expect(line(1.55, false)).toBe("planned $3.10 (2.00–5.20), spent $1.55: −50 %, below the interval");
  expect(line(1.9996, false)).toBe("planned $3.10 (2.00–5.20), spent $2.00: −35 %, below the interval (by $0.00040)");
  expect(planOutcomeLine({ judgedBy: "costUsd", planned: point(0), actual: 0, within: true })).toBe(
    "planned $0, spent $0: as planned, within the interval",
  );
  const tokens = { low: 90_000, expected: 100_000, high: 500_000 };
  expect(planOutcomeLine({ judgedBy: "outputTokens", planned: tokens, actual: 120_000, within: true })).toBe(
    "planned 100k (90.0k–500k) tokens out, took 120k: +20 %, within the interval",
  );
});
