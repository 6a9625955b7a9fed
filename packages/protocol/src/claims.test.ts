import { generateMaze } from "@hallumaze/maze";
import { describe, expect, it } from "vitest";

import { readReply } from "./read-reply.ts";
import type { Reading } from "./reading.ts";

const maze = generateMaze({ size: 7, seed: 42 });

function read(text: string): Reading {
  return readReply(text, { size: 7, finishReason: null, mode: "strict", maze });
}

describe("a claim on a protocol line", () => {
  it.each([
    "DEAD_END at (2,1) — backtracking",
    "- DEAD_END at (2,1)",
    "**DEAD_END at (2,1)** — backtracking",
    "⚠️ DEAD_END at (2,1) — backtracking",
    "Dead end at [2, 1]: backtracking",
    "DEAD_END: (2,1)",
    "DEAD_END at (2,1) — no way forward, 더 이상 갈 곳이 없음",
    "(2,1)에서 DEAD_END — backtracking",
    "막다른 길 (2,1) — 되돌아감",
    "| STEP | 위치 | 방향 |\n|---|---|---|\n| - | DEAD_END at (2,1) | backtracking |",
    '{"event": "DEAD_END", "at": [2,1]}',
  ])("says where a dead end is: %j", (text) => {
    expect(read(text).claims).toEqual([
      { kind: "deadEnd", at: [2, 1], seenAtStep: null, form: "protocol", afterAttempt: 0 },
    ]);
  });

  it.each([
    "LOOP detected at (1,1) — visited at step 3",
    "LOOP at (1,1), seen at STEP 3",
    "Loop was detected at (1,1) (step 3)",
    "루프 감지: (1,1) — 3단계에서 방문",
  ])("says where a loop is and when the cell was seen: %j", (text) => {
    expect(read(text).claims).toEqual([{ kind: "loop", at: [1, 1], seenAtStep: 3, form: "protocol", afterAttempt: 0 }]);
  });

  it.each(["STRATEGY_CHANGE — 오른손 법칙", "STRATEGY CHANGE: right hand", "전략 변경 — 오른손 법칙"])(
    "says that the strategy changes: %j",
    (text) => {
      expect(read(text).claims).toMatchObject([{ kind: "strategyChange", at: null }]);
    },
  );

  it("knows how many attempts stood before it", () => {
    const text =
      "STEP 1: (0,0) → [SS]\nDEAD_END at (2,0)\nSTEP 2: (2,0) → [N]\nLOOP detected at (1,0) — visited at step 1";
    expect(read(text).claims.map((claim) => claim.afterAttempt)).toEqual([2, 3]);
  });

  it("is one, however many words name the event", () => {
    expect(read("막다른 길이라서 dead end 처리, DEAD_END").claims).toMatchObject([{ kind: "deadEnd" }]);
    expect(read("DEAD_END at (2,1) — dead end, 막다른 길").claims).toHaveLength(1);
  });

  it.each(["Loop was detected", "순환 감지", "이미 방문", "루프", "loop detected"])("may name no cell: %j", (text) => {
    expect(read(text).claims).toMatchObject([{ kind: "loop", at: null }]);
  });
});

describe("no claim", () => {
  it.each([
    "There was no dead end. 막다른 길도 없었고 루프도 없었습니다.",
    "LOOP detected: none",
    "LOOP was not detected",
    "No loop detected.",
    "DEAD_END: 없음",
    "STRATEGY_CHANGE: 없음",
    "루프 감지되지 않음",
    "루프는 발견되지 않았습니다.",
    "막다른 길이 아니다.",
    "I never hit a dead end.",
    "To avoid a loop I go east.",
    "막다른 길을 피하기 위해 동쪽으로 간다.",
    "If this is a dead end I will go back.",
    "DEAD_END at (r,c) — backtracking",
    "LOOP detected at (r,c) — visited at step M",
    "STRATEGY_CHANGE — [이유]",
  ])("comes of a denial, a condition or the template: %j", (text) => {
    expect(read(text).claims).toEqual([]);
  });
});

describe("words outside the protocol", () => {
  it("make claims without a cell, and neither an attempt nor a path", () => {
    const reading = read("음, (1,1)에서 dead end를 만났고 (0,0) → (0,1)로 루프를 돌았다.");
    expect(reading.claims).toMatchObject([
      { kind: "deadEnd", at: null, form: "words" },
      { kind: "loop", at: null, form: "words" },
    ]);
    expect(reading).toMatchObject({ attempts: [], finalPath: null });
  });
});

describe("a refused move", () => {
  it.each([
    "STEP 3: (1,1) → [E] ✗ 벽",
    "STEP 3: (1,1) → [E] (blocked by wall)",
    "STEP 3: (1,1) → [E] → 벽에 막힘",
    "STEP 3: (1,1) → [E] | 확신도: 40% | ❌ 벽",
  ])("stays an attempt, with the claim that it met a wall: %j", (text) => {
    const reading = read(text);
    expect(reading.attempts).toMatchObject([{ from: [1, 1], dir: "E" }]);
    expect(reading.attempts[0]?.flags).toContain("rejected");
    expect(reading.claims).toMatchObject([{ kind: "wall", at: [1, 1], afterAttempt: 1 }]);
  });

  it.each([
    "STEP 3: (1,1) → [E] | 확신도: 40% | 북쪽은 벽",
    "STEP 3: (1,1) → [E] 벽 없음",
    "STEP 3: (1,1) → [E] | 40% | 벽이 없는 쪽",
    "STEP 3: (1,1) → [E] ✅ | 40%",
  ])("is not what a reason says of another side: %j", (text) => {
    expect(read(text).claims).toEqual([]);
    expect(read(text).attempts[0]?.flags).not.toContain("rejected");
  });
});

describe("a self-reported count", () => {
  it.each([
    ["BACKTRACK_COUNT: 3\nHALLUCINATION_COUNT: 1", 3, 1],
    ["**BACKTRACK_COUNT:** 3회\n**HALLUCINATION_COUNT:** 0번", 3, 0],
    ["BACKTRACK_COUNT = 없음\nHALLUCINATION_COUNT: none", 0, 0],
    ["BACKTRACK_COUNT: N\nHALLUCINATION_COUNT: N", null, null],
    ["HALLUCINATION_COUNT: 1 / BACKTRACK_COUNT: 2", 2, 1],
    ["백트래킹 횟수: 2\n환각 횟수: 세 번", 2, 3],
    ["Backtrack Count - 2", 2, null],
    ["### BACKTRACK_COUNT\n2\n### HALLUCINATION_COUNT\n1", 2, 1],
    ['{"BACKTRACK_COUNT": 2, "HALLUCINATION_COUNT": 1, "FINAL_PATH": [[0,0],[1,0]]}', 2, 1],
    ["FINAL_PATH: (0,0)→(1,0)", null, null],
  ])("is a number, 0 for none, null for nothing: %j", (text, backtracks, hallucinations) => {
    expect(read(text).selfReport).toEqual({ backtracks, hallucinations });
  });
});
