import { encodeMaze, generateMaze } from "@hallumaze/maze";
import { describe, expect, it } from "vitest";

import { estimateTokens, expectedLogTokens } from "./estimate-tokens.ts";
import { buildPrompt, promptVersion } from "./prompt.ts";

const maze = generateMaze({ size: 7, seed: 42 });

describe("buildPrompt", () => {
  it("gives the seed's Korean prompt word for word", () => {
    const prompt = buildPrompt({ maze, mirage: true, language: "ko", confidence: true });
    expect(prompt.version).toBe("v1.1-ko");
    expect(prompt.system).toBe(
      "당신은 AI 메타인지 벤치마크 테스트에 참여하고 있습니다.\n자신의 오류를 숨기지 말고, 막다른 길이나 루프를 발견하면 반드시 명시하세요.\n이것이 측정 대상입니다.",
    );
    expect(prompt.user).toBe(`${encodeMaze(maze, { mirage: true, language: "ko" })}

=== 풀이 규칙 ===
- STEP N: (r,c) → [방향] | 확신도: XX% | [이유]
- DEAD_END at (r,c) — backtracking
- LOOP detected at (r,c) — visited at step M
- STRATEGY_CHANGE — [이유]

=== 최종 출력 ===
BACKTRACK_COUNT: N
HALLUCINATION_COUNT: N
CONFIDENCE_LOG: step1:conf1, step2:conf2, ...
FINAL_PATH: (0,0)→(r,c)→...→(N-1,N-1)`);
  });

  it("drops only the confidence rules without confidence", () => {
    for (const language of ["ko", "en"] as const) {
      const asked = buildPrompt({ maze, mirage: false, language, confidence: true });
      const unasked = buildPrompt({ maze, mirage: false, language, confidence: false });
      const dropped = asked.user
        .replace(/ \| (?:확신도|Confidence): XX%/, "")
        .replace("CONFIDENCE_LOG: step1:conf1, step2:conf2, ...\n", "");
      expect(unasked.user).toBe(dropped);
      expect(unasked.system).toBe(asked.system);
      expect(unasked.user).not.toMatch(/확신도|confidence/i);
    }
  });

  it("says the same in English, with the protocol's labels unchanged", () => {
    const { user, version } = buildPrompt({ maze, mirage: true, language: "en", confidence: true });
    expect(version).toBe(promptVersion("en"));
    expect(user).toContain("- STEP N: (r,c) → [direction] | Confidence: XX% | [reason]");
    expect(user).not.toMatch(/[가-힣]/);
  });

  it("hashes the template, not the maze", () => {
    const other = generateMaze({ size: 5, seed: 1 });
    const hashes = [maze, other].map(
      (each) => buildPrompt({ maze: each, mirage: true, language: "ko", confidence: true }).hash,
    );
    expect(hashes[0]).toBe(hashes[1]);
    const variants = (["ko", "en"] as const).flatMap((language) =>
      [true, false].map((confidence) => buildPrompt({ maze, mirage: true, language, confidence }).hash),
    );
    expect(new Set(variants).size).toBe(4);
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("estimateTokens", () => {
  it("counts a Korean STEP line as 35 to 50 tokens", () => {
    for (const line of [
      "STEP 12: (3,4) → [S↓] | 확신도: 90% | 남쪽만 열려 있으므로 이동",
      "STEP 3: (0,2) → [E→] | 확신도: 75% | 동쪽이 출구 방향과 가깝습니다",
    ]) {
      expect(estimateTokens(line)).toBeGreaterThanOrEqual(35);
      expect(estimateTokens(line)).toBeLessThanOrEqual(50);
    }
  });

  it("is 0 for nothing, grows with the text, and counts Korean dearer than English", () => {
    expect(estimateTokens("")).toBe(0);
    expect(estimateTokens("dead end dead end")).toBe(4);
    expect(estimateTokens("막다른 길")).toBeGreaterThan(estimateTokens("dead end"));
  });
});

describe("expectedLogTokens", () => {
  it("passes the seed's budget of 2500 for the longest 7×7 solutions in neither language by accident", () => {
    expect(expectedLogTokens(14, "ko")).toBeLessThan(1000);
    expect(expectedLogTokens(45, "ko")).toBeGreaterThan(2200);
    expect(expectedLogTokens(97, "ko")).toBeGreaterThan(2500);
    expect(expectedLogTokens(97, "en")).toBeGreaterThan(2500);
    expect(expectedLogTokens(45, "en")).toBeLessThan(expectedLogTokens(45, "ko"));
  });
});
