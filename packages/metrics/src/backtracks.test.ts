import { describe, expect, it } from "vitest";

import { garden } from "../bench/drawn-maze.ts";
import { readingOf } from "../bench/written-log.ts";
import { simulateWalk } from "./simulate-walk.ts";

const counts = (...lines: string[]) => {
  const { bt, prematureBacktracks } = simulateWalk(garden, readingOf(lines));
  return { bt, prematureBacktracks };
};

describe("BT", () => {
  it("counts leaving a dead end along the edge of its discovery, several cells back as one", () => {
    expect(counts("(0,0) S, S, S", "(3,0) N")).toEqual({ bt: 1, prematureBacktracks: 0 });
    expect(counts("(0,0) E, E, E, S", "(1,3) N", "(0,3) W", "(0,2) W", "(0,1) W")).toEqual({
      bt: 1,
      prematureBacktracks: 0,
    });
  });

  it("counts a rewind as the moves that it stands for", () => {
    expect(counts("(0,0) E, E, E, S", "(0,1) S")).toEqual({ bt: 1, prematureBacktracks: 0 });
  });

  it("counts one for each dead end of a branch, and passes the exhausted junction with the last", () => {
    const search = ["(0,0) S, S, S", "(3,0) N", "(2,0) E", "(2,1) W", "(2,0) N", "(1,0) N", "(0,0) E"];
    expect(counts(...search)).toEqual({ bt: 2, prematureBacktracks: 0 });
  });

  it("counts an exhausted cell that is left later than its dead ends", () => {
    // Back at (2,0) from its last dead end the log jumps away, and comes again only to leave the whole branch.
    const search = ["(0,0) S, S, S", "(3,0) N", "(2,0) E", "(2,1) W", "(3,0) N", "(2,0) N"];
    expect(counts(...search)).toEqual({ bt: 3, prematureBacktracks: 0 });
  });

  it("is not broken by an illegal attempt in between", () => {
    expect(counts("(0,0) E, E, E, S", "(1,3) N", "(0,3) N", "(0,3) W", "(0,2) S", "(0,2) W")).toEqual({
      bt: 1,
      prematureBacktracks: 0,
    });
  });

  it("counts each dead end once, however often it is visited; other reversals are premature", () => {
    expect(counts("(0,0) S, S, E, W, E, W, E, W")).toEqual({ bt: 1, prematureBacktracks: 2 });
  });

  it("takes turning back before a dead end for premature", () => {
    expect(counts("(0,0) E, E, W")).toEqual({ bt: 0, prematureBacktracks: 1 });
    expect(counts("(0,0) E, S, E", "(0,0) S")).toEqual({ bt: 0, prematureBacktracks: 1 });
  });

  it("does not take START for a dead end", () => {
    expect(counts("(0,0) E, W, E, W")).toEqual({ bt: 0, prematureBacktracks: 2 });
  });

  it("does not count a jump back", () => {
    expect(counts("(0,0) E", "(0,0) S, S, S", "(0,1) S")).toEqual({ bt: 0, prematureBacktracks: 1 });
  });

  it("does not count while the log stands on cells that no legal move reached", () => {
    expect(counts("(3,1) E", "(3,2) W", "(3,1) E")).toEqual({ bt: 0, prematureBacktracks: 0 });
    expect(counts("(0,0) S, S, S", "(2,2) E", "(0,0) E")).toEqual({ bt: 0, prematureBacktracks: 0 });
  });
});
