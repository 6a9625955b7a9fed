import { generateMaze } from "@hallumaze/maze";
import { describe, expect, it } from "vitest";

import { readReply } from "./read-reply.ts";

const maze = generateMaze({ size: 7, seed: 42 });

/** The attempts of a reply as `index (from) dir (to)`, one a move. */
function moves(text: string): string[] {
  const { attempts } = readReply(text, { size: 7, finishReason: null, mode: "strict", maze });
  return attempts.map(({ index, from, dir, to }) => {
    const target = to === null ? "" : ` to ${to.join(",")}`;
    return `${index ?? "-"}: ${from?.join(",") ?? "?"} ${dir ?? "?"}${target}`;
  });
}

function flags(text: string): readonly string[] {
  const { attempts } = readReply(text, { size: 7, finishReason: null, mode: "strict", maze });
  return attempts.flatMap((attempt) => attempt.flags);
}

const oneMoveSouth: readonly string[] = [
  "STEP 1: (0,0) → [S↓] | 확신도: 90% | 이유",
  "**STEP 1:** (0,0) → [S↓] | 확신도: 90%",
  "- STEP 1: (0,0) → [S] | 확신도: 90%",
  "### STEP 1: (0,0) → [S]",
  "3. STEP 1: (0,0) -> S | 확신도: 90%",
  "Step 1 : (0, 0) => South | Confidence: 90%",
  "STEP 1: (0,0) ⇒ [S]",
  "STEP 1: (0,0) ➜ [S]",
  "STEP 1: (0,0) ⟶ [S]",
  "STEP 1: (0,0) ↦ S",
  "STEP 1: (0,0) ~> S",
  "STEP 1: (0,0) --> S",
  "STEP 1: (0,0) > S",
  "STEP 1: (0,0): S",
  "STEP 1: (0,0) to S",
  "STEP 1: (0,0) → [South] | 확신도: 90%",
  "STEP 1: (0,0) → [down]",
  "STEP 1: (0,0) → [남쪽] | 확신도: 90%",
  "STEP 1: (0,0) → [남]",
  "STEP 1: (0,0) → [남쪽 방향]",
  "STEP 1: (0,0) → [아래]",
  "STEP 1: (0,0) → [아래쪽으로]",
  "STEP 1: (0,0) → [하]",
  "STEP 1: (0,0)에서 남쪽으로 한 칸 이동합니다 (확신도 90%)",
  "STEP 1: (0,0)에서 동쪽은 벽이므로 남쪽으로 이동",
  "STEP 1: (0,0) → [⬇️]",
  "STEP 1: (0,0) → 👇",
  "STEP 1: (0,0) → [↓]",
  "STEP 1: (0,0) ↓",
  "STEP 1：（0，0） → ［S］ ｜ 확신도：90％",
  "STEP 1: (０,０) → [S] | 확신도: ９０%",
  "STEP 1: [0,0] → [S]",
  "STEP 1: {0,0} → [S]",
  "STEP 1: (r=0, c=0) → S",
  "STEP 1: (row 0, col 0) → S",
  "STEP 1: (c=0, r=0) → S",
  "STEP 1: 행 0 열 0 → S",
  "STEP 1: 0행 0열 → S",
  "STEP 1: r0c0 → [S]",
  "STEP 1: <0-0> → [S]",
  "STEP 1: 0,0 → S",
  "STEP 1: (0,0) → [s]",
  "STEP 1: (0,0) → S↓",
  "STEP 1: (0,0) → 남쪽(S)",
  "STEP 1: (0,0) → 이동: 남쪽",
  "STEP 1: 현재 위치 (0,0) → 이동 방향: [S]",
  "STEP 1: At (0,0), go south",
  "STEP 1: Move south from (0,0)",
  "STEP 01: (0,0) → [S]",
  "STEP 1/20: (0,0) → [S]",
  "Step #1 - (0,0) → [S]",
  "[STEP 1] (0,0) → [S]",
  "스텝 1: (0,0) → [S]",
  "1단계: (0,0) → [S]",
  "✅ STEP 1: (0,0) → [S]",
  "> STEP 1: (0,0) → [S]",
  "`STEP 1: (0,0) → [S]`",
  "1. **STEP 1**: `(0,0)` → **[S↓]** | *확신도*: 90% | _이유_",
  "STEP\u200b\u00a01:\t(0,0) → [S]\r",
  "STEP 1: $(0,0) \\rightarrow [S\\downarrow]$ | 확신도: 90\\%",
  "STEP 1: \\((0,0) \\to \\text{South}\\)",
  "STEP 1: (0,0) &rarr; [S&darr;] &#124; 확신도: 90&#37;",
  "STEP 1: (0,0) -&gt; S",
  "<b>STEP 1</b>: (0,0) → <code>[S]</code>",
  "STEP 1: (0,0) → [S]\n  | 확신도: 90%\n  | 이유",
  "STEP 1:\n(0,0) → [S] | 확신도: 90%",
  "STEP 1:\n\n(0,0) → [S]",
  "```text\nSTEP 1: (0,0) → [S]\n```",
  '{"step":1,"pos":[0,0],"dir":"S","conf":90}',
  '{"step": 1, "from": {"row": 0, "col": 0}, "direction": "south"}',
  "step: 1\npos: (0,0)\ndir: S\nconf: 90",
  "- step: 1\n  pos: (0,0)\n  dir: S",
  "### STEP 1\n- 위치: (0,0)\n- 방향: S↓\n- 이유: 동쪽은 벽",
  '{\n  "steps": [\n    {\n      "step": 1,\n      "pos": [\n        0,\n        0\n      ],\n      "dir": "S"\n    }\n  ]\n}',
  "| STEP | 위치 | 방향 | 확신도 |\n|---|---|---|---|\n| 1 | (0,0) | S | 90% |",
  "| STEP 1 | (0,0) | S | 90% | 남쪽만 열림 |",
  "STEP 1: (0,0) → [남쪽(아래)]",
  "STEP 1 | 위치: (0,0) | 방향: S | 확신도: 90%",
  "STEP 1: (0,0) → [S] | 현재 위치: (0,0) | 확신도: 90%",
  "**Step 1:** I'm at (0,0). Available: E, S. I choose S. Confidence: 80%",
  "STEP 1: (0,0) 가능 방향: [E→ S↓] → [S]",
  "STEP 1: (0,0) → [S↓] | 확신도: 90% | 이유\n다음: (3,3)\n방향: E",
  "STEP 1: (0,0) → S, because east is a wall | Confidence: 90%",
  "– STEP 1: (0,0) → [S]",
  "👉 STEP 1: (0,0) → [S]",
  "1️⃣ STEP 1: (0,0) → [S]",
  "수정: STEP 1: (0,0) → [S]",
  "[수정] STEP 1: (0,0) → [S]",
  "Corrected STEP 1: (0,0) → [S]",
  "<STEP 1> (0,0) → [S]",
  "STEP [1]: (0,0) → [S]",
  "$\\text{STEP 1: } (0,0) \\rightarrow [S]$",
  "STEP 1: (0,0) → [S/남]",
  "STEP 1: S(0,0) → [S]",
  "STEP 1: (0,0) → [S] | S | 90%",
  "STEP 1 [확신도: 90%]: (0,0) → [S]",
  "STEP 1: 확신도: 90% | (0,0) → [S] | 이유",
  "| # | Cell | Dir | Conf. |\n|---|---|---|---|\n| 1 | (0,0) | South | 90 |",
  "| STEP | 좌표 (r,c) | 방향 | 확신도(%) |\n|---|---|---|---|\n| 1 | (0,0) | S | 90 |",
  "STEP | 위치 | 방향\n---|---|---\n1 | (0,0) | S",
  "| STEP | row | col | dir |\n|---|---|---|---|\n| 1 | 0 | 0 | S |",
  "| Step | Position → Direction |\n|---|---|\n| 1 | (0,0) → [S] |",
  "<table><tr><th>STEP</th><th>Cell</th><th>Move</th></tr><tr><td>1</td><td>(0,0)</td><td>S</td></tr></table>",
  "### Step 1\n**Position:** (0,0)\n**Available directions:** E, S\n**Move:** S\n**Confidence:** 90%",
  "### STEP 1: (0,0)\n- 가능한 방향: E→, S↓\n- 선택: S↓",
  '{"step":1,"r":0,"c":0,"dir":"S","conf":90}',
  '{"step_number":1,"current_position":"(0,0)","chosen_direction":"S","confidence_level":90}',
  "STEP 1: (0,0) → S (east is blocked)",
  "STEP 1: (0,0) → [S] | 확신도: 90% | 동쪽은 벽이고 (0,1)은 막다른 길",
];

