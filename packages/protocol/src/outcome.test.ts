import { encodeMaze, generateMaze } from "@hallumaze/maze";
import { describe, expect, it } from "vitest";

import { buildPrompt } from "./prompt.ts";
import { readReply } from "./read-reply.ts";
import type { FinishReason, Reading } from "./reading.ts";

const maze = generateMaze({ size: 7, seed: 42 });

function read(text: string, finishReason: FinishReason | null = null): Reading {
  return readReply(text, { size: 7, finishReason, mode: "strict", maze });
}

const answer = "STEP 1: (0,0) → [S]";

describe("reasoning", () => {
  it.each([
    `<think>STEP 1: (0,0) → [E]\nFINAL_PATH: (0,0)→(0,1)</think>${answer}`,
    `<thinking>\nSTEP 1: (0,0) → [E]\n</thinking>\n${answer}`,
    `<THINK type="x">STEP 1: (0,0) → [E]</THINK>\n${answer}`,
    `<reasoning>STEP 1: (0,0) → [E]</reasoning>\n${answer}`,
    `&lt;think&gt;STEP 1: (0,0) → [E]&lt;/think&gt;\n${answer}`,
    `[THINK]STEP 1: (0,0) → [E][/THINK]${answer}`,
    `◁think▷STEP 1: (0,0) → [E]◁/think▷${answer}`,
    `<|begin_of_thought|>STEP 1: (0,0) → [E]<|end_of_thought|>${answer}`,
    `<details type="reasoning" done="true">STEP 1: (0,0) → [E]</details>\n${answer}`,
    `<|channel|>analysis<|message|>STEP 1: (0,0) → [E]<|end|><|start|>assistant<|channel|>final<|message|>${answer}<|return|>`,
    `<|start|>assistant<|channel|>analysis<|message|>STEP 1: (0,0) → [E]<|channel|>commentary<|message|>STEP 1: (0,0) → [N]<|channel|>final<|message|>${answer}`,
    `analysisSTEP 1: (0,0) → [E]\nassistantfinal${answer}`,
    `STEP 1: (0,0) → [E]</think>\n\n${answer}`,
    `<think>I may use <think> here. STEP 1: (0,0) → [E]</think>\n${answer}`,
    `<think>one</think>\nSTEP 1: (0,0) → [E]\n</think>\n${answer}`,
  ])("is set apart and never read: %j", (text) => {
    const reading = read(text);
    expect(reading.attempts).toMatchObject([{ from: [0, 0], dir: "S" }]);
    expect(reading.outcome).toBe("ok");
    expect(reading.reasoning).toMatch(/one|STEP 1: \(0,0\) → \[E\]/);
  });

  it("that is never closed means cut off in reasoning", () => {
    for (const text of [`<think>${answer}`, `<|channel|>analysis<|message|>${answer}`, `<thinking>\n${answer}\n`]) {
      expect(read(text, "length")).toMatchObject({ outcome: "truncated_in_reasoning", attempts: [], finalPath: null });
    }
  });

  it("that a reply only mentions in code is no mark", () => {
    expect(read(`I use no \`<think>\` block.\n${answer}`)).toMatchObject({ outcome: "ok", reasoning: null });
  });
});

