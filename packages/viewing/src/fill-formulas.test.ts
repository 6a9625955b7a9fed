import { solverNames } from "@hallumaze/solvers";
import { describe, expect, it } from "vitest";

import { dossier, simDossier, simPlan } from "../test/sim-dossier.ts";
import { viewTrial } from "./view-trial.ts";

/** Works out a filled formula by its own text: numbers, + - · /, brackets, min, max, clamp01. */
function workOut(text: string): number {
  const tokens = text.match(/\d+(?:\.\d+)?|clamp01|min|max|[-+·/(),]/g) ?? [];
  let at = 0;
  const take = (token: string): boolean => tokens[at] === token && ++at > 0;
  const given = (): number[] => {
    const values: number[] = [];
    take("(");
    while (!take(")")) {
      values.push(sum());
      take(",");
    }
    return values;
  };
  const factor = (): number => {
    if (take("-")) return -factor();
    if (take("min")) return Math.min(...given());
    if (take("max")) return Math.max(...given());
    if (take("clamp01")) return Math.max(0, Math.min(1, ...given()));
    if (tokens[at] === "(") return given()[0] ?? Number.NaN;
    return Number(tokens[at++]);
  };
  const product = (): number => {
    let value = factor();
    for (;;) {
      if (take("·")) value *= factor();
      else if (take("/")) value /= factor();
      else return value;
    }
  };
  function sum(): number {
    let value = product();
    for (;;) {
      if (take("+")) value += product();
      else if (take("-")) value -= product();
      else return value;
    }
  }
  return sum();
}

const formulasOf = (view: ReturnType<typeof viewTrial>) =>
  view.profiles.flatMap(({ profile, formulas }) => formulas.map((formula) => ({ profile, ...formula })));

describe("formulas with a trial's numbers", () => {
  it("come to the value that they show, in all profiles, for every solver", () => {
    let worked = 0;
    for (const solver of solverNames) {
      for (const change of [{}, { size: 9, seed: 4, mirage: false }] as const) {
        for (const { filled, value, metric } of formulasOf(viewTrial(simDossier(solver, change), []))) {
          if (filled === null || value === null || metric === "l") continue;
          const [left = "", right = ""] = filled.split(" = ");
          // Each number in it has four decimals.
          expect(workOut(left), `${solver} ${metric} ${filled}`).toBeCloseTo(value, 3);
          expect(Number(right)).toBeCloseTo(value, 4);
          worked += 1;
        }
      }
    }
    expect(worked).toBeGreaterThan(300);
  });

  it("show each metric once, CE as better when lower", () => {
    const view = viewTrial(simDossier("dfs-honest"), []);
    for (const { formulas } of view.profiles) {
      expect(formulas.map(({ metric }) => metric)).toEqual("sr hc fhr bt lt hrr f l mei ce brs score".split(" "));
      expect(formulas.find(({ metric }) => metric === "ce")?.better).toBe("low");
    }
  });

  it("say of a non-answer that its numbers are fixed, and leave CE and BRS unknown", () => {
    const view = viewTrial(dossier(simPlan("dfs-honest"), [{ text: "", finishReason: "stop" }]), []);
    const seed = view.profiles.find(({ profile }) => profile === "seed")?.formulas ?? [];
    expect(seed.filter(({ metric }) => metric === "ce" || metric === "brs").map(({ value }) => value)).toEqual([
      null,
      null,
    ]);
    expect(seed.every(({ note }) => note?.includes("non-answer") === true)).toBe(true);
  });

  it("say that silence about confidence counts as 1 in robust, and as 0.5 in seed", () => {
    const text = "STEP 1: (0,0) → S → (1,0)";
    const view = viewTrial(dossier(simPlan("dfs-honest"), [{ text, finishReason: "stop" }]), []);
    const note = (name: string): string | null | undefined =>
      view.profiles.find(({ profile }) => profile === name)?.formulas.at(-1)?.note;
    expect(note("robust")).toContain("counts as 1");
    expect(note("seed")).toContain("counts as 0.5");
  });
});