describe("a STEP line in any spelling", () => {
  it.each(oneMoveSouth)("is one move south from START: %j", (text) => {
    expect(moves(text)).toEqual(["1: 0,0 S"]);
  });

  it.each([
    ["STEP 1: (0,0) → (1,0)", "1: 0,0 S to 1,0"],
    ["STEP 1: (0,0)에서 (1,0)으로 이동", "1: 0,0 S to 1,0"],
    ["STEP 1: <0-0> → <1-0>", "1: 0,0 S to 1,0"],
  ])("derives the direction from a target alone: %j", (text, move) => {
    expect(moves(text)).toEqual([move]);
    expect(flags(text)).toEqual(["derivedDirection"]);
  });

  it.each([
    "STEP 1: (0,0) → [S] → (1,0) | 확신도: 90%",
    "STEP 1: (0,0) --[S]--> (1,0)",
    "STEP 1: (0,0) → [S] (1,0)",
    "STEP 1: (0,0) → [S], now at (1,0)",
    "STEP 1: Move south from (0,0) to (1,0)",
    "STEP 1: (0,0) → (1,0) [S↓]",
    "STEP 1: (0,0) → (1,0) (남쪽으로 이동)",
    "STEP 1: (0,0) → (1,0) | S | 90%",
  ])("reads direction and target where both stand: %j", (text) => {
    expect(moves(text)).toEqual(["1: 0,0 S to 1,0"]);
    expect(flags(text)).toEqual([]);
  });

  it("keeps a direction and a target that disagree, and flags them", () => {
    expect(moves("STEP 1: (0,0) → [E] → (1,0)")).toEqual(["1: 0,0 E to 1,0"]);
    expect(flags("STEP 1: (0,0) → [E] → (1,0)")).toEqual(["contradiction"]);
  });

  it("gives no direction to a target that is not adjacent", () => {
    expect(moves("STEP 1: (0,0) → (3,3)")).toEqual(["1: 0,0 ? to 3,3"]);
  });

  it("reads cells off the grid as they are written", () => {
    expect(moves("STEP 1: (-1,0) → [S]")).toEqual(["1: -1,0 S"]);
    expect(moves("STEP 9: (7,6) → [N]")).toEqual(["9: 7,6 N"]);
  });

  it("reads a chess-like place as none, and its direction", () => {
    expect(moves("STEP 1: A1 → [S]")).toEqual(["1: ? S"]);
  });
});