describe("the outcome", () => {
  it("is ok with a log or with a final path alone", () => {
    expect(read(answer, "stop").outcome).toBe("ok");
    expect(read("FINAL_PATH: (0,0)→(1,0)", "stop").outcome).toBe("ok");
  });

  it.each(["", " \n\t\u200b\u00a0\ufeff\n", "<think>x</think>\n"])("is empty without a visible word: %j", (text) => {
    expect(read(text, "stop").outcome).toBe("empty");
  });

  it("is cut off in reasoning where the limit is reached before a visible word", () => {
    expect(read("", "length").outcome).toBe("truncated_in_reasoning");
  });

  it.each([
    "I'm sorry, but I can't help with that.",
    "I cannot participate in this test.",
    "I’m unable to assist with this request.",
    "죄송합니다. 이 요청은 도와드릴 수 없습니다.",
    "이 작업은 수행할 수 없습니다.",
  ])("is refused for a refusal: %j", (text) => {
    expect(read(text, "stop").outcome).toBe("refused");
  });

  it("is no refusal where there is a walk or a path", () => {
    expect(read(`I'm sorry, but I can't be sure.\n${answer}`).outcome).toBe("ok");
    expect(read("I'm sorry, but I can't explain.\nFINAL_PATH: (0,0)→(1,0)").outcome).toBe("ok");
  });

  it("is what the provider says of a filter or a refusal", () => {
    expect(read(answer, "content_filter").outcome).toBe("filtered");
    expect(read("No.", "refusal").outcome).toBe("refused");
    expect(read("", "refusal").outcome).toBe("refused");
  });

  it.each([
    "먼저 남쪽으로 두 칸, 그다음 동쪽으로 갑니다.",
    "dead end dead end 루프",
    "HALLUCINATION_COUNT: 1\nBACKTRACK_COUNT: 1\nloop detected",
    "FINAL_PATH: S, E, E, S",
  ])("is parse_failed where no walk can be read: %j", (text) => {
    expect(read(text, "stop").outcome).toBe("parse_failed");
  });

  it("is truncated at the token limit, with what is there", () => {
    expect(read(`${answer}\nSTEP 2: (1,0) → [S] | 확신도: 90%`, "length")).toMatchObject({
      outcome: "truncated",
      flags: ["truncated"],
      attempts: [{ dir: "S" }, { dir: "S" }],
    });
  });

  it.each([
    "STEP 12: (3,",
    "STEP 12:",
    "STEP 12: (3,4) →",
    "STEP 12: (3,4) → [",
    "ST",
    "DEAD_E",
    "FINAL_PATH:",
    "FINAL_PA",
    "BACKTRACK_COUNT:",
    "CONFIDENCE_LOG: step1:90, step2:",
    "DEAD_END at (2",
    "LOOP detected at (1,1) — visited at step",
    '{"step":12,"pos":[3,',
  ])("without a finish reason is truncated where the text ends inside a protocol line: %j", (tail) => {
    expect(read(`${answer}\n${tail}`).outcome).toBe("truncated");
    expect(read(`${answer}\n${tail}`, "stop").outcome).toBe("ok");
  });

  it.each([
    "STEP 12: (3,4) → [S] | 확신도: 90% | 이유",
    "STEP 12: (3,4) → [S]",
    "DEAD_END at (2,1) — backtracking",
    "FINAL_PATH: (0,0)→(1,0)",
    "이것이 저의 답입니다",
    "CONFIDENCE_LOG: step1:90",
  ])("without a finish reason is ok after a whole line: %j", (tail) => {
    expect(read(`${answer}\n${tail}`).outcome).toBe("ok");
  });

  it("drops a last step that was cut before its move", () => {
    expect(read(`${answer}\nSTEP 2: (3,`).attempts).toHaveLength(1);
  });
});

describe("an echo", () => {
  it("of the whole prompt makes neither attempt, claim, count nor path", () => {
    for (const language of ["ko", "en"] as const) {
      const { user } = buildPrompt({ maze, mirage: true, language, confidence: true });
      const reading = read(`${user}\n`, "stop");
      expect(reading).toMatchObject({ outcome: "parse_failed", attempts: [], claims: [], finalPath: null });
      expect(reading.selfReport).toEqual({ backtracks: null, hallucinations: null });
      expect(reading.templateEchoes).toBe(8);
      expect(reading.flags).toEqual(["templateEcho", "promptEcho"]);
    }
  });

  it("before a log changes nothing of it", () => {
    const text = `${encodeMaze(maze, { mirage: true, language: "ko" })}\n${answer}\n`;
    expect(read(text).attempts).toHaveLength(1);
    expect(read(text).flags).toEqual(["promptEcho"]);
  });
});
