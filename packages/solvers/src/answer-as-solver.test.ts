import { generateMaze } from "@hallumaze/maze";
import { buildPrompt, estimateTokens } from "@hallumaze/protocol";
import { describe, expect, it } from "vitest";

import { answerAsSolver, type SolverRequest } from "./answer-as-solver.ts";
import { isSolverName, solverNames } from "./solver-names.ts";
import { parameterOf, solverParameters } from "./solver-parameters.ts";

/*
 * 5×5, seed 1001, the golden maze of the benchmark: START opens only to the south, the solution has 13 cells.
 */
const maze = generateMaze({ size: 5, seed: 1001 });

function ask(change: Partial<SolverRequest> & { readonly prompt?: string } = {}): SolverRequest {
  const { prompt, ...rest } = change;
  const { system, user } = buildPrompt({ maze, mirage: true, language: "en", confidence: true });
  const messages = [{ role: "user" as const, content: prompt ?? user }];
  return { system, messages, repeat: 0, maxTokens: 2500, params: {}, ...rest };
}

const korean = buildPrompt({ maze, mirage: true, language: "ko", confidence: true });
const withoutConfidence = buildPrompt({ maze, mirage: true, language: "en", confidence: false });

describe("answerAsSolver", () => {
  it("writes the solution in the prompt's own format", () => {
    const { text, finishReason } = answerAsSolver("oracle", ask());
    expect(text.split("\n")[0]).toMatch(/^STEP 1: \(0,0\) → \[S↓\] \| Confidence: 9[5-9]% \| only way$/u);
    expect(text).toContain("BACKTRACK_COUNT: 0\nHALLUCINATION_COUNT: 0\nCONFIDENCE_LOG: step1:9");
    expect(text).toMatch(/\nFINAL_PATH: \(0,0\)→\(1,0\)→.*→\(4,3\)→\(4,4\)$/u);
    expect(finishReason).toBe("stop");
  });

  it("answers a Korean prompt in Korean", () => {
    const { text } = answerAsSolver("oracle", ask({ prompt: korean.user }));
    expect(text.split("\n")[0]).toMatch(/^STEP 1: \(0,0\) → \[S↓\] \| 확신도: 9[5-9]% \| 외길$/u);
  });

  it("gives no confidence where none is asked for", () => {
    const { text } = answerAsSolver("dfs-honest", ask({ prompt: withoutConfidence.user }));
    expect(text).not.toMatch(/confidence|%/iu);
  });

  it.each(solverNames)("gives the same answer to the same request: %s", (name) => {
    expect(answerAsSolver(name, ask())).toEqual(answerAsSolver(name, ask()));
  });

  it("draws anew for another repeat, prompt or own parameter, but not for rehearsal parameters", () => {
    const first = answerAsSolver("random-walk", ask()).text;
    expect(answerAsSolver("random-walk", ask({ repeat: 1 })).text).not.toBe(first);
    expect(answerAsSolver("random-walk", ask({ prompt: `${ask().messages[0]?.content} ` })).text).not.toBe(first);
    expect(answerAsSolver("random-walk", ask({ params: { attemptBudget: 60 } })).text).not.toBe(first);
    const rehearsal = { latencyMs: 5, failureRate: 0.5, truncationRate: 0.5 };
    expect(answerAsSolver("random-walk", ask({ params: rehearsal })).text).toBe(first);
  });

  it("finds the maze in the prompt alone: without one there is no walk", () => {
    const { text } = answerAsSolver("oracle", ask({ prompt: "MAZE 5×5 | START:(0,0) | EXIT:(4,4)\nSeed: 1001" }));
    expect(text).toBe("There is no maze in this prompt.");
  });

  it("writes tersely before it is cut, and says that it was cut", () => {
    const full = answerAsSolver("oracle", ask());
    const tokens = estimateTokens(full.text);
    const terse = answerAsSolver("oracle", ask({ maxTokens: tokens - 1 }));
    expect(terse.finishReason).toBe("stop");
    expect(terse.text).not.toContain("only way");
    expect(terse.text).toContain("CONFIDENCE_LOG");
    const tightest = answerAsSolver("oracle", ask({ maxTokens: Math.floor(tokens * 0.8) }));
    expect(tightest.finishReason).toBe("stop");
    expect(tightest.text).not.toContain("CONFIDENCE_LOG");
    const cut = answerAsSolver("oracle", ask({ maxTokens: 100 }));
    expect(cut.finishReason).toBe("length");
    expect(estimateTokens(cut.text)).toBeLessThanOrEqual(100);
    expect(tightest.text.startsWith(cut.text)).toBe(true);
  });

  it("gives a random walk up at its budget, in words that say so", () => {
    const { text } = answerAsSolver("random-walk", ask({ params: { attemptBudget: 3 } }));
    expect(text.match(/^STEP/gmu)).toHaveLength(3);
    expect(text).toContain("FINAL_PATH: N/A");
  });

  it("says nothing as `silent`, and the rules again as `template-echo`", () => {
    expect(answerAsSolver("silent", ask())).toEqual({ text: "", finishReason: "stop" });
    expect(answerAsSolver("template-echo", ask()).text).toContain("- STEP N: (r,c) → [direction]");
  });
});

