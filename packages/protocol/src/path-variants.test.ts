import { generateMaze } from "@hallumaze/maze";
import { describe, expect, it } from "vitest";

import { readReply } from "./read-reply.ts";
import type { Reading } from "./reading.ts";

const maze = generateMaze({ size: 7, seed: 42 });

function read(text: string): Reading {
  return readReply(text, { size: 7, finishReason: null, mode: "strict", maze });
}

const threeCells = [
  "FINAL_PATH: (0,0)→(1,0)→(1,1)",
  "FINAL_PATH: (0,0) -> (1,0) -> (1,1)",
  "FINAL_PATH: (0,0), (1,0), (1,1)",
  "FINAL_PATH: (0,0) (1,0) (1,1)",
  "FINAL_PATH: (0,0) => (1,0) ⇒ (1,1)",
  "FINAL_PATH: (0,0) > (1,0) > (1,1)",
  "FINAL_PATH: 0,0 -> 1,0 -> 1,1",
  "FINAL_PATH: r0c0 → r1c0 → r1c1",
  "FINAL_PATH: <0-0> → <1-0> → <1-1>",
  "**FINAL_PATH:** (0,0)→(1,0)→(1,1)",
  "**FINAL_PATH**: **(0,0)→(1,0)**→(1,1)",
  "### FINAL_PATH\n(0,0) → (1,0) → (1,1)",
  "### FINAL_PATH\n\n```\n(0,0)→(1,0)→(1,1)\n```",
  "> FINAL_PATH: (0,0)→(1,0)→(1,1)",
  "FINAL_PATH: `(0,0)→(1,0)→(1,1)`",
  "FINAL_PATH: [(0,0),(1,0),(1,1)]",
  "FINAL_PATH: [[0,0],[1,0],[1,1]]",
  '{"final_path": [[0,0],[1,0],[1,1]]}',
  '"FINAL_PATH": [\n  [\n    0,\n    0\n  ],\n  [1, 0],\n  [1, 1]\n]',
  "FINAL PATH: (0,0)→(1,0)→(1,1)",
  "Final_Path = (0,0)→(1,0)→(1,1)",
  "FinalPath: (0,0)→(1,0)→(1,1)",
  "최종 경로: (0,0)→(1,0)→(1,1)",
  "최종 경로는 다음과 같습니다: (0,0)→(1,0)→(1,1)",
  "The final path is (0,0)→(1,0)→(1,1).",
  "FINAL_PATH：（0,0）→（1,0）→（1,1）",
  "FINAL\\_PATH: $(0,0) \\rightarrow (1,0) \\to (1,1)$",
  "FINAL_PATH: (0,0)-&gt;(1,0)&rarr;(1,1)",
  "FINAL_PATH: START (0,0) → (1,0) → (1,1) EXIT",
  "FINAL_PATH (13 cells): (0,0)→(1,0)→(1,1)",
  "FINAL_PATH: (0,0) --S--> (1,0) --E--> (1,1)",
  "FINAL_PATH: (0,0)→(1,0)→\n(1,1)",
  "FINAL_PATH: (0,0)→(1,0)\n→(1,1)",
  "FINAL_PATH: (0,0)→(1,0)\n  (1,1)",
  "FINAL_PATH:\n\n| (0,0) | (1,0) | (1,1) |",
  "FINAL_PATH: \\boxed{(0,0) \\to (1,0) \\to (1,1)}",
  "FINAL_PATH: (0,0) ↓ (1,0) → (1,1) → EXIT",
  "FINAL_PATH:\n1. (0,0)\n2. (1,0)\n3. (1,1)",
  "FINAL_PATH: (0,0)→(1,0)→(1,1). 🎉",
  "FINAL_PATH: (0,0)→(1,0)→(1,1)입니다.",
  "FINAL_PATH: (0,0)→(1,0)→(1,1) (총 3칸)",
  "FINAL_PATH: (0,0)→(1,0)→(1,1) 이며 (3,3)은 지나지 않는다",
  "FINAL_PATH: (0,0)→(1,0)→(1,1)\n(3,3)은 막다른 길이었습니다.",
  "FINAL_PATH: (0,0)→(1,0)→(1,1)\nI also tried (0,1)→(0,2).",
  "FINAL_PATH: (0,0)→(r,c)→...→(N-1,N-1)\nFINAL_PATH: (0,0)→(1,0)→(1,1)",
  "FINAL_PATH: (0,0)→(1,0)→(1,1)\nFINAL_PATH: (0,0)→(r,c)→...→(N-1,N-1)",
  "FINAL_PATH: 없음\n수정:\nFINAL_PATH: (0,0)→(1,0)→(1,1)",
  "따라서 FINAL_PATH: (0,0)→(1,0)→(1,1)",
  "BACKTRACK_COUNT: 0 HALLUCINATION_COUNT: 0 FINAL_PATH: (0,0)→(1,0)→(1,1)",
  "FINAL_PATH (0,0)→(1,0)→(1,1)",
  "FINAL PATH ( 0, 0 ) → (1,0) → (1,1)",
  "최종 경로 (FINAL_PATH): (0,0)→(1,0)→(1,1)",
  "수정된 최종 경로: (0,0)→(1,0)→(1,1)",
  "FINAL_PATH: (0,0)→(0,1)\n\nCorrected final path: (0,0)→(1,0)→(1,1)",
  "| FINAL_PATH | (0,0)→(1,0)→(1,1) |",
  "FINAL_PATH:\n```json\n[[0,0],[1,0],[1,1]]\n```",
  "FINAL_PATH:\n```json\n[\n  [0, 0],\n  [1, 0],\n  [1, 1]\n]\n```",
  "FINAL_PATH: 1:(0,0) 2:(1,0) 3:(1,1)",
  "FINAL_PATH:\nStep 0: (0,0)\nStep 1: (1,0)\nStep 2: (1,1)",
  "FINAL_PATH:\n| # | Cell |\n|---|---|\n| 1 | (0,0) |\n| 2 | (1,0) |\n| 3 | (1,1) |",
  "FINAL_PATH: (0,0) South (1,0) East (1,1)",
  "FINAL_PATH: Cell(0,0) → Cell(1,0) → Cell(1,1)",
  "<final_path>(0,0)→(1,0)→(1,1)</final_path>",
  "<FINAL_PATH>\n(0,0)→(1,0)→(1,1)\n</FINAL_PATH>",
  "$\\mathbf{FINAL\\_PATH}$: (0,0)→(1,0)→(1,1)",
  'FINAL_PATH:\n```json\n{"path": [[0,0],[1,0],[1,1]]}\n```',
  "<think>FINAL_PATH: (0,0)→(0,1)</think>FINAL_PATH: (0,0)→(1,0)→(1,1)",
];

