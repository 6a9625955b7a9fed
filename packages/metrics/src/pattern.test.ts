import { createRandom } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import { classifyPatterns, type PatternAttempt, patternAttempts, patternThresholds } from "./pattern.ts";
import { patternShares, permutedPatternShares } from "./pattern-shares.ts";
import type { WalkStep } from "./walk.ts";

/** Reads "90 90 80x 50": confidences in per cent, `x` marks an illegal attempt, `-` an unread confidence. */
function log(text: string): PatternAttempt[] {
  return text.split(" ").map((word, at) => ({
    confidence: word.startsWith("-") ? null : Number.parseInt(word, 10) / 100,
    correct: !word.endsWith("x"),
    edge: `${at}`,
    repeats: false,
  }));
}

/** Paces over one passage, out and back. */
function circling(confidences: readonly number[]): PatternAttempt[] {
  return confidences.map((confidence, at) => ({
    confidence,
    correct: true,
    edge: at % 2 === 0 ? "out" : "back",
    repeats: at >= 2,
  }));
}

function patternsOf(text: string): string[] {
  return classifyPatterns(log(text)).map(({ pattern }) => pattern);
}

describe("classifyPatterns on error events", () => {
  it.each([
    { text: "90 90 90 80 60x 60", pattern: "A", why: "doubt before, deep fall at the error" },
    { text: "90 90 90 90 70x 70", pattern: "A", why: "the fall at the error is doubt and deep fall in one" },
    { text: "95 95 95 95 75x 75", pattern: "A", why: "0.75 - 0.95 meets -0.20 although binary misses it" },
    { text: "90 90 90 80 90x 50", pattern: "A", why: "doubt before, deep fall after" },
    { text: "90 90 90 90 80x 40", pattern: "A", why: "doubt at it, deep fall after" },
    { text: "90 90 90 90 90x 60", pattern: "A-late", why: "only the next one falls" },
    { text: "90 90 90 90 85x 85", pattern: "B", why: "0.05 less is still kept" },
    { text: "90 90 90 90 100x 100", pattern: "B", why: "it even rises" },
    { text: "90 90 90 90 90x", pattern: "B", why: "without a next one the error itself stands for both" },
    { text: "90 90 90 90 80x 80", pattern: "mixed", why: "doubt without a deep fall" },
    { text: "90 90 90 50x", pattern: "unclassifiable", why: "three confidences before it are too few" },
    { text: "90 90 - - - 50x", pattern: "unclassifiable", why: "unread ones do not count" },
    { text: "90 90 90 90 -x 50", pattern: "unclassifiable", why: "the error carries no confidence" },
  ])("calls $text $pattern: $why", ({ text, pattern }) => {
    expect(patternsOf(text)).toEqual([pattern]);
  });

  it("asks for three right ones among the confidences before", () => {
    expect(patternsOf("90 90x 90 90x 50x")).toEqual(["unclassifiable", "unclassifiable"]);
    expect(patternsOf("90 90x 90 90 50x")).toEqual(["unclassifiable", "A"]);
  });

  it("takes errors in a row as one event, and the second one's confidence as what came after", () => {
    const events = classifyPatterns(log("90 90 90 90 90x 60x 90x 90"));
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ at: 4, pattern: "A-late" });
    expect(events[0]?.dPost).toBeCloseTo(-0.3, 12);
  });

  it("measures the base over the last three right ones and the doubt over the three before the last", () => {
    const [event] = classifyPatterns(log("50 90 70 80 60 40x 30"));
    expect(event?.dAt).toBeCloseTo(0.4 - 0.7, 12);
    expect(event?.dPost).toBeCloseTo(0.3 - 0.7, 12);
    expect(event?.dPre).toBeCloseTo(0.6 - 0.8, 12);
  });

  it("flags flat confidences beside the pattern", () => {
    expect(classifyPatterns(log("95 95 95 95 95x 95"))).toMatchObject([{ pattern: "B", flat: true }]);
    expect(classifyPatterns(log("95 90 95 90 95x 95"))).toMatchObject([{ pattern: "B", flat: false }]);
  });

  it("calls the same illegal attempt B-loop where its confidence does not fall over the repeats", () => {
    const repeated = log("90 80x 90 90 90 82x 82").map((attempt, at) => ({
      ...attempt,
      edge: attempt.correct ? `${at}` : "wall",
    }));
    expect(classifyPatterns(repeated).map(({ pattern }) => pattern)).toEqual(["unclassifiable", "B-loop"]);
    expect(patternsOf("90 80x 90 90 90 82x 82")).toEqual(["unclassifiable", "mixed"]);
  });

  it("takes its limits as parameters", () => {
    const lax = { ...patternThresholds, parsedBeforeMin: 1, correctBeforeMin: 1 };
    expect(classifyPatterns(log("90 60x"), lax)).toMatchObject([{ pattern: "A" }]);
  });
});

