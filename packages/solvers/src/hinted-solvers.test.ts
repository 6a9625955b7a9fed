import { generateMaze } from "@hallumaze/maze";
import { buildHint, buildPrompt, type HintFacts, type HintRequest, type Language } from "@hallumaze/protocol";
import { describe, expect, it } from "vitest";

import { answerAsSolver } from "./answer-as-solver.ts";

const seeds = Array.from({ length: 60 }, (_, seed) => seed);
const languages: readonly Language[] = ["ko", "en"];

const looped: HintFacts = {
  repeatedMoves: [
    [
      [0, 0],
      [1, 0],
    ],
  ],
  hasRepeatedMove: true,
  repeatedErrors: [],
  hasRepeatedError: false,
  isStalled: false,
  isShort: true,
  cellsReached: 2,
};
const short: HintFacts = { ...looped, repeatedMoves: [], hasRepeatedMove: false, cellsReached: 1 };

/** The mazes on which a solver gives up after a first answer and the given further turn. */
function lostAfter(name: "hint-taker" | "hint-deaf", request: HintRequest): readonly number[] {
  return seeds.filter((seed) => {
    const maze = generateMaze({ size: 5, seed });
    const { system, user } = buildPrompt({ maze, mirage: true, language: request.language, confidence: true });
    const ask = { system, repeat: 0, maxTokens: 4000, params: {} };
    const prompt = { role: "user" as const, content: user };
    const { text: content } = answerAsSolver(name, { ...ask, messages: [prompt] });
    const hint = { role: "user" as const, content: buildHint(request).text };
    const { text } = answerAsSolver(name, { ...ask, messages: [prompt, { role: "assistant", content }, hint] });
    return /FINAL_PATH: (?:N\/A|없음)/u.test(text);
  });
}

describe.each(languages)("hint-taker and hint-deaf, told the benchmark's own %s texts", (language) => {
  const neutral: HintRequest = { kind: "continue", language };

  it.each([
    { kind: "hint", facts: looped },
    { kind: "hint", facts: short },
    { kind: "note", facts: looped },
    { kind: "note", facts: short },
  ] as const)("the taker gets out of every maze after a $kind, the deaf one out of no more than before", (given) => {
    const request: HintRequest = { ...given, language };
    expect(lostAfter("hint-taker", request)).toEqual([]);
    expect(lostAfter("hint-deaf", request)).toEqual(lostAfter("hint-deaf", neutral));
    expect(lostAfter("hint-deaf", request).length).toBeGreaterThan(20);
  });

  it("a neutral request to continue is no hint to either", () => {
    expect(lostAfter("hint-taker", neutral)).toEqual(lostAfter("hint-deaf", neutral));
  });
});