describe("the separator", () => {
  it.each([
    ["STEP 1: (0,0) → [S]", "1: 0,0 S"],
    ["STEP 1: (0,0) → [→]", "1: 0,0 E"],
    ["STEP 1: (0,0) → →", "1: 0,0 E"],
    ["STEP 1: (0,0) → [➡️]", "1: 0,0 E"],
    ["STEP 1: (0,0) → [E→]", "1: 0,0 E"],
    ["STEP 1: (0,0) → 오른쪽(→)", "1: 0,0 E"],
    ["STEP 1: (0,0) → ←", "1: 0,0 W"],
    ["STEP 1: (0,0) → E → (0,1)", "1: 0,0 E to 0,1"],
    ["STEP 1: (0,0) → [→] → (0,1)", "1: 0,0 E to 0,1"],
    ["STEP 1: (0,0) → | 확신도: 90%", "1: 0,0 ?"],
  ])("is never a direction: %j", (text, move) => {
    expect(moves(text)).toEqual([move]);
  });
});

describe("several directions on one line", () => {
  it.each([
    ["STEP 1: (0,0) → [SS]", ["1: 0,0 S", "1: 1,0 S"]],
    ["STEP 1: (0,0) → [↓↓]", ["1: 0,0 S", "1: 1,0 S"]],
    ["STEP 1: (0,0) → [S, S, E]", ["1: 0,0 S", "1: 1,0 S", "1: 2,0 E"]],
    ["STEP 1: (0,0) → S → E", ["1: 0,0 S", "1: 1,0 E"]],
    ["STEP 1: (0,0) → 남쪽, 동쪽", ["1: 0,0 S", "1: 1,0 E"]],
    ["STEP 1: (0,0) → [S×2]", ["1: 0,0 S", "1: 1,0 S"]],
    ["STEP 1: (0,0)에서 남쪽으로 두 칸 이동", ["1: 0,0 S", "1: 1,0 S"]],
    ["STEP 1: (0,0) → [2S]", ["1: 0,0 S", "1: 1,0 S"]],
    ["STEP 1: (0,0)에서 두 칸 아래로 이동", ["1: 0,0 S", "1: 1,0 S"]],
    ["STEP 1: (0,0) → (1,0) → (2,0)", ["1: 0,0 S to 1,0", "1: 1,0 S to 2,0"]],
  ])("are several attempts of one line: %j", (text, expected) => {
    const { attempts } = readReply(text, { size: 7, finishReason: null, mode: "strict", maze });
    expect(moves(text)).toEqual(expected);
    expect(attempts.every((attempt) => attempt.flags.includes("multiMove") && attempt.line === 0)).toBe(true);
  });

  it.each([
    "STEP 1: (0,0) → [E→ S↓]",
    "STEP 1: (0,0) → [N↑ E→ S↓]",
    "STEP 1: (0,0) → [E→, W←]",
    "STEP 1: (0,0) → [S or E]",
    "STEP 1: (0,0) → [S/E]",
    "STEP 1: (0,0) → [남 또는 동]",
  ])("that leave open which is meant give none: %j", (text) => {
    expect(moves(text)).toEqual(["1: 0,0 ?"]);
    expect(flags(text)).toEqual(["ambiguousDirection"]);
  });
});

