import type { CellPlan } from "@hallumaze/sweep";
import { describe, expect, it } from "vitest";

import { scoreReply } from "./score-reply.ts";

const plan: CellPlan = {
  format: 1,
  provider: "sim",
  model: "oracle",
  baseUrl: null,
  temperature: 0,
  params: {},
  maxTokens: 2500,
  promptVersion: "v1.1-ko",
  generator: "dfs",
  placement: "path-order",
  seed: 1001,
  size: 5,
  group: "A",
  mirage: true,
  language: "ko",
  confidence: true,
  repeat: 0,
  rehearsal: false,
};
const cells = "(0,0) (1,0) (2,0) (3,0) (3,1) (2,1) (2,2) (2,3) (3,3) (3,2) (4,2) (4,3) (4,4)".split(" ");

describe("scoreReply", () => {
  it("keeps the confidences by step, for the original program's JSON", () => {
    const text = "STEP 1: (0,0) → [S↓] | 확신도: 90%\nSTEP 2: (1,0) → [S↓]\nSTEP 3: (2,0) → [S↓] | 확신도: 45%\n";
    const { readingJson } = scoreReply(plan, text, "stop");
    expect(JSON.parse(readingJson)).toMatchObject({
      confidenceLog: [
        { step: 1, confidence: 0.9 },
        { step: 3, confidence: 0.45 },
      ],
    });
  });

  it("scores a right log alike under both readings: no format sensitivity", () => {
    const scored = scoreReply(plan, `FINAL_PATH: ${cells.join("→")}`, "stop");
    expect(JSON.parse(scored.readingJson)).toMatchObject({
      lenient: null,
      formatSensitivity: { sr: 0, meiSeed: 0, meiRobust: 0 },
    });
    expect(scored.profiles.seed.scores.sr).toBe(1);
  });

  it("tells what a lenient reading would change in a log that counts from one", () => {
    const shifted = cells.map((cell) => cell.replace(/\d/g, (digit) => String(Number(digit) + 1)));
    const scored = scoreReply(plan, `FINAL_PATH: ${shifted.join("→")}`, "stop");
    expect(scored.profiles.seed.scores.sr).toBe(0);
    expect(JSON.parse(scored.readingJson)).toMatchObject({ formatSensitivity: { sr: 1 } });
  });
});
