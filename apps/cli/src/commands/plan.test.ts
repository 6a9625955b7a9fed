import { planSweep } from "@hallumaze/engine";
import { planPorts } from "@hallumaze/runtime";
import { parseSpec, type SweepSpec } from "@hallumaze/sweep";
import { describe, expect, it } from "vitest";

import { printPlan } from "./plan.ts";

const specOf = (changes: Readonly<Record<string, unknown>>): SweepSpec =>
  parseSpec(JSON.stringify({ name: "plan", seeds: ["1..10"], sizes: [5], ...changes }), {
    fileName: "spec.json",
    solvers: new Map([["oracle", {}]]),
  }).spec;
const local = { model: "openai/llama3.1:70b", baseUrl: "http://localhost:11434/v1", keyEnv: "OLLAMA_KEY" };

async function planOf(spec: SweepSpec) {
  return planSweep(null, spec, { fresh: false, rehearsal: false }, planPorts(spec));
}

async function printed(spec: SweepSpec, past: Parameters<typeof printPlan>[2] = null, columns = 80) {
  const lines: string[] = [];
  const console = { out: (text: string) => lines.push(text), err: () => undefined, columns: () => columns };
  printPlan(console, await planOf(spec), past);
  return lines.join("\n").split("\n");
}

describe("what plan asks of the providers", () => {
  it("the shipped prices and limits, overridden by the spec's", async () => {
    const shipped = (await planOf(specOf({ models: ["openai/gpt-4o"] }))).estimate;
    expect(shipped.lanes[0]?.limits).toEqual({ rpm: 500, tpm: 30_000 });
    const own = await planOf(
      specOf({
        models: ["openai/gpt-4o"],
        limits: { "openai/gpt-4o": { tpm: 100 } },
        prices: { "openai/gpt-4o": { input: 0, output: 1000 } },
      }),
    );
    expect(own.estimate.lanes[0]).toMatchObject({ limits: { rpm: 500, tpm: 100 }, limit: "tpm" });
    // All of the money is for replies: a thousandth of a dollar a token.
    expect(own.estimate.costUsd?.high).toBe(own.estimate.outputTokens.high / 1000);
  });

  it("whether a model thinks: its family's habit, unless the spec tells it to or not to", async () => {
    const expected = async (model: unknown) =>
      (await planOf(specOf({ models: [model], maxTokens: 16_000 }))).estimate.outputTokens.expected;
    const flash = "google/gemini-2.5-flash";
    const thinking = await expected(flash);
    expect(await expected({ model: flash, params: { thinkingBudget: 0 } })).toBeLessThan(thinking);
    expect(await expected({ model: "google/gemini-2.5-flash-lite" })).toBeLessThan(thinking);
    expect(await expected({ model: "google/gemini-2.5-flash-lite", params: { thinkingBudget: 2048 } })).toBe(thinking);
  });
});

describe("printPlan", () => {
  it("fits in 80 columns, and says where a cost is unknown", async () => {
    const models = ["anthropic/claude-sonnet-4-6", local, "sim/oracle"];
    const lines = await printed(specOf({ models, seeds: ["1..500"], groups: ["A", "B"] }));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines.join("\n")).not.toContain("…");
    expect(lines.find((line) => line.startsWith("  cost "))).toMatch(/\) \+ unknown$/);
  });

  it("given an earlier estimate and what came of it, says how wrong it was", async () => {
    const spec = specOf({ models: ["openai/gpt-4o"] });
    const { estimate } = await planOf(spec);
    const stored = JSON.parse(JSON.stringify(estimate)) as typeof estimate;
    const actual = { requests: 10, inputTokens: 6000, outputTokens: 9000, costUsd: 1000, hours: 0.1 };
    const lines = await printed(spec, { estimate: stored, actual });
    expect(lines.at(-1)).toMatch(/^planned \$.*, spent \$1,000: \+[\d,]+ %, above the interval$/);
    expect((await printed(spec)).join("\n")).not.toContain("planned");
  });
});
