import { generateMaze, type Maze } from "@hallumaze/maze";
import type { Reading } from "@hallumaze/protocol";
import { beforeAll, describe, expect, it } from "vitest";

import { garden } from "../bench/drawn-maze.ts";
import { blindRaster, honestSearch, oracle, pump, randomWalk } from "../bench/walkers.ts";
import { readingOf, solutionOf } from "../bench/written-log.ts";
import { scoreRobust, weighErrors } from "./robust.ts";
import { simulateWalk } from "./simulate-walk.ts";

const robust = (maze: Maze, reading: Reading, confidenceAsked = false) =>
  scoreRobust(maze, reading, simulateWalk(maze, reading), { confidenceAsked });
const weigh = (...lines: string[]) => weighErrors(simulateWalk(garden, readingOf(lines, { path: solution })), 4);
const solution = solutionOf(garden);

describe("the errors of a trial (W = 4)", () => {
  it("recognise an illegal attempt at the first legal move from a legally reached cell", () => {
    expect(weigh("(0,0) N", "(0,0) E")).toEqual({ unrecognised: 0, delay: 1 / 4 });
    expect(weigh("(0,0) N", "(0,0) W", "(0,0) E")).toEqual({ unrecognised: 0, delay: 2 / 4 + 1 / 4 });
    expect(weigh("(0,0) E, N", "(0,0) S")).toMatchObject({ delay: 1 / 4 + 1 });
  });

  it("do not recognise one within the window where the log wanders off, or where it ends", () => {
    expect(weigh("(0,0) N")).toEqual({ unrecognised: 1, delay: 1 });
    expect(weigh("(3,1) E", "(3,2) W", "(3,1) E", "(3,2) W", "(3,1) E", "(0,0) E")).toEqual({
      unrecognised: 2,
      delay: 2,
    });
    expect(weigh("(3,1) E", "(0,0) E")).toEqual({ unrecognised: 0, delay: 1 / 4 });
  });

  it("take the latency of a wrong branch from its entry to the first turn", () => {
    expect(weigh("(0,0) E, E, E, S, N")).toEqual({ unrecognised: 0, delay: 3 / 4 });
    expect(weigh("(0,0) E, E", "(0,1) S")).toEqual({ unrecognised: 0, delay: 1 / 4 });
  });

  it("do not recognise a branch without a turn, with a late one, or left once before", () => {
    expect(weigh("(0,0) E, E")).toEqual({ unrecognised: 1, delay: 1 });
    const late = ["(0,0) E, E, E, S", "(1,3) E", "(1,3) E", "(1,3) E", "(1,3) E", "(1,3) N"];
    expect(weigh(...late).unrecognised).toBe(1);
    expect(weigh("(0,0) E, E, W, E, W")).toEqual({ unrecognised: 1 + 1, delay: 1 / 4 + 1 + 1 });
  });

  it("count each started window of moves on edges used before", () => {
    const repeats = (times: number) => {
      const pacing = Array.from({ length: 2 + times }, (_, at) => (at % 2 === 0 ? "(0,0) E" : "(0,1) W"));
      return weigh(...pacing).unrecognised;
    };
    expect([0, 1, 4, 5, 8, 9].map(repeats)).toEqual([0, 1, 1, 2, 2, 3]);
  });

  it("count a failure to escape as one that was not recognised", () => {
    const walk = simulateWalk(garden, readingOf(["(0,0) E"]));
    expect(weighErrors(walk, 4)).toEqual({ unrecognised: 1, delay: 1 });
  });
});

describe("MEI_r", () => {
  it("weighs recognition, delay, escape and illegal attempts, over 0.9", () => {
    const reading = readingOf(["(0,0) N", "(0,0) E, S, E, S, E, S"], { path: solution });
    const result = robust(garden, reading);
    expect(result.hrr).toBe(1);
    expect(result.mei).toBeCloseTo((0.4 + 0.3 / (1 + 1 / 4) + 0.2 - 0.01) / 0.9, 12);
  });

  it("takes an escape for what the log shows of it: nothing without a log, a part with half of one", () => {
    expect(robust(garden, readingOf([], { path: solution })).mei).toBeCloseTo(0.2 / 0.9, 12);
    const half = robust(garden, readingOf(["(0,0) E, S, E"], { path: solution }));
    expect(half.mei).toBeCloseTo((0.4 * 0.5 + 0.3 * 0.5 + 0.2) / 0.9, 12);
  });

  it("does not take moves on unknown ground, or after EXIT, for the log's", () => {
    expect(robust(garden, readingOf(["(0,1) S, E, S, E, S"], { path: solution })).hrr).toBe(0);
  });

  it("takes both directions of a passage for the same edge", () => {
    const path = solution.replace("(0,1)", "(0,1) (0,2) (0,1)");
    const reading = readingOf(["(0,0) E, E", "(0,1) S, E, S, E, S"], { path });
    expect(robust(garden, reading).hrr).toBe(1);
  });

  it("scales a failure by the squared share of the solution that was reached", () => {
    const result = robust(garden, readingOf(["(0,0) E, S, E"]));
    expect(result.mei).toBeCloseTo(((0.4 / 2 + 0.3 / 2) / 0.9) * 0.25, 12);
  });

  it("is 0 for a wrong FINAL_PATH without a log, however far it leads", () => {
    expect(robust(garden, readingOf([], { path: "(0,0) (0,1) (1,1) (1,2) (2,2) (2,3) (3,2)" })).mei).toBe(0);
  });
});

describe("Score_r", () => {
  it("takes CE for 1 where confidence was asked for and none came", () => {
    const reading = oracle(garden);
    expect(robust(garden, reading, true)).toMatchObject({ ce: null, score: 0.7 });
    expect(robust(garden, reading, false)).toMatchObject({ ce: null, score: 0.85 });
    expect(robust(garden, oracle(garden, 1), true)).toMatchObject({ ce: 0, score: 1 });
  });

  it("gives a non-answer nothing", () => {
    expect(robust(garden, readingOf([], { outcome: "empty" }), true)).toMatchObject({ mei: 0, brs: null, score: 0 });
  });
});

describe.each([
  [5, 0.93],
  [7, 0.9],
  [9, 0.88],
  [11, 0.87],
])("over 200 mazes of size %i", (size, honest) => {
  const mazes: Maze[] = [];
  const mean = (answer: (maze: Maze, seed: number) => Reading) =>
    mazes.reduce((sum, maze) => sum + robust(maze, answer(maze, maze.seed)).mei, 0) / mazes.length;

  beforeAll(() => {
    for (let seed = 1; seed <= 200; seed++) mazes.push(generateMaze({ size, seed }));
  });

  it("the oracle has 1 and an honest search what the specification's prototype had", () => {
    expect(mean((maze) => oracle(maze))).toBe(1);
    expect(Math.abs(mean(honestSearch) - honest)).toBeLessThan(0.02);
  });

  it("a random walk stays at or under 0.13, a blind raster at 0, a pump near 0", () => {
    expect(mean(randomWalk)).toBeLessThanOrEqual(0.13);
    expect(mean((maze) => blindRaster(maze, ["N", "E", "S", "W"]))).toBeLessThan(0.001);
    expect(mean((maze) => blindRaster(maze, ["E", "S"]))).toBeLessThan(0.001);
    expect(mean((maze) => pump(maze, 20))).toBeLessThan(0.002);
  });
});