describe("the order of steps", () => {
  it("is the order of appearance, whatever the numbers say", () => {
    const text = "STEP 1: (0,0) → [S]\nSTEP 1: (0,0) → [E]\nSTEP 7: (0,1) → [S]\nSTEP 6: (1,1) → [S]";
    expect(moves(text)).toEqual(["1: 0,0 S", "1: 0,0 E", "7: 0,1 S", "6: 1,1 S"]);
    expect(flags(text)).toEqual(["numberingAnomaly", "numberingAnomaly", "numberingAnomaly"]);
  });

  it("goes on after a final path", () => {
    const text = "STEP 1: (0,0) → [S]\nFINAL_PATH: (0,0)→(1,0)\n수정:\nSTEP 2: (1,0) → [S]";
    expect(moves(text)).toEqual(["1: 0,0 S", "2: 1,0 S"]);
  });

  it("is kept where a whole log stands on one line", () => {
    const text = "STEP 1: (0,0) → [S] STEP 2: (1,0) → [S] STEP 3: (2,0) → [E] FINAL_PATH: (0,0)→(1,0)";
    expect(moves(text)).toEqual(["1: 0,0 S", "2: 1,0 S", "3: 2,0 E"]);
  });

  it("keeps where each line stands in the raw reply", () => {
    const text = "서문\r\n**STEP 1:** (0,0) → [S]\r\n&nbsp;STEP 2: (1,0) → [E]\r\n";
    const { attempts } = readReply(text, { size: 7, finishReason: null, mode: "strict", maze });
    expect(attempts.map(({ span: [start, end] }) => text.slice(start, end))).toEqual([
      "**STEP 1:** (0,0) → [S]",
      "&nbsp;STEP 2: (1,0) → [E]",
    ]);
  });
});

describe("what is no step", () => {
  it.each([
    "먼저 남쪽으로 두 칸, 그다음 동쪽으로 갑니다.",
    "I go from (0,0) → (1,0) and then [E].",
    "(0,0): [E→ S↓]",
    "Step 3 was wrong.",
    "Step 1: Understand the maze",
    "STEP 1: 미로를 분석합니다.",
    "STEP 14: EXIT reached!",
    "Step 5 (1,1) was a mistake.",
    "As in STEP 3: (1,1) → [E], there was a wall.",
    "BACKTRACK: (2,1) → (1,1)",
    "STEP N: (r,c) → [방향] | 확신도: XX% | [이유]",
    "- STEP N: (r,c) → [direction] | Confidence: XX% | [reason]",
    "STEP 1: (r,c) → [방향]",
    "STEP 1: (0,0) → [방향] | 확신도: XX%",
    "STEP …",
    "STEP 5: DEAD_END at (2,1) — backtracking",
    "STEP 6: LOOP detected at (1,1) — visited at step 3",
  ])("makes no attempt: %j", (text) => {
    expect(moves(text)).toEqual([]);
  });
});
