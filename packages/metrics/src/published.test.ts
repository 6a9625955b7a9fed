import { readFileSync } from "node:fs";

import { generateMaze } from "@hallumaze/maze";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { publishedFromCounts, scorePublished } from "./published.ts";

interface PublishedTrial {
  readonly seed: number;
  readonly sr: 0 | 1;
  readonly hc: number;
  readonly bt: number;
  readonly lt: number;
  readonly hrr: number;
  readonly mei: number;
  readonly ce: number;
  readonly brs: number;
  readonly score: number;
}

const publishedTrials = readFileSync(new URL("./published-trials-5x5.csv", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .slice(1)
  .map((line): PublishedTrial => {
    const numbers = line.split(",").map(Number);
    const [, , seed, sr, mei, ce, brs, score, hc, bt, lt, hrr] = numbers as [number, ...number[]];
    return { seed, sr, mei, ce, brs, score, hc, bt, lt, hrr } as PublishedTrial;
  });

/** The first-error steps under which a row's MEI comes out; the published table does not print them. */
function firstErrorSteps(trial: PublishedTrial): number[] {
  const steps = [-1, ...Array.from({ length: 25 }, (_, step) => step + 1)];
  return steps.filter((fhr) => publishedFromCounts({ ...trial, size: 5, fhr }).mei === trial.mei);
}

describe("publishedFromCounts", () => {
  it("covers the 30 published trials", () => {
    expect(new Set(publishedTrials.map(({ seed }) => seed)).size).toBe(30);
  });

  it.each(publishedTrials)("gives HRR, MEI, BRS and Score of the published trial on seed $seed", (trial) => {
    const [fhr, ...others] = firstErrorSteps(trial);
    expect(fhr).toBeDefined();
    expect(others).toEqual([]);
    expect(publishedFromCounts({ ...trial, size: 5, fhr: fhr ?? 0 })).toEqual({
      sr: trial.sr,
      hc: trial.hc,
      fhr,
      bt: trial.bt,
      lt: trial.lt,
      hrr: trial.hrr,
      mei: trial.mei,
      ce: trial.ce,
      brs: trial.brs,
      score: trial.score,
    });
  });

  it("rounds a tie to the even digit, as the reference does", () => {
    const scores = publishedFromCounts({ size: 5, sr: 0, hc: 31, fhr: 1, bt: 1, lt: 0, ce: null });
    expect(scores.brs).toBe(0.0312); // 1/32 = 0.03125
    expect(publishedFromCounts({ size: 5, sr: 0, hc: 29, fhr: 1, bt: 3, lt: 0, ce: null }).brs).toBe(0.0938); // 3/32
  });

  it("never lets a late first error pull F below 0", () => {
    expect(publishedFromCounts({ size: 3, sr: 0, hc: 1, fhr: 40, bt: 1, lt: 1, ce: null }).mei).toBe(0.59);
  });
});

const maze = generateMaze({ size: 7, seed: 42 });
const solutionPath = maze.solution.map(([row, col]) => `(${row},${col})`).join("→");
const intoAWall = maze.openings[0] === 2 ? "(0,0)→(1,0)" : "(0,0)→(0,1)";

const templateLine = "FINAL_PATH: (0,0)→(r,c)→...→(N-1,N-1)";

describe("scorePublished on 7×7, seed 42", () => {
  const pacing = Array.from({ length: 4 }, (_, turn) =>
    maze.openings[0] === 2
      ? `STEP ${turn + 1}: (0,${turn % 2}) → [${turn % 2 === 0 ? "E→" : "W←"}]\nDEAD_END at (0,1) — backtracking\nLOOP detected at (0,0)`
      : `STEP ${turn + 1}: (${turn % 2},0) → [${turn % 2 === 0 ? "S↓" : "N↑"}]\nDEAD_END at (1,0) — backtracking\nLOOP detected at (0,0)`,
  ).join("\n");

  it.each([
    ["G1 nothing", "", [0, 0, 0, 0, 0.03, 1, 0.365]],
    ["G2 a polite refusal", "I am sorry, but I cannot help with this request.", [0, 0, 0, 0, 0.03, 1, 0.365]],
    ["G3 keywords", "dead end dead end 루프", [0, 0, 2, 1, 0.23, 1, 0.465]],
    ["G4 a denial", "There was no dead end. 막다른 길도 없었고 루프도 없었습니다.", [0, 0, 2, 1, 0.23, 1, 0.465]],
    ["G5 counts", "HALLUCINATION_COUNT: 1\nBACKTRACK_COUNT: 1\nloop detected", [0, 1, 1, 1, 0.62, 0.5, 0.56]],
    ["G7 a wall", `BACKTRACK_COUNT: 1\n루프\nFINAL_PATH: ${intoAWall}`, [0, 1, 1, 1, 0.8839, 0.5, 0.6919]],
    ["G9 in from outside", "FINAL_PATH: (7,6)→(6,6)", [1, 0, 0, 0, 0.9, 1, 0.8]],
    ["G12 the solution", `FINAL_PATH: ${solutionPath}`, [1, 0, 0, 0, 0.9, 1, 0.8]],
    ["G14 the solution in bold", `**FINAL_PATH:** ${solutionPath}`, [0, 0, 0, 0, 0.03, 1, 0.365]],
    ["G15 the template first", `${templateLine}\nFINAL_PATH: ${solutionPath}`, [0, 0, 0, 0, 0.03, 1, 0.365]],
    ["G16 a teleport", "FINAL_PATH: (0,0)→(6,6)", [0, 0, 0, 0, 0.03, 1, 0.365]],
    ["G17 pacing", pacing, [0, 0, 4, 4, 0.23, 1, 0.465]],
  ] as const)("%s scores what the reference gives it", (_name, reply, expected) => {
    const { sr, hc, bt, lt, mei, brs, score } = scorePublished(maze, reply);
    expect([sr, hc, bt, lt, mei, brs, score]).toEqual(expected);
  });

  it("falls back to the from-cells of STEP lines, so that the log must show EXIT itself", () => {
    const steps = maze.solution.map(([row, col], at) => `STEP ${at + 1}: (${row}, ${col}) -> [e]`);
    expect(scorePublished(maze, steps.join("\n")).sr).toBe(1);
    expect(scorePublished(maze, steps.slice(0, -1).join("\n")).sr).toBe(0);
  });

  it("looks no further than the first FINAL_PATH that its colon or spaces follow", () => {
    expect(scorePublished(maze, `FINAL_PATH로 끝냅니다\nFINAL_PATH: ${solutionPath}`).sr).toBe(1);
    expect(scorePublished(maze, `FINAL_PATH: **\nFINAL_PATH: ${solutionPath}`).sr).toBe(0);
  });

  it("goes on after a wall, stops at a leap, and tests no wall from outside the grid", () => {
    const throughWall = `${intoAWall}→(0,0)`;
    expect(scorePublished(maze, `FINAL_PATH: ${throughWall}→${intoAWall}`)).toMatchObject({ hc: 2, fhr: 1 });
    expect(scorePublished(maze, `FINAL_PATH: (5,5)→(0,0)→${intoAWall}`)).toMatchObject({ hc: 0, fhr: -1 });
    expect(scorePublished(maze, "FINAL_PATH: (6,7)→(6,6)").sr).toBe(1);
  });

  it("takes the larger of its own and the reported hallucination count, in any digits", () => {
    expect(scorePublished(maze, `FINAL_PATH: ${intoAWall}\nHALLUCINATION_COUNT: 0`).hc).toBe(1);
    expect(scorePublished(maze, "hallucination_count: １２").hc).toBe(12);
    expect(scorePublished(maze, `HALLUCINATION_COUNT: ${"9".repeat(400)}`).hc).toBe(Number.MAX_SAFE_INTEGER);
  });

  it("reads hostile text in linear time", () => {
    const hostile = ["STEP 1: (0,0)", "FINAL_PATH", "FINAL_PATH:", "(1,", "BACKTRACK_COUNT:"].flatMap((start) =>
      [" ", ":", "→ ", "-", "1", "("].map((filler) => `${start}${filler.repeat(200_000)}x`),
    );
    const repeated = ["STEP ", "FINAL_PATH: ", "(1,1)", "STEP 1: (0,0) →"].map((piece) => piece.repeat(50_000));
    const startMs = performance.now();
    for (const reply of [...hostile, ...repeated]) scorePublished(maze, reply);
    expect(performance.now() - startMs).toBeLessThan(5_000);
  });

  it("never throws and keeps MEI, BRS and Score in [0, 1]", () => {
    const pieces = fc.constantFrom(
      "FINAL_PATH",
      ":",
      " ",
      "(0,0)",
      "→",
      "STEP 1: (0,0) → [E→]",
      "dead end",
      "루프",
      "9",
    );
    const replies = fc.array(fc.oneof(pieces, fc.string({ unit: "grapheme" })), { maxLength: 40 });
    fc.assert(
      fc.property(replies, (parts) => {
        const { mei, brs, score } = scorePublished(maze, parts.join(""));
        for (const value of [mei, brs ?? 0, score]) expect(value >= 0 && value <= 1).toBe(true);
      }),
      { seed: 6, numRuns: 200 },
    );
  });
});
