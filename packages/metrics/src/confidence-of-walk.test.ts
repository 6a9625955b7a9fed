import { describe, expect, it } from "vitest";

import { confidenceOfWalk, judgementsOfWalk } from "./confidence-of-walk.ts";
import type { WalkStep } from "./walk.ts";

const move: WalkStep = {
  kind: "ok",
  relocation: null,
  from: [0, 0],
  to: [0, 1],
  dir: "E",
  grounded: true,
  confidence: 0.9,
  confidenceCounts: true,
  isDecision: false,
  onRoute: true,
  index: 1,
  contradiction: false,
  repeatsEdge: false,
  retreat: null,
  trap: null,
  beginsPass: false,
};

describe("confidenceOfWalk", () => {
  it("judges a legal move off the route as legal and as not on route", () => {
    const { legal, onRoute } = confidenceOfWalk({ steps: [{ ...move, onRoute: false }] });
    expect(legal.all.accuracy).toBe(1);
    expect(onRoute.all.accuracy).toBe(0);
  });

  it("keeps decision attempts apart", () => {
    const walk = { steps: [move, { ...move, isDecision: true, confidence: 0.5 }] };
    const { legal } = confidenceOfWalk(walk);
    expect(legal.all.meanConfidence).toBeCloseTo(0.7, 12);
    expect(legal.decision.meanConfidence).toBe(0.5);
  });

  it("judges a legal move after a teleport as wrong, after a rewind as right", () => {
    const walk = {
      steps: [
        { ...move, relocation: "teleport" as const },
        { ...move, relocation: "rewind" as const },
      ],
    };
    expect(judgementsOfWalk(walk, "legal", "all").judgements.map(({ correct }) => correct)).toEqual([false, true]);
  });

  it("leaves out what was never tried, and counts a line's confidence once", () => {
    const untried = (["malformed", "skipped", "afterExit"] as const).map((kind) => ({ ...move, kind }));
    const sameLine = { ...move, confidenceCounts: false };
    expect(judgementsOfWalk({ steps: [move, sameLine, ...untried] }, "legal", "all").judgements).toHaveLength(1);
  });

  it("counts a tried attempt without a confidence as missing", () => {
    const walk = { steps: [move, { ...move, confidence: null }, { ...move, kind: "wall" as const }] };
    const { all } = confidenceOfWalk(walk).legal;
    expect([all.count, all.missing]).toEqual([2, 1]);
    expect(all.coverage).toBeCloseTo(2 / 3, 12);
  });
});
