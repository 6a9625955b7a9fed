import { generateMaze } from "@hallumaze/maze";
import { describe, expect, it } from "vitest";

import { buildHint, type HintFacts, hintVersion } from "./ariadne-hints.ts";
import { readReply } from "./read-reply.ts";
import type { Language, Reading } from "./reading.ts";

const maze = generateMaze({ size: 5, seed: 2002 });
const languages: readonly Language[] = ["ko", "en"];

const everything: HintFacts = {
  repeatedMoves: [
    [
      [0, 0],
      [1, 0],
    ],
    [
      [1, 0],
      [1, 1],
    ],
    [
      [1, 1],
      [1, 2],
    ],
  ],
  hasRepeatedMove: true,
  repeatedErrors: [
    [1, 0],
    [1, 1],
    [1, 2],
  ],
  hasRepeatedError: true,
  isStalled: true,
  isShort: true,
  cellsReached: 4,
};
const unnamed: HintFacts = { ...everything, repeatedMoves: [], repeatedErrors: [], isShort: false };
const least: HintFacts = {
  ...unnamed,
  hasRepeatedMove: false,
  hasRepeatedError: false,
  isStalled: false,
  cellsReached: 1,
};

const read = (text: string): Reading => readReply(text, { size: 5, finishReason: "stop", mode: "strict", maze });

const log = ["STEP 1: (0,0) → [S] | 90% | open", "STEP 2: (1,0) → [E] | 80% | only way"];
const path = "FINAL_PATH: (0,0)→(1,0)→(1,1)";

describe("buildHint", () => {
  it("says what was seen and what to do with it", () => {
    const { text, version } = buildHint({ kind: "hint", language: "en", facts: everything });
    expect(version).toBe(hintVersion);
    expect(text.split("\n")).toEqual([
      "Note on the walk in your last answer:",
      "The same move between the cells (0,0) and (1,0) was made more than once.",
      "The same move between the cells (1,0) and (1,1) was made more than once.",
      "The same closed passage was tried more than once, starting from the cell (1,0).",
      "The same closed passage was tried more than once, starting from the cell (1,1).",
      "A long stretch of the walk brought nothing new.",
      "The walk ended before the exit was reached.",
      "The number of different cells reached so far is 4.",
      "Please use this: leave what was repeated, and look at openings that your walk has not used yet.",
      "Then answer again in the same format as before, with FINAL_PATH as the last line.",
    ]);
  });

  it("says the same in Korean", () => {
    expect(buildHint({ kind: "hint", language: "ko", facts: everything }).text.split("\n")).toEqual([
      "마지막 답변의 탐색에 대한 기록:",
      "칸 (0,0)과 칸 (1,0) 사이의 같은 움직임이 두 번 이상 나왔습니다.",
      "칸 (1,0)과 칸 (1,1) 사이의 같은 움직임이 두 번 이상 나왔습니다.",
      "칸 (1,0)에서 닫힌 같은 통로를 두 번 이상 시도했습니다.",
      "칸 (1,1)에서 닫힌 같은 통로를 두 번 이상 시도했습니다.",
      "오랫동안 새로운 칸도 새로운 움직임도 나오지 않았습니다.",
      "탐색이 출구에 닿기 전에 끝났습니다.",
      "지금까지 닿은 칸은 중복을 빼고 모두 4개입니다.",
      "이 내용을 활용해 되풀이한 움직임을 멈추고, 아직 쓰지 않은 열린 통로를 살펴보세요.",
      "그런 다음 이전과 같은 형식으로 다시 답하고, 마지막 줄에 FINAL_PATH를 적으세요.",
    ]);
  });

  it.each(languages)("a note is the %s hint without its instruction", (language) => {
    for (const facts of [everything, unnamed, least]) {
      const hint = buildHint({ kind: "hint", language, facts }).text.split("\n");
      const note = buildHint({ kind: "note", language, facts }).text.split("\n");
      expect(note).toEqual(hint.slice(0, -2));
    }
  });

  it.each(languages)("speaks in %s of what it may not name without a cell", (language) => {
    const { text } = buildHint({ kind: "hint", language, facts: unnamed });
    expect(text).not.toMatch(/\(\d/u);
    expect(text.split("\n").length).toBe(8);
  });

  it("asks to continue without a word on the walk", () => {
    expect(buildHint({ kind: "continue", language: "en" }).text).toBe(
      "Please continue in the same format, with FINAL_PATH as the last line.",
    );
    expect(buildHint({ kind: "continue", language: "ko" }).text).toBe(
      "이전과 같은 형식으로 계속하고, 마지막 줄에 FINAL_PATH를 적어 주세요.",
    );
  });
});

describe.each(languages)("a sentence of a %s hint, repeated by the model", (language) => {
  const sentences = new Set([
    ...[everything, unnamed, least].flatMap((facts) => buildHint({ kind: "hint", language, facts }).text.split("\n")),
    buildHint({ kind: "continue", language }).text,
  ]);
  const disguises: Readonly<Record<string, (sentence: string) => string>> = {
    verbatim: (sentence) => sentence,
    quoted: (sentence) => `> ${sentence}`,
    "bold in a list": (sentence) => `- **${sentence}**`,
    numbered: (sentence) => `1. ${sentence}`,
    "in a table": (sentence) => `| ${sentence} |`,
    fenced: (sentence) => `\`\`\`\n${sentence}\n\`\`\``,
    "as what the user said": (sentence) => `You said: "${sentence}"`,
    "after a label": (sentence) => `Hint: ${sentence}`,
    "broken in two": (sentence) => `${sentence.slice(0, 30)}\n${sentence.slice(30)}`,
    "broken before FINAL_PATH": (sentence) => sentence.replace(" FINAL_PATH", "\nFINAL_PATH"),
  };

  it.each(Object.keys(disguises))("reads as nothing, %s: no attempt, path or claim, wherever it stands", (name) => {
    const plain = read([...log, path].join("\n"));
    for (const sentence of sentences) {
      const echo = disguises[name]?.(sentence) ?? "";
      expect(read(echo)).toMatchObject({ attempts: [], finalPath: null, claims: [], outcome: "parse_failed" });
      for (const talked of [
        [echo, ...log, path],
        [log[0], "", echo, "", log[1], path],
        [...log, "", echo, path],
        [...log, path, "", echo],
      ]) {
        const { attempts, finalPath, gaveUp, claims, outcome, selfReport } = read(talked.join("\n"));
        expect({ finalPath, gaveUp, claims, outcome, selfReport }, echo).toEqual({
          finalPath: plain.finalPath,
          gaveUp: false,
          claims: [],
          outcome: "ok",
          selfReport: plain.selfReport,
        });
        expect(
          attempts.map(({ index, from, dir, to, confidence }) => ({ index, from, dir, to, confidence })),
          echo,
        ).toEqual(plain.attempts.map(({ index, from, dir, to, confidence }) => ({ index, from, dir, to, confidence })));
      }
    }
  });
});
