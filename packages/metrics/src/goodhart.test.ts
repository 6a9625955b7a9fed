import { generateMaze, type Maze, nextOnRoute, openDirections, opposite, step } from "@hallumaze/maze";
import { readReply } from "@hallumaze/protocol";
import { describe, expect, it } from "vitest";

import { blindRaster } from "../bench/walkers.ts";
import { scoreSeed } from "./profiles.ts";
import { scoreRobust } from "./robust.ts";
import { simulateWalk } from "./simulate-walk.ts";

const maze = generateMaze({ size: 7, seed: 42 });
const path = maze.solution.map(([row, col]) => `(${row},${col})`).join("→");

/** A STEP line for each move of the solution. */
const solutionLog = (suffix: string): string =>
  maze.solution
    .slice(0, -1)
    .map((cell, at) => `STEP ${at + 1}: (${cell.join()}) → [${nextOnRoute(maze, cell)}]${suffix}`)
    .join("\n");

/** Paces between START and its open neighbour, with a line of one's own after each step. */
const pacing = (times: number, after: string): string => {
  const [dir = "E"] = openDirections(maze, [0, 0]);
  const steps = Array.from({ length: 2 * times }, (_, at) =>
    at % 2 === 0 ? `(0,0) → [${dir}]` : `(${step([0, 0], dir).join()}) → [${opposite(dir)}]`,
  );
  return steps.map((move, at) => `STEP ${at + 1}: ${move} | 확신도: 90%\n${after}`).join("\n");
};

const score = (text: string, { on = maze, confidenceAsked = true }: { on?: Maze; confidenceAsked?: boolean } = {}) => {
  const reading = readReply(text, { size: on.size, finishReason: "stop", mode: "strict", maze: on });
  const walk = simulateWalk(on, reading);
  return {
    walk,
    seed: scoreSeed(reading, walk, on),
    robust: scoreRobust(on, reading, walk, { confidenceAsked }),
  };
};

const words = {
  "G1 nothing at all": "",
  "G2 a polite refusal": "I'm sorry, but I can't help with that request.",
  "G3 keywords": "dead end dead end 루프",
  "G4 a denial of dead ends and loops": "There was no dead end. 막다른 길도 없었고 루프도 없었습니다.",
  "G5 numbers of its own": "HALLUCINATION_COUNT: 1\nBACKTRACK_COUNT: 1\nloop detected",
  "G18 an echo of a hint": "루프가 감지되었습니다. 이미 방문한 셀을 피해 다른 방향을 시도하세요.",
};

describe("text without a walk", () => {
  it.each(Object.entries(words))("%s gives MEI 0 and no BRS in both profiles", (_, text) => {
    const { seed, robust } = score(text);
    expect(seed).toMatchObject({ sr: 0, hc: 0, bt: 0, lt: 0, mei: 0, ce: null, brs: null });
    expect(robust).toMatchObject({ sr: 0, mei: 0, brs: null });
  });
});

describe("paths that lead nowhere", () => {
  it("G7: a FINAL_PATH into a wall with words around it is one wall attempt, no backtrack, HRR 0", () => {
    const wall = (["S", "E"] as const).find((dir) => !openDirections(maze, [0, 0]).includes(dir)) ?? "S";
    const text = `BACKTRACK_COUNT: 1\n루프\nFINAL_PATH: (0,0)→(${step([0, 0], wall).join()})→(6,6)`;
    const { walk, seed, robust } = score(text);
    expect(walk).toMatchObject({ sr: 0, wallAttempts: 1, bt: 0, lt: 0 });
    expect(seed.hrr).toBe(0);
    expect(robust.mei).toBe(0);
  });

  it.each([5, 7, 11])("G9: a FINAL_PATH from outside the grid into EXIT is no escape at size %i", (size) => {
    const on = generateMaze({ size, seed: 42 });
    const { walk, robust } = score(`FINAL_PATH: (${size},${size - 1})→(${size - 1},${size - 1})`, { on });
    expect(walk).toMatchObject({ sr: 0, teleports: 1, hc: 1 });
    expect(robust.mei).toBe(0);
  });

  it("G16: a jump from START to EXIT is one teleport", () => {
    const { walk, seed, robust } = score("FINAL_PATH: (0,0)→(6,6)");
    expect(walk).toMatchObject({ sr: 0, hc: 1, teleports: 1, fhr: 1 });
    expect(seed).toMatchObject({ hrr: 0, brs: 0 });
    expect(robust.mei).toBe(0);
  });
});