describe("hint-taker and hint-deaf", () => {
  const conversation = (name: "hint-taker" | "hint-deaf", seed: number, followUp: string): string => {
    const { user } = buildPrompt({
      maze: generateMaze({ size: 5, seed }),
      mirage: true,
      language: "en",
      confidence: true,
    });
    const first = answerAsSolver(name, ask({ prompt: user })).text;
    const messages = [
      { role: "user" as const, content: user },
      { role: "assistant" as const, content: first },
      { role: "user" as const, content: followUp },
    ];
    return answerAsSolver(name, ask({ messages })).text;
  };
  const seeds = Array.from({ length: 60 }, (_, seed) => seed);
  const loops = (text: string): boolean => text.includes("FINAL_PATH: N/A");
  const hint = "You have been in the same cells before: you are in a loop.";

  it("loop on about half of the mazes, both on the same ones", () => {
    const taker = seeds.map((seed) => loops(conversation("hint-taker", seed, "Continue.")));
    const deaf = seeds.map((seed) => loops(conversation("hint-deaf", seed, "Continue.")));
    expect(taker).toEqual(deaf);
    expect(taker.filter(Boolean).length).toBeGreaterThan(20);
    expect(taker.filter(Boolean).length).toBeLessThan(40);
  });

  it.each(["Continue.", "Please continue from where you are.", "계속하세요."])("take %s for no hint", (neutral) => {
    const loopers = seeds.filter((seed) => loops(conversation("hint-deaf", seed, neutral)));
    expect(seeds.filter((seed) => loops(conversation("hint-taker", seed, neutral)))).toEqual(loopers);
  });

  it.each([
    "You have been in the same cells before: you are in a loop.",
    "Look back at your path, drop what you have already tried, and continue.".repeat(2),
    "같은 칸을 반복하고 있습니다. 계속 탐색하되 경로를 재검토하세요.",
  ])("take %s for a hint", (hint) => {
    expect(seeds.filter((seed) => loops(conversation("hint-taker", seed, hint)))).toEqual([]);
  });

  it("differ once a hint has come: one gets out, the other keeps looping", () => {
    expect(seeds.filter((seed) => loops(conversation("hint-taker", seed, hint)))).toEqual([]);
    expect(seeds.filter((seed) => loops(conversation("hint-deaf", seed, hint))).length).toBeGreaterThan(20);
  });
});

describe("solverParameters", () => {
  it("names every solver's parameters with defaults inside their ranges, the rehearsal ones included", () => {
    for (const name of solverNames) {
      const parameters = solverParameters(name);
      expect(parameters.map((one) => one.name)).toEqual(
        expect.arrayContaining(["latencyMs", "failureRate", "truncationRate"]),
      );
      for (const { min, max, default: fallback } of parameters) {
        expect(fallback).toBeGreaterThanOrEqual(min);
        expect(fallback).toBeLessThanOrEqual(max);
      }
    }
  });

  it("brings a value into its range and falls back where it is no number", () => {
    expect(parameterOf("mirage-prone", "trapRate", { trapRate: 7 })).toBe(1);
    expect(parameterOf("mirage-prone", "trapRate", { trapRate: "often" })).toBe(0.8);
    expect(parameterOf("random-walk", "attemptBudget", { attemptBudget: 2.6 })).toBe(3);
  });
});

describe("isSolverName", () => {
  it("knows the solvers and nothing else", () => {
    expect(solverNames.every((name) => isSolverName(name))).toBe(true);
    expect(isSolverName("gpt-9")).toBe(false);
    expect(isSolverName("toString")).toBe(false);
  });
});
