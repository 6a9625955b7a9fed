import type { Reading } from "@hallumaze/protocol";
import { describe, expect, it } from "vitest";

import { garden } from "../bench/drawn-maze.ts";
import { readingOf, solutionOf } from "../bench/written-log.ts";
import { simulateWalk } from "./simulate-walk.ts";

const solution = solutionOf(garden);
const walk = (lines: string[], rest: Partial<Reading> & { readonly path?: string } = {}) =>
  simulateWalk(garden, readingOf(lines, rest));

describe("SR", () => {
  it("is 1 for a FINAL_PATH from START to EXIT over open edges, whatever the log does", () => {
    expect(walk([], { path: solution }).sr).toBe(1);
    expect(walk(["(0,0) N", "(2,2) S"], { path: solution }).sr).toBe(1);
  });

  it("is 0 for a FINAL_PATH that starts elsewhere, ends elsewhere, or crosses a wall", () => {
    expect(walk([], { path: "(0,1) (1,1) (1,2) (2,2) (2,3) (3,3)" }).sr).toBe(0);
    expect(walk([], { path: "(0,0) (0,1) (1,1) (1,2) (2,2) (2,3)" }).sr).toBe(0);
    expect(walk([], { path: "(0,0) (0,1) (1,1) (2,1) (2,2) (2,3) (3,3)" }).sr).toBe(0);
    expect(walk([], { path: "(3,4) (3,3)" }).sr).toBe(0);
  });

  it("is 0 for a bad FINAL_PATH after a log that got out", () => {
    expect(walk(["(0,0) E, S, E, S, E, S"], { path: "(0,0) (3,3)" }).sr).toBe(0);
  });

  it("is 1 without FINAL_PATH for a log that got out without an illegal attempt; rewinds may be in it", () => {
    expect(walk(["(0,0) E, S, E, S, E, S"]).sr).toBe(1);
    expect(walk(["(0,0) E, E", "(0,1) S, E, S, E, S"]).sr).toBe(1);
    expect(walk(["(0,0) N", "(0,0) E, S, E, S, E, S"]).sr).toBe(0);
    expect(walk(["(0,0) E, S, E, S", "(3,2) W", "(2,2) E, S"]).sr).toBe(0);
  });

  it("is 0 for an explicit give-up, even where the log got out", () => {
    expect(walk(["(0,0) E, S, E, S, E, S"], { gaveUp: true })).toMatchObject({ sr: 0, excessMoves: null });
  });
});

describe("the accepted path", () => {
  it("is simple without excess moves, and neither where it goes back and forth", () => {
    expect(walk([], { path: solution })).toMatchObject({ excessMoves: 0, simplePath: true });
    expect(walk([], { path: solution.replace("(0,1)", "(0,1) (0,2) (0,1)") })).toMatchObject({
      sr: 1,
      excessMoves: 2,
      simplePath: false,
    });
  });

  it("counts the moves that a log's rewinds stand for", () => {
    expect(walk(["(0,0) E, E", "(0,1) S, E, S, E, S"])).toMatchObject({ excessMoves: 2, simplePath: false });
  });
});

describe("HC and FHR of FINAL_PATH", () => {
  const log = ["(0,0) E", "(0,1) S"];

  it("add its illegal edges to a clean log, numbered behind the attempts", () => {
    const path = "(0,0) (0,1) (1,1) (2,1) (3,1)";
    expect(walk(log, { path })).toMatchObject({ hc: 2, finalPathErrors: 2, wallAttempts: 0, fhr: 2 + 3 });
  });

  it("do not count an edge that the log already tried", () => {
    const path = "(0,0) (0,1) (1,1) (2,1)";
    expect(walk([...log, "(1,1) S"], { path })).toMatchObject({ hc: 1, finalPathErrors: 0, fhr: 3 });
    expect(walk(["(0,0) N"], { path: "(0,0) (-1,0) (-1,1) (0,1)" })).toMatchObject({ hc: 1, finalPathErrors: 0 });
    expect(walk(["(2,2) E"], { path: "(0,0) (2,2) (2,3)" })).toMatchObject({ hc: 1, finalPathErrors: 0 });
  });

  it("count an excursion off the grid once", () => {
    expect(walk(log, { path: "(0,0) (-1,0) (-1,1) (0,1)" })).toMatchObject({ finalPathErrors: 1 });
  });

  it("cap the first error at size², and have none at -1", () => {
    const pacing = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? "(0,0) E" : "(0,1) W"));
    expect(walk([...pacing, "(0,0) N"]).fhr).toBe(16);
    expect(walk(log).fhr).toBe(-1);
  });

  it("do not number attempts after EXIT", () => {
    const path = "(0,0) (1,1)";
    expect(walk(["(0,0) E, S, E, S, E, S", "(3,3) S"], { path })).toMatchObject({ hc: 1, fhr: 7 });
  });
});

describe("self-report gaps", () => {
  it("are reported minus true, and null where nothing was reported", () => {
    const selfReport = { backtracks: 3, hallucinations: 0 };
    expect(walk(["(0,0) N", "(0,0) S, S, E, W"], { selfReport }).selfReportGaps).toEqual({
      backtracks: 2,
      hallucinations: -1,
    });
    expect(walk(["(0,0) N"]).selfReportGaps).toEqual({ backtracks: null, hallucinations: null });
  });
});
