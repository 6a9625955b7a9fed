import { describe, expect, it } from "vitest";

import { aggregate } from "../test/aggregate-trials.ts";
import { countSimulatedPrompt, type Grid, simulateSweep } from "../test/simulate-sweep.ts";
import type { ModelFacts } from "./aggregates.ts";
import { findFindings } from "./find-findings.ts";
import type { Finding } from "./finding.ts";
import { thresholds } from "./thresholds.ts";

const model = (alias: string, changes: Partial<ModelFacts> = {}): ModelFacts => ({
  alias,
  isBaseline: false,
  temperature: 0,
  ...changes,
});
const models = [model("a/greedy"), model("b/sampled", { temperature: null }), model("c/warm", { temperature: 0.7 })];
const grids: readonly (Grid & { readonly name: string })[] = [
  { name: "a small grid", models, sizes: [5, 7], seeds: 12 },
  { name: "a night's grid", models, sizes: [5, 7, 9, 11], seeds: 20 },
  { name: "a wide grid", models, sizes: [5, 11], seeds: 10, groups: ["A", "B", "C"], languages: ["ko", "en"] },
  { name: "repeats", models: models.slice(1), sizes: [5, 7], seeds: 12, repeats: 3 },
  {
    name: "models beside built-in solvers",
    models: [...models, model("sim/oracle", { isBaseline: true, temperature: null })],
    sizes: [5, 9],
    seeds: 25,
  },
];
const sweepsOfEach = 100;

function findingsOf(grid: Grid, seed: string): readonly Finding[] {
  return findFindings(aggregate(grid.models, simulateSweep(seed, grid)), countSimulatedPrompt);
}

describe("over 500 simulated sweeps in which nothing is wrong", () => {
  it("at most one in a hundred has a warning", () => {
    const warned = grids.flatMap((grid) =>
      Array.from({ length: sweepsOfEach }, (_, index) =>
        findingsOf(grid, `${grid.name} ${index}`)
          .filter(({ severity }) => severity === "warning")
          .map(({ detector, message }) => `${grid.name} ${index}: ${detector}: ${message}`),
      ).filter((warnings) => warnings.length > 0),
    );
    const most = thresholds.falseAlarmShareMax * sweepsOfEach * grids.length;
    expect(warned.length, JSON.stringify(warned, null, 1)).toBeLessThanOrEqual(most);
  }, 300_000);

  it("built-in solvers that read no hints are one piece of information, and hosts that take turns are another", () => {
    const kinds = grids.flatMap((grid) =>
      Array.from({ length: 10 }, (_, index) =>
        findingsOf(grid, `${grid.name} ${index}`).filter(({ severity }) => severity === "info"),
      ).flat(),
    );
    expect(new Set(kinds.map(({ detector }) => detector))).toEqual(new Set(["mirage-unseen", "served-change"]));
    expect(kinds.filter(({ detector }) => detector === "mirage-unseen")).toHaveLength(10);
  }, 120_000);
});

describe("a sweep too small to tell", () => {
  it("stays silent, though failures and equal answers happen in it", () => {
    const grid: Grid = { models: [model("a/sampled", { temperature: null })], sizes: [5], seeds: 3 };
    const trials = simulateSweep("small", grid, (trial) =>
      trial.mirage && trial.seed === 0 ? { ...trial, state: "failed", outcome: "timeout" } : { ...trial, text: "same" },
    );
    expect(findFindings(aggregate(grid.models, trials), countSimulatedPrompt)).toEqual([]);
  });

  it("of no trial has nothing to say", () => {
    expect(findFindings(aggregate([model("a/x")], []), countSimulatedPrompt)).toEqual([]);
  });
});
