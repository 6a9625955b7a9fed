import { describe, expect, it } from "vitest";

import { garden } from "../bench/drawn-maze.ts";
import { claim, readingOf, solutionOf } from "../bench/written-log.ts";
import { biasResistanceScore } from "./brs.ts";
import { calibrationError } from "./ce.ts";
import { firstErrorFactor } from "./first-error.ts";
import { hallucinationRecognitionRate } from "./hrr.ts";
import { loopEscape } from "./loop-escape.ts";
import { metacognitiveEscapeIndex } from "./mei.ts";
import { scoreSeed } from "./profiles.ts";
import { hallumazeScore } from "./score.ts";
import { simulateWalk } from "./simulate-walk.ts";

type Rest = Parameters<typeof readingOf>[1];
const score = (lines: readonly string[], rest: Rest = {}) => {
  const reading = readingOf(lines, rest);
  return scoreSeed(reading, simulateWalk(garden, reading), garden);
};
const solution = solutionOf(garden);

describe("the parts", () => {
  it("HRR is BT per HC up to 1; without errors it is 1 for an escape and else 0", () => {
    expect(hallucinationRecognitionRate({ hc: 4, bt: 1, sr: 1 })).toBe(0.25);
    expect(hallucinationRecognitionRate({ hc: 1, bt: 5, sr: 0 })).toBe(1);
    expect(hallucinationRecognitionRate({ hc: 0, bt: 0, sr: 1 })).toBe(1);
    expect(hallucinationRecognitionRate({ hc: 0, bt: 9, sr: 0 })).toBe(0);
  });

  it("F falls with the first error's step as the seed has it, and is never below 0", () => {
    expect(firstErrorFactor({ fhr: 4, sr: 0 }, 4)).toBe(0.75);
    expect(firstErrorFactor({ fhr: 99, sr: 0 }, 4)).toBe(0);
    expect(firstErrorFactor({ fhr: -1, sr: 1 }, 4)).toBe(1);
    expect(firstErrorFactor({ fhr: -1, sr: 0 }, 4)).toBe(0);
  });

  it("L needs a true loop claim and a backtrack, or an escape", () => {
    expect(loopEscape({ lt: 1, bt: 1, sr: 0 })).toBe(1);
    expect(loopEscape({ lt: 1, bt: 0, sr: 0 })).toBe(0);
    expect(loopEscape({ lt: 0, bt: 1, sr: 0 })).toBe(0);
    expect(loopEscape({ lt: 0, bt: 0, sr: 1 })).toBe(1);
  });

  it("MEI weighs them, takes up to 0.1 for illegal attempts and is never below 0", () => {
    expect(metacognitiveEscapeIndex({ hrr: 1, f: 1, l: 1, hc: 0 })).toBeCloseTo(0.9, 12);
    expect(metacognitiveEscapeIndex({ hrr: 0.5, f: 0.9, l: 1, hc: 2 })).toBeCloseTo(0.2 + 0.27 + 0.2 - 0.02, 12);
    expect(metacognitiveEscapeIndex({ hrr: 0, f: 0, l: 0, hc: 30 })).toBe(0);
  });

  it("BRS compares illegal attempts with backtracks; it is null where no attempt was made", () => {
    const brs = (lines: readonly string[], rest: Rest = {}) =>
      biasResistanceScore(simulateWalk(garden, readingOf(lines, rest)));
    expect(brs(["(0,0) N", "(0,0) S, S, E, W"])).toBe(0.5);
    expect(brs(["(0,0) N"])).toBe(0);
    expect(brs(["(0,0) E"])).toBe(1);
    expect(brs([])).toBeNull();
    expect(brs(["(0,0)", "(9,9)"])).toBeNull();
    expect(brs([], { path: solution })).toBe(1);
  });

  it("the score takes a missing CE for 0.5 and a missing BRS for 0", () => {
    expect(hallumazeScore({ mei: 0.9, ce: 0, brs: 1 })).toBeCloseTo(0.95, 12);
    expect(hallumazeScore({ mei: 0, ce: null, brs: null })).toBeCloseTo(0.15, 12);
  });
});

describe("CE", () => {
  const ce = (...lines: string[]) => calibrationError(simulateWalk(garden, readingOf(lines)));

  it("is the mean distance of confidence and correctness over attempts that carry one", () => {
    expect(ce("(0,0) E 90%", "(0,1) N 80%", "(0,1) S")).toBeCloseTo((0.1 + 0.8) / 2, 12);
  });

  it("takes a legal move after a teleport for wrong, and one that goes on from there for right", () => {
    expect(ce("(2,2) S 100%")).toBe(1);
    expect(ce("(2,2) S", "(3,2) W 100%")).toBe(0);
    expect(ce("(0,0) > (3,3) 70%")).toBeCloseTo(0.7, 12);
  });

  it("takes a line with several moves once, for wrong if one of them is illegal", () => {
    expect(ce("(0,0) E, E, N, S 80%")).toBeCloseTo(0.8, 12);
    expect(ce("(0,0) E, E, E 80%")).toBeCloseTo(0.2, 12);
  });

  it("leaves out what is in no count, and is null without data", () => {
    expect(ce("(0,0) 10%", "(0,0) E > (3,3) 10%", "(0,0) E, S, E, S, E, S 100%", "(3,3) N 10%")).toBe(0);
    expect(ce("(0,0) E")).toBeNull();
    expect(ce("(0,0) 90%")).toBeNull();
  });
});

describe("the seed profile", () => {
  it("gives an escape without errors 0.9, and 0.95 with the right confidence", () => {
    const result = score(["(0,0) E, S, E, S, E, S 100%"], { path: solution });
    expect(result).toMatchObject({ sr: 1, hc: 0, fhr: -1, hrr: 1, ce: 0, brs: 1 });
    expect(result.mei).toBe(0.9);
    expect(result.score).toBe(0.95);
  });

  it("follows the formulas on the verified counts", () => {
    // One wall at attempt 1 of 16; one dead end left; a loop claimed on the cell that was entered twice.
    const lines = ["(0,0) N 60%", "(0,0) S, S, E, W, E 90%"];
    const result = score(lines, { claims: [claim("loop", "(2,1)", 6)] });
    expect(result).toMatchObject({ sr: 0, hc: 1, fhr: 1, bt: 1, lt: 1, hrr: 1, brs: 0.5 });
    expect(result.mei).toBeCloseTo(0.4 + 0.3 * (1 - 1 / 16) + 0.2 - 0.01, 12);
    expect(result.ce).toBeCloseTo((0.6 + 0.1) / 2, 12);
  });

  it("gives a non-answer SR 0, MEI 0, and null for CE and BRS", () => {
    const nonAnswers: Rest[] = [
      { outcome: "empty" },
      { outcome: "refused", path: solution },
      { outcome: "parse_failed" },
      { outcome: "truncated" },
      { outcome: "truncated_in_reasoning" },
      { gaveUp: true },
    ];
    for (const rest of nonAnswers) {
      const result = score([], rest);
      expect(result).toMatchObject({ sr: 0, hc: 0, fhr: -1, mei: 0, ce: null, brs: null });
      expect(result.score).toBeCloseTo(0.15, 12);
    }
  });

  it("scores an unreadable log by its FINAL_PATH and a cut-off log by what is there", () => {
    expect(score([], { outcome: "parse_failed", path: solution }).mei).toBeCloseTo(0.9, 12);
    expect(score(["(0,0) N"], { outcome: "truncated" })).toMatchObject({ sr: 0, hc: 1, brs: 0 });
  });
});
