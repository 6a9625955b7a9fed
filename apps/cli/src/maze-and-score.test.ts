import { describe, expect, it } from "vitest";

import { runHeld } from "../test/held-console.ts";

async function json(words: readonly string[], input = ""): Promise<Record<string, unknown>> {
  const held = await runHeld(words, { input });
  expect([held.code, held.err]).toEqual([0, ""]);
  return JSON.parse(held.out) as Record<string, unknown>;
}

describe("maze", () => {
  it("prints the published 5×5 maze of seed 1001 in the shape of the specification", async () => {
    const maze = await json(["maze", "--size", "5", "--seed", "1001", "--json"]);
    expect(maze).toMatchObject({
      size: 5,
      seed: 1001,
      generator: "dfs",
      solutionCells: 13,
      solutionMoves: 12,
      deadEnds: 3,
      traps: [
        { row: 4, col: 2, dir: "W" },
        { row: 4, col: 4, dir: "N" },
      ],
      openings: [
        ["S", "SE", "SW", "SE", "SW"],
        ["NS", "N", "NE", "NW", "NS"],
        ["NS", "SE", "EW", "SW", "NS"],
        ["NE", "NW", "SE", "NW", "NS"],
        ["E", "EW", "NEW", "EW", "NW"],
      ],
    });
    expect(maze["hash"]).toMatch(/^[0-9a-f]+$/);
    expect(maze["difficulty"]).toHaveProperty("hittingTime");
  });

  it("prints the text that a model sees, with and without hints, in both languages", async () => {
    const korean = await runHeld(["maze", "--size", "5", "--seed", "1001", "--text"]);
    const english = await runHeld(["maze", "--size", "5", "--seed", "1001", "--text", "--lang", "en"]);
    const plain = await runHeld(["maze", "--size", "5", "--seed", "1001", "--text", "--no-mirage"]);
    expect(korean.out).toContain("MAZE 5×5 | START:(0,0) | EXIT:(4,4)");
    expect(korean.out.match(/⚑/g)).toHaveLength(2);
    expect(english.out.match(/⚑/g)).toHaveLength(2);
    expect(plain.out).not.toContain("⚑");
  });
});

describe("score", () => {
  const words = ["score", "-", "--size", "5", "--seed", "1001"];
  const solution = "(0,0)→(1,0)→(2,0)→(3,0)→(3,1)→(2,1)→(2,2)→(2,3)→(3,3)→(3,2)→(4,2)→(4,3)→(4,4)";

  it("scores a path without a log: escaped, with nothing that shows how", async () => {
    const scored = await json(words, `FINAL_PATH: ${solution}`);
    expect(scored).toMatchObject({
      outcome: "ok",
      walk: { sr: 1, hc: 0, fhr: -1 },
      profiles: { seed: { sr: 1, brs: 1 }, published: { sr: 1, mei: 0.9 } },
    });
    expect((scored["reading"] as { finalPath: unknown[] }).finalPath).toHaveLength(13);
  });

  it("reads a step with its confidence, and a wall attempt as a hallucination", async () => {
    const scored = await json(
      words,
      "STEP 1: (0,0) → [E→] | 확신도: 90% | 동쪽\nSTEP 2: (0,0) → [S↓] | 확신도: 40% | 남쪽\n",
    );
    expect(scored).toMatchObject({
      reading: {
        attempts: [
          { index: 1, from: [0, 0], dir: "E", to: null, confidence: 0.9, flags: [] },
          { index: 2, from: [0, 0], dir: "S", to: null, confidence: 0.4, flags: [] },
        ],
        finalPath: null,
        selfReport: { backtracks: null, hallucinations: null },
      },
      walk: { sr: 0, hc: 1, fhr: 1 },
    });
  });

  it("takes the vendor's word for a cut-off reply", async () => {
    const scored = await json([...words, "--finish-reason", "max_tokens"], "STEP 1: (0,0) → [S] | 확신도: 90%\n");
    expect(scored["outcome"]).toBe("truncated");
  });

  it("takes an empty reply as the model's own answer", async () => {
    const scored = await json(words, "");
    expect(scored).toMatchObject({ outcome: "empty", profiles: { robust: { mei: 0, brs: null, ce: null } } });
  });
});