describe("FINAL_PATH", () => {
  it.each(threeCells)("is the same path in any spelling: %j", (text) => {
    const reading = read(text);
    expect(reading.finalPath).toEqual([
      [0, 0],
      [1, 0],
      [1, 1],
    ]);
    expect(reading).toMatchObject({ outcome: "ok", gaveUp: false, attempts: [] });
  });

  it("may repeat cells: it is taken as it is written", () => {
    expect(read("FINAL_PATH: (0,0)→(1,0)→(0,0)→(0,1)").finalPath).toHaveLength(4);
    expect(read("FINAL_PATH: (7,6)→(6,6)").finalPath).toEqual([
      [7, 6],
      [6, 6],
    ]);
  });

  it("is the last complete one, and several different ones are flagged", () => {
    const reading = read("FINAL_PATH: (0,0)→(0,1)\n수정:\nFINAL_PATH: (0,0)→(1,0)\nFINAL_PATH: (0,0)→…→(6,6)");
    expect(reading.finalPath).toEqual([
      [0, 0],
      [1, 0],
    ]);
    expect(reading.flags).toEqual(["incompleteFinal", "multipleFinal"]);
  });

  it("twice the same is no contradiction", () => {
    expect(read("FINAL_PATH: (0,0)→(0,1)\n\nFINAL PATH = (0,0) -> (0,1)").flags).toEqual([]);
  });

  it.each([
    "FINAL_PATH: (0,0)→(1,0)→…→(6,6)",
    "FINAL_PATH: (0,0)→(1,0)→...→(6,6)",
    "FINAL_PATH: (0,0)→(1,0)→[...]→(6,6)",
    "FINAL_PATH: (0,0)→(1,0)→...",
    "FINAL_PATH: (0,0)→(1,0)→..→(6,6)",
    "FINAL_PATH: (0,0)→(1,0)→(중략)→(6,6)",
    "FINAL_PATH: (0,0)→(1,0)→ etc →(6,6)",
  ])("with an ellipsis is none: %j", (text) => {
    expect(read(text)).toMatchObject({ finalPath: null, flags: ["incompleteFinal"] });
  });

  it.each([
    "FINAL_PATH: 없음",
    "FINAL_PATH: N/A",
    "FINAL_PATH: none",
    "FINAL_PATH: 탈출 실패",
    "FINAL_PATH: [탈출 실패]",
    "FINAL_PATH: 찾지 못했습니다 (시도: (0,0)→(1,0))",
    "FINAL_PATH: []",
    "FINAL_PATH:\n없음",
    "FINAL_PATH: (0,0)→(1,0)\nFINAL_PATH: could not find a path",
    '{"FINAL_PATH": null}',
  ])("that says there is none is a give-up: %j", (text) => {
    expect(read(text)).toMatchObject({ finalPath: null, gaveUp: true, outcome: "ok" });
    expect(read(text).flags).toContain("giveUp");
  });

  it.each(["FINAL_PATH: S, E, E, S", "FINAL_PATH: (6,6)", "FINAL_PATH: (0,0)→(r,c)→...→(N-1,N-1)"])(
    "is none where there are not two coordinates: %j",
    (text) => {
      expect(read(text)).toMatchObject({ finalPath: null, gaveUp: false, outcome: "parse_failed" });
    },
  );

  it("loses only its tail where it is cut", () => {
    for (const tail of ["→", "→(", "→(1", "→(1,", "→(1,1"]) {
      const reading = read(`FINAL_PATH: (0,0)→(1,0)${tail}`);
      expect(reading).toMatchObject({ outcome: "truncated", flags: ["truncated"] });
      expect(reading.finalPath).toEqual([
        [0, 0],
        [1, 0],
      ]);
    }
  });

  it("is not what a sentence calls a path", () => {
    expect(read("The FINAL_PATH I tried first was (0,0)→(1,0).").finalPath).toBeNull();
    expect(read("경로: (0,0)→(1,0)").finalPath).toBeNull();
  });
});
