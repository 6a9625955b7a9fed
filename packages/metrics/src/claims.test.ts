import type { Claim } from "@hallumaze/protocol";
import { describe, expect, it } from "vitest";

import { garden } from "../bench/drawn-maze.ts";
import { claim, readingOf } from "../bench/written-log.ts";
import { simulateWalk } from "./simulate-walk.ts";

const judged = (lines: readonly string[], ...claims: Claim[]) => {
  const { lt, loopEvents, falseClaims } = simulateWalk(garden, readingOf(lines, { claims }));
  return { lt, loopEvents, falseClaims };
};

describe("loop events", () => {
  it("count each reuse of a directed edge; a search of the tree needs none", () => {
    const search = ["(0,0) S, S, S", "(3,0) N", "(2,0) E", "(2,1) W", "(2,0) N, N", "(0,0) E, S, E, S, E, S"];
    expect(judged(search).loopEvents).toBe(0);
    expect(judged(["(0,0) E, W, E, W, E"]).loopEvents).toBe(3);
  });

  it("count the moves that a rewind stands for", () => {
    expect(judged(["(0,0) E, E", "(0,0) E, E", "(0,0) S"]).loopEvents).toBe(4);
  });
});

describe("LT", () => {
  it("counts a claim whose cell was just entered over a directed edge used before", () => {
    expect(judged(["(0,0) E, W, E"], claim("loop", "(0,1)", 3))).toEqual({ lt: 1, loopEvents: 1, falseClaims: 0 });
  });

  it("counts at most one claim for each loop event", () => {
    const twice = [claim("loop", "(0,1)", 3), claim("loop", "(0,1)", 3)];
    expect(judged(["(0,0) E, W, E"], ...twice)).toEqual({ lt: 1, loopEvents: 1, falseClaims: 0 });
  });

  it("looks past illegal attempts to the last move", () => {
    expect(judged(["(0,0) E, W, E", "(0,1) N"], claim("loop", "(0,1)", 4)).lt).toBe(1);
  });

  it("takes a claim too early, too late or about another cell for false", () => {
    const lines = ["(0,0) E, W, E", "(0,1) S"];
    expect(judged(lines, claim("loop", "(0,1)", 1))).toEqual({ lt: 0, loopEvents: 1, falseClaims: 1 });
    expect(judged(lines, claim("loop", "(0,1)", 4))).toEqual({ lt: 0, loopEvents: 1, falseClaims: 1 });
    expect(judged(lines, claim("loop", "(1,1)", 3))).toEqual({ lt: 0, loopEvents: 1, falseClaims: 1 });
    expect(judged(lines, claim("loop", "(9,9)", 3))).toEqual({ lt: 0, loopEvents: 1, falseClaims: 1 });
  });

  it("counts a claim made before the line that rewinds to the claimed cell", () => {
    const lines = ["(0,0) E, E", "(0,1) E", "(0,1) S"];
    expect(judged(lines, claim("loop", "(0,1)", 3)).lt).toBe(1);
  });

  it("does not count a claim that names no cell, or one made in passing words", () => {
    const words: Claim = { ...claim("loop", "(0,1)", 3), form: "words" };
    expect(judged(["(0,0) E, W, E"], claim("loop", null, 3), words)).toEqual({ lt: 0, loopEvents: 1, falseClaims: 0 });
  });
});

describe("false claims", () => {
  it("counts a dead end claimed where there is none, EXIT included", () => {
    const claims = ["(3,0)", "(2,0)", "(3,3)", "(5,5)"].map((at) => claim("deadEnd", at, 1));
    expect(judged(["(0,0) E"], ...claims).falseClaims).toBe(3);
  });

  it("counts a wrong step reference of a true loop claim", () => {
    const lines = ["1: (0,0) E", "2: (0,1) W", "3: (0,0) E"];
    expect(judged(lines, claim("loop", "(0,1)", 3, 1))).toMatchObject({ lt: 1, falseClaims: 0 });
    expect(judged(lines, claim("loop", "(0,1)", 3, 9))).toMatchObject({ lt: 1, falseClaims: 1 });
  });

  it("counts a wall claimed where the attempt was legal", () => {
    expect(judged(["(0,0) N", "(0,0) E"], claim("wall", null, 1)).falseClaims).toBe(0);
    expect(judged(["(0,0) E, N, E"], claim("wall", null, 3)).falseClaims).toBe(0);
    expect(judged(["(0,0) E", "(0,1) S"], claim("wall", null, 1)).falseClaims).toBe(1);
  });

  it("cannot check a change of strategy", () => {
    expect(judged(["(0,0) E"], claim("strategyChange", null, 1)).falseClaims).toBe(0);
  });
});
