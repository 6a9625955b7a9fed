import { encodeMaze, generateMaze } from "@hallumaze/maze";
import { describe, expect, it } from "vitest";

import { readReply } from "./read-reply.ts";

const maze = generateMaze({ size: 7, seed: 42 });

function moves(text: string): string[] {
  const { attempts } = readReply(text, { size: 7, finishReason: null, mode: "strict", maze });
  return attempts.map(({ index, from, dir, confidence }) => `${index ?? "-"}: ${from?.join()} ${dir} ${confidence}`);
}

describe("a reply without a STEP label", () => {
  it.each([
    "1. (0,0) → [S] | 확신도: 90%\n2. (1,0) → [E] | 확신도: 80% | 이유",
    "1) (0,0) → (1,0) | 90%\n2) (1,0) → (1,1) | 80%",
    "1: (0,0) → S (confidence 90%)\n2: (1,0) → E (confidence 80%)",
    "Move 1: (0,0) -> South | Confidence: 90%\nMove 2: (1,0) -> East | Confidence: 80%",
  ])("has its numbered moves for steps: %j", (text) => {
    expect(moves(text)).toEqual(["1: 0,0 S 0.9", "2: 1,0 E 0.8"]);
  });

  it("has moves with a confidence for steps, numbered or not", () => {
    expect(moves("- (0,0) → [S] | 확신도: 90%")).toEqual(["-: 0,0 S 0.9"]);
  });

  it("keeps the place of claims between its moves", () => {
    const text = "1. (0,0) → [S]\nDEAD_END at (1,0) — backtracking\n2. (1,0) → [N]";
    const { claims } = readReply(text, { size: 7, finishReason: null, mode: "strict", maze });
    expect(claims).toEqual([{ kind: "deadEnd", at: [1, 0], seenAtStep: null, form: "protocol", afterAttempt: 1 }]);
  });

  it.each([
    encodeMaze(maze, { mirage: true, language: "ko" }),
    "- (0,0) → S\n- (1,0) → E",
    "1. (0,0) → S\n2. (0,1) → E, S\n3. (1,0) → E",
    "1. (0,0) → (1,0) → (1,1)",
    "1. I go from (0,0) → (1,0).",
    "FINAL_PATH: (0,0)→(1,0)\n→(1,1)",
  ])("has none in a listing, a path or a sentence: %j", (text) => {
    expect(moves(text)).toEqual([]);
  });

  it("with one, takes no other line for a step, wherever that stands", () => {
    const note = "1. (0,0) → [E] | 확신도: 50%";
    expect(moves(`${note}\nSTEP 1: (0,0) → [S] | 확신도: 90%\n${note}`)).toEqual(["1: 0,0 S 0.9"]);
  });
});
