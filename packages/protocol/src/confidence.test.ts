import { generateMaze } from "@hallumaze/maze";
import { describe, expect, it } from "vitest";

import { readReply } from "./read-reply.ts";
import type { Reading } from "./reading.ts";

const maze = generateMaze({ size: 7, seed: 42 });

function read(text: string): Reading {
  return readReply(text, { size: 7, finishReason: null, mode: "strict", maze });
}

function step(field: string): Reading["attempts"][number] | undefined {
  return read(`STEP 1: (0,0) → [S] | ${field}`).attempts[0];
}

describe("an inline confidence", () => {
  it.each([
    ["확신도: 90%", 0.9],
    ["확신도: 90", 0.9],
    ["확신도: 0.9", 0.9],
    ["확신도: .9", 0.9],
    ["확신도: **90%**", 0.9],
    ["확신도: 92.5%", 0.925],
    ["확신도: 92,5%", 0.925],
    ["Confidence - 90 / 100", 0.9],
    ["Confidence: 9/10", 0.9],
    ["확신도 90％", 0.9],
    ["확신도는 90%", 0.9],
    ["확신도: 약 90% 정도", 0.9],
    ["확신도: ~90%", 0.9],
    ["확신도=90퍼센트", 0.9],
    ["확신도: 높음 (90%)", 0.9],
    ["확신도: 90% (높음)", 0.9],
    ["90% 확신", 0.9],
    ["90% confident, confidence high", 0.9],
    ["90%", 0.9],
    ["약 90%", 0.9],
    ["~90% | 이유", 0.9],
    ["[90%] | 이유", 0.9],
    ["높음 (90%)", 0.9],
    ["conf=0.85", 0.85],
    ["이유 | 확신도: 90%", 0.9],
    ["확신도: 100", 1],
    ["확신도: 1.0", 1],
    ["확신도: 0", 0],
    ["확신도: 1%", 0.01],
  ])("is a share of 1: %j", (field, confidence) => {
    expect(step(field)).toMatchObject({ confidence, flags: [] });
  });

  it.each([
    ["확신도: 85-90%", 0.875],
    ["확신도: 85~90%", 0.875],
    ["확신도: 85% – 90%", 0.875],
    ["85-90%", 0.875],
    ["확신도: 0.8-0.9", 0.85],
  ])("is the midpoint of a range, flagged: %j", (field, confidence) => {
    expect(step(field)?.confidence).toBeCloseTo(confidence, 10);
    expect(step(field)?.flags).toEqual(["confidenceRange"]);
  });

  it.each([
    ["확신도: 150%", "150%"],
    ["확신도: -5%", "-5%"],
    ["확신도: 101", "101"],
    ["확신도: 11/10", "11/10"],
  ])("out of range is null, never clamped, and its text is kept: %j", (field, confidenceText) => {
    expect(step(field)).toMatchObject({ confidence: null, confidenceText, flags: ["outOfRange"] });
  });

  it.each([
    ["확신도: 높음", "높음"],
    ["확신도: 매우 높음 | 이유", "매우 높음"],
    ["확신도: 확실", "확실"],
    ["Confidence: very high", "very high"],
  ])("in words is null with the words kept: %j", (field, confidenceText) => {
    expect(step(field)).toMatchObject({ confidence: null, confidenceText, flags: ["verbal"] });
  });

  it("that is still the template's is none", () => {
    expect(step("확신도: XX% | 이유")).toMatchObject({ confidence: null, confidenceText: null, flags: [] });
  });

  it("of a bare 1 is certainty, unless the log counts in percent, and is flagged either way", () => {
    expect(step("확신도: 1")).toMatchObject({ confidence: 1, flags: ["ambiguousConfidence"] });
    const [first] = read("STEP 1: (0,0) → [S] | 확신도: 1\nSTEP 2: (1,0) → [S] | 확신도: 90").attempts;
    expect(first).toMatchObject({ confidence: 0.01, flags: ["ambiguousConfidence"] });
  });

  it.each(["STEP 1: (0,0) → [S] (90%)", "STEP 1: (0,0) → [S], 90%"])("may stand right behind the move: %j", (text) => {
    expect(read(text).attempts).toMatchObject([{ dir: "S", confidence: 0.9 }]);
  });

  it("is shared by the moves of its line", () => {
    const { attempts } = read("STEP 1: (0,0) → [SS] | 확신도: 80%");
    expect(attempts.map((attempt) => attempt.confidence)).toEqual([0.8, 0.8]);
  });

  it("may stand on a bullet below its step", () => {
    const { attempts } = read("- STEP 1: (0,0) → [S]\n  - 확신도: 80%\n  - 이유: 북쪽은 벽");
    expect(attempts).toMatchObject([{ dir: "S", confidence: 0.8 }]);
  });
});

describe("CONFIDENCE_LOG", () => {
  it.each([
    "CONFIDENCE_LOG: step1:90, step2:85",
    "CONFIDENCE_LOG: step 1: 90%, step 2: 85%",
    "CONFIDENCE_LOG: 1=90%, 2=85%",
    "CONFIDENCE_LOG: [90,85]",
    "CONFIDENCE_LOG: 90%, 85%",
    "CONFIDENCE_LOG: 0.9, 0.85",
    "CONFIDENCE_LOG: (1, 90), (2, 85)",
    "CONFIDENCE_LOG: STEP1→90%; STEP2→85%",
    'CONFIDENCE_LOG: {"1": 90, "2": 85}',
    'CONFIDENCE_LOG: {"step1": 90, "step2": 85}',
    "CONFIDENCE_LOG:\nstep1: 90\nstep2: 85\nFINAL_PATH: (0,0)→(1,0)",
    "CONFIDENCE_LOG:\n- STEP 1: 90%\n- STEP 2: 85%\n\nFINAL_PATH: (0,0)→(1,0)",
    "**CONFIDENCE_LOG:** step1:90,\nstep2:85",
    "확신도 로그: step1:90, step2:85",
  ])("gives a confidence a step: %j", (text) => {
    expect(read(text).confidenceLog).toEqual([
      { step: 1, confidence: 0.9 },
      { step: 2, confidence: 0.85 },
    ]);
    expect(read(text).attempts).toEqual([]);
  });

  it("fills in where a step has none; where both stand the step's wins and a mismatch is flagged", () => {
    const reading = read(
      "STEP 1: (0,0) → [S]\nSTEP 2: (1,0) → [S] | 확신도: 90%\nSTEP 3: (2,0) → [E] | 확신도: 70%\nCONFIDENCE_LOG: step1:80, step2:85, step3:70",
    );
    expect(reading.attempts).toMatchObject([
      { confidence: 0.8, flags: [] },
      { confidence: 0.9, flags: ["confidenceMismatch"] },
      { confidence: 0.7, flags: [] },
    ]);
    expect(reading.flags).toContain("confidenceMismatch");
  });

  it("that ends in an ellipsis is partial", () => {
    expect(read("CONFIDENCE_LOG: step1:90, step2:85, ...").flags).toContain("partialConfidenceLog");
  });

  it("that repeats the template holds nothing", () => {
    const reading = read("CONFIDENCE_LOG: step1:conf1, step2:conf2, ...");
    expect(reading).toMatchObject({ confidenceLog: [], templateEchoes: 1, flags: ["templateEcho"] });
  });
});