describe("the solution in several dresses", () => {
  it("G11: with log and full confidence it has the highest scores", () => {
    const { seed, robust } = score(`${solutionLog(" | 확신도: 100%")}\nFINAL_PATH: ${path}`);
    expect(seed).toMatchObject({ sr: 1, hc: 0, mei: 0.9, ce: 0, brs: 1, score: 0.95 });
    expect(robust).toMatchObject({ mei: 1, score: 1 });
  });

  it("G12: leaving the confidence out does not beat giving it", () => {
    const { seed, robust } = score(`${solutionLog("")}\nFINAL_PATH: ${path}`);
    expect(seed.score).toBeCloseTo(0.8, 12);
    expect(robust.score).toBeCloseTo(0.7, 12);
  });

  it("G14 and G15: bold type and an echo of the template before it change nothing", () => {
    expect(score(`**FINAL_PATH:** ${path}`).seed).toMatchObject({ sr: 1, mei: 0.9 });
    const echoed = `FINAL_PATH: (0,0)→(r,c)→...→(N-1,N-1)\nFINAL_PATH: ${path}`;
    expect(score(echoed).seed).toMatchObject({ sr: 1, mei: 0.9 });
  });

  it("G20: false claims after the solution change no metric and are counted", () => {
    const plain = score(`${solutionLog(" | 확신도: 100%")}\nFINAL_PATH: ${path}`);
    const lies = "DEAD_END at (0,0) — backtracking\nLOOP detected at (3,3) — visited at step 2\n".repeat(5);
    const claimed = score(`${solutionLog(" | 확신도: 100%")}\n${lies}FINAL_PATH: ${path}`);
    expect(claimed.seed).toEqual(plain.seed);
    expect(claimed.robust).toEqual(plain.robust);
    expect(plain.walk.falseClaims).toBe(0);
    expect(claimed.walk.falseClaims).toBeGreaterThanOrEqual(5);
  });

  it("G23: the right FINAL_PATH behind a garbage log is an escape of which nothing is shown", () => {
    const garbage = "STEP 1: (3,3) → [N]\nSTEP 2: (9,9) → [??]\nSTEP 3: (5,1) → [W]\nSTEP 4: (0,6) → [E]";
    const { seed, robust } = score(`${garbage}\nFINAL_PATH: ${path}`);
    expect(seed.sr).toBe(1);
    expect(robust.mei).toBeGreaterThan(0.15);
    expect(robust.mei).toBeLessThan(0.23);
  });
});

describe("walks that only look busy", () => {
  it("G17: pacing with a DEAD_END and a LOOP line each time repeats edges and escapes nothing", () => {
    const { walk, robust } = score(
      pacing(30, "DEAD_END at (0,0) — backtracking\nLOOP detected at (0,0) — visited at step 1"),
    );
    expect(walk.loopEvents).toBe(58);
    expect(walk.sr).toBe(0);
    expect(robust.mei).toBeLessThan(0.01);
  });

  it("G19: a wall on purpose, admitted, and one legal step reach almost nothing", () => {
    const wall = opposite(nextOnRoute(maze, [0, 0]) ?? "E");
    const text = `STEP 1: (0,0) → [${wall}] | 확신도: 10% | 벽\nSTEP 2: (0,0) → [${nextOnRoute(maze, [0, 0])}] | 확신도: 100%`;
    const { walk, robust } = score(text);
    expect(walk).toMatchObject({ sr: 0, hc: 1 });
    expect(robust.mei).toBeLessThan(0.02);
  });

  it("G21: a blind raster with free rewinds has 0", () => {
    const lines = blindRaster(maze, ["N", "E", "S", "W"]).attempts.map(
      ({ from, dir }, at) => `STEP ${at + 1}: (${from?.join()}) → [${dir}] | 확신도: 50%`,
    );
    const { walk, robust } = score(lines.join("\n"));
    expect(walk.sr).toBe(0);
    expect(walk.hc).toBeGreaterThan(20);
    expect(robust.mei).toBe(0);
  });

  it("G22: one dead end twenty times, with a loop claimed each time, is one backtrack", () => {
    const on = generateMaze({ size: 7, seed: deadEndSeed, generator: "kruskal" });
    const [dir = "E"] = openDirections(on, [0, 0]).filter((out) => openDirections(on, step([0, 0], out)).length === 1);
    const end = step([0, 0], dir).join();
    const text = Array.from({ length: 20 }, (_, at) =>
      [
        `STEP ${2 * at + 1}: (0,0) → [${dir}] | 확신도: 90%`,
        `DEAD_END at (${end}) — backtracking`,
        `STEP ${2 * at + 2}: (${end}) → [${opposite(dir)}] | 확신도: 90%`,
        "LOOP detected at (0,0) — visited at step 1",
      ].join("\n"),
    ).join("\n");
    const { walk, robust } = score(text, { on });
    expect(walk).toMatchObject({ bt: 1, loopEvents: 38, lt: 19, sr: 0 });
    expect(robust.mei).toBe(0);
  });
});

/** The first seed whose maze has a dead end beside START, where depth-first carving leaves none. */
const deadEndSeed = Array.from({ length: 1000 }, (_, seed) => seed).find((seed) => {
  const on = generateMaze({ size: 7, seed, generator: "kruskal" });
  return openDirections(on, [0, 0]).some((dir) => openDirections(on, step([0, 0], dir)).length === 1);
}) as number;