describe("classifyPatterns on loops", () => {
  it("calls a loop B-loop while confidence keeps up, mixed where it falls", () => {
    expect(classifyPatterns(circling([0.9, 0.8, 0.9, 0.8, 0.9, 0.9]))).toMatchObject([
      { kind: "loop", at: 2, pattern: "B-loop" },
    ]);
    expect(classifyPatterns(circling([0.9, 0.8, 0.7, 0.6, 0.5, 0.4]))).toMatchObject([
      { kind: "loop", at: 2, pattern: "mixed" },
    ]);
  });

  it("compares an edge only with itself", () => {
    expect(classifyPatterns(circling([0.9, 0.2, 0.8, 0.1]))).toMatchObject([{ pattern: "mixed" }]);
  });
});

describe("patternAttempts", () => {
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

  it("takes one attempt a line, for which its illegal move speaks", () => {
    const carried: WalkStep = { ...move, confidenceCounts: false };
    const wall: WalkStep = { ...move, kind: "wall", from: [0, 1], to: [0, 1] };
    const skipped: WalkStep = { ...move, kind: "skipped", confidenceCounts: false };
    expect(patternAttempts({ steps: [carried, wall, skipped] })).toEqual([
      { confidence: 0.9, correct: false, edge: "0,1E", repeats: false },
    ]);
  });

  it("takes a move as a repeat only where the walk does, so that a new pass is no loop", () => {
    const back: WalkStep = { ...move, from: [0, 1], dir: "W" };
    expect(classifyPatterns(patternAttempts({ steps: [move, back, move] }))).toEqual([]);
    expect(classifyPatterns(patternAttempts({ steps: [move, back, { ...move, repeatsEdge: true }] }))).toMatchObject([
      { kind: "loop", at: 2, pattern: "B-loop" },
    ]);
  });
});

describe("patternShares", () => {
  it("shares out the classifiable error events and keeps loops and the rest apart", () => {
    const trials = [log("90 90 90 90 60x 60"), log("90 90 90 90 90x"), log("90 90 90 90 90x"), log("50x")];
    expect(patternShares(trials)).toEqual({
      errorCount: 4,
      unclassifiable: 1,
      shares: { A: 1 / 3, "A-late": 0, B: 2 / 3, "B-loop": 0, mixed: 0 },
      flatShare: 2 / 3,
      loopCount: 0,
      loopSteadyShare: null,
    });
  });

  it("has null shares, not 0, without a classifiable error", () => {
    expect(patternShares([log("90 90 90")])).toMatchObject({ errorCount: 0, shares: null, flatShare: null });
  });
});

describe("permutedPatternShares", () => {
  const random = createRandom(5);
  const randomTrials = Array.from({ length: 60 }, () =>
    Array.from(
      { length: 20 },
      (_, at): PatternAttempt => ({
        confidence: random.below(101) / 100,
        correct: random.below(6) > 0,
        edge: `${at}`,
        repeats: false,
      }),
    ),
  );

  it("gives the same shares for the same seed", () => {
    const [one, same, other] = [1, 1, 2].map((seed) =>
      permutedPatternShares(randomTrials, createRandom(seed), { rounds: 2 }),
    );
    expect(one).toEqual(same);
    expect(one).not.toEqual(other);
  });

  it("keeps the errors where they are: only confidences move", () => {
    const { errorCount } = permutedPatternShares(randomTrials, createRandom(3), { rounds: 4 });
    expect(errorCount).toBe(patternShares(randomTrials).errorCount);
  });

  it("shows what chance gives: random confidences are A in about a third of the errors", () => {
    const { shares } = permutedPatternShares(randomTrials, createRandom(4), { rounds: 50 });
    expect(shares?.A).toBeGreaterThan(0.25);
    expect(shares?.A).toBeLessThan(0.5);
  });

  it("takes a real reaction to errors away", () => {
    const reacting = Array.from({ length: 30 }, () => log("90 90 90 90 60x 60 90 90 90 90 60x 60"));
    expect(patternShares(reacting).shares?.A).toBe(1);
    expect(permutedPatternShares(reacting, createRandom(6), { rounds: 20 }).shares?.A).toBeLessThan(0.7);
  });
});
