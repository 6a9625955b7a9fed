import { describe, expect, it } from "vitest";

import { answerQuestion, solverOf } from "./answer-question.ts";
import type { Question } from "./dialect.ts";

describe("solverOf", () => {
  it.each([
    ["gpt-4o", null, "dfs-honest"],
    ["gpt-4o-oracle", null, "oracle"],
    ["any:wall-follower", null, "wall-follower"],
    ["some/hint-deaf", null, "hint-deaf"],
    ["random-walk", null, "random-walk"],
    ["untail", null, "dfs-honest"],
    ["gpt-4o-oracle", "silent", "silent"],
    ["gpt-4o", { "gpt-*": "pump" }, "pump"],
    ["claude-x", { "gpt-*": "pump" }, "dfs-honest"],
  ] as const)("%s with %j is answered by %s", (model, choice, solver) => {
    expect(solverOf(model, choice)).toBe(solver);
  });
});

describe("a model whose name ends in judge", () => {
  const question: Question = {
    vendor: "openai",
    model: "gpt-4o-judge",
    system: "The nonce of this call is 0123456789abcdef. Blocks carry the mark fedcba9876543210.",
    messages: [{ role: "user", content: "What is judged." }],
    maxTokens: 1000,
    stream: false,
    thinks: false,
    streamsUsage: true,
    parameters: new Set(),
    inputTokens: 20,
  };
  const answer = (model: string) =>
    answerQuestion({ ...question, model }, { solver: null, seed: 0, wish: {}, key: null, number: 1, nowMs: 0 });

  it.each(["gpt-4o-judge", "judge", "local/judge"])(
    "%s gives a verdict in the form asked for, with its nonce",
    (model) => {
      expect(JSON.parse(answer(model).text)).toMatchObject({ level: "L1", nonce: "0123456789abcdef" });
    },
  );

  it("and no other: prejudge answers as a solver does", () => {
    expect(answer("prejudge").text).not.toContain("nonce");
  });
});
