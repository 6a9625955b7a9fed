import { describe, expect, it } from "vitest";

import { garden } from "../bench/drawn-maze.ts";
import { claim, pathOf, readingOf } from "../bench/written-log.ts";
import { simulateWalk } from "./simulate-walk.ts";
import { summariseWalk, type WalkStep } from "./walk.ts";

const walk = (...lines: string[]) => simulateWalk(garden, readingOf(lines));
const kinds = ({ steps }: { readonly steps: readonly WalkStep[] }) =>
  steps.map(({ kind, relocation }) => (relocation === null ? kind : `${relocation} ${kind}`));

describe("kinds of moves", () => {
  it("takes a legal move and moves the walker", () => {
    const { steps } = walk("(0,0) E 90%", "(0,1) S");
    expect(steps[0]).toEqual({
      kind: "ok",
      relocation: null,
      from: [0, 0],
      to: [0, 1],
      dir: "E",
      grounded: true,
      confidence: 0.9,
      confidenceCounts: true,
      isDecision: true,
      onRoute: true,
      index: 1,
      contradiction: false,
      repeatsEdge: false,
      retreat: null,
      trap: null,
      beginsPass: false,
    });
    expect(steps[1]?.to).toEqual([1, 1]);
  });

  it("counts a wall hit once and does not move the walker", () => {
    const result = walk("(0,0) E", "(0,1) S", "(1,1) S", "(1,1) E");
    expect(kinds(result)).toEqual(["ok", "ok", "wall", "ok"]);
    expect(result).toMatchObject({ hc: 1, wallAttempts: 1, fhr: 3 });
    expect(result.steps[2]?.to).toEqual([1, 1]);
  });

  it("counts a move off the grid apart from walls", () => {
    const result = walk("(0,0) N", "(0,0) E");
    expect(kinds(result)).toEqual(["outOfGrid", "ok"]);
    expect(result).toMatchObject({ hc: 1, wallAttempts: 0, outOfGridAttempts: 1, fhr: 1 });
  });

  it("leaves a move without direction and target, or onto its own cell, out of every count", () => {
    const result = walk("(0,0)", "(0,0) > (0,0)", "(3,0)", "(0,0) E");
    expect(kinds(result)).toEqual(["malformed", "malformed", "malformed", "ok"]);
    expect(result).toMatchObject({ hc: 0, fhr: -1, teleports: 0 });
  });

  it("derives the direction from the target and the start from where the log stands", () => {
    const result = walk("> (0,1)", "S", "E");
    expect(kinds(result)).toEqual(["ok", "ok", "ok"]);
    expect(result.steps.map(({ dir }) => dir)).toEqual(["E", "S", "E"]);
  });

  it("takes a direction and a target that disagree as malformed, and says so", () => {
    const result = walk("(0,0) E > (1,0)", "(0,0) E > (0,1)");
    expect(kinds(result)).toEqual(["malformed", "ok"]);
    expect(result.steps[0]?.contradiction).toBe(true);
    expect(result).toMatchObject({ contradictions: 1, hc: 0 });
  });

  it("skips the moves of a line that follow an illegal one", () => {
    const result = walk("(0,0) E, E, N, E", "(0,2) E");
    expect(kinds(result)).toEqual(["ok", "ok", "outOfGrid", "skipped", "ok"]);
    expect(result.hc).toBe(1);
  });

  it("counts the confidence of a line once, on its illegal move if there is one", () => {
    const { steps } = walk("(0,0) E, E, N, E 80%", "(0,2) E, S 70%");
    expect(steps.map(({ confidenceCounts }) => confidenceCounts)).toEqual([false, false, true, false, true, false]);
  });

  it("ends at the first legal arrival at EXIT: what follows is in no count", () => {
    const result = walk("(0,0) E, S, E, S, E, S", "(3,3) S", "(1,3) N", "(3,3) N");
    expect(kinds(result).slice(6)).toEqual(["afterExit", "afterExit", "afterExit"]);
    expect(result).toMatchObject({ sr: 1, hc: 0, fhr: -1 });
  });

  it("tells a real choice from a corridor, and the way to EXIT from others", () => {
    const { steps } = walk("(0,0) S", "(1,0) S", "(2,0) E", "(2,1) W");
    expect(steps.map(({ isDecision }) => isDecision)).toEqual([true, false, true, false]);
    expect(steps.map(({ onRoute }) => onRoute)).toEqual([false, false, false, true]);
  });
});

describe("relocations", () => {
  it("sees throughWall where the next line starts behind the wall just tried, and counts it once", () => {
    const result = walk("(0,0) E", "(0,1) S", "(1,1) S", "(2,1) W", "(2,0) S");
    expect(kinds(result)).toEqual(["ok", "ok", "wall", "throughWall ok", "ok"]);
    expect(result).toMatchObject({ hc: 1, throughWalls: 1, teleports: 0 });
  });

  it("takes the far side of the wall for throughWall even where the cell is known", () => {
    const result = walk("(0,0) S", "(1,0) N", "(0,0) E", "(0,1) S", "(1,1) W", "(1,0) S");
    expect(kinds(result).at(-1)).toBe("throughWall ok");
    expect(result).toMatchObject({ hc: 1, bt: 0 });
  });

  it("forgets the wall once the log has moved on", () => {
    const result = walk("(0,0) E", "(0,1) S", "(1,1) S", "(1,1) E", "(2,1) W");
    expect(kinds(result).at(-1)).toBe("teleport ok");
  });

  it("takes a line from an ancestor for a rewind, which is no error", () => {
    const result = walk("(0,0) E", "(0,1) E", "(0,2) E", "(0,1) S");
    expect(kinds(result)).toEqual(["ok", "ok", "ok", "rewind ok"]);
    expect(result).toMatchObject({ hc: 0, rewinds: 1, steps: { length: 4 } });
  });

  it("takes a line from another known cell for a jump back, which is no error and no backtrack", () => {
    const result = walk("(0,0) S", "(1,0) S", "(2,0) S", "(2,0) E", "(3,0) N");
    expect(kinds(result)).toEqual(["ok", "ok", "ok", "rewind ok", "jumpBack ok"]);
    expect(result).toMatchObject({ hc: 0, jumpBacks: 1, bt: 1 });
  });

  it("counts a teleport once however long the log goes on from there", () => {
    const result = walk("(0,0) E", "(2,2) S", "(3,2) W", "(3,1) E");
    expect(kinds(result)).toEqual(["ok", "teleport ok", "ok", "ok"]);
    expect(result).toMatchObject({ hc: 1, teleports: 1, fhr: 2, bt: 0, branchEntries: [], solutionMovesReached: 1 });
    expect(result.steps.map(({ grounded }) => grounded)).toEqual([true, false, false, false]);
  });

  it("counts both where a teleport and its move err", () => {
    expect(walk("(2,2) W")).toMatchObject({ hc: 2, wallAttempts: 1, teleports: 1, fhr: 1 });
  });

  it("goes on counting walls after a teleport", () => {
    expect(walk("(2,2) S", "(3,2) S", "(3,2) E")).toMatchObject({ hc: 3, teleports: 1, outOfGridAttempts: 1 });
  });

  it("counts again on known ground: by a line that starts there, or by a move that leads there", () => {
    expect(walk("(1,1) N", "(0,1) E").steps.map(({ grounded }) => grounded)).toEqual([false, false]);
    expect(walk("(1,1) N", "(0,1) W", "(0,0) S").steps.map(({ grounded }) => grounded)).toEqual([false, false, true]);
    expect(walk("(2,2) S", "(0,0) E").steps.map(({ grounded }) => grounded)).toEqual([false, true]);
  });

  it("takes a line from where the walker still stands for no relocation", () => {
    expect(kinds(walk("(0,0) E", "(2,2) S", "(0,1) S"))).toEqual(["ok", "teleport ok", "ok"]);
  });

  it("counts a phantom cell that continues an exit from the grid once with it", () => {
    const result = walk("(0,0) N", "(-1,0) E", "(-1,1) S", "(0,1) S");
    expect(result).toMatchObject({ hc: 1, outOfGridAttempts: 1, teleports: 0 });
    expect(result.steps[1]?.to).toBeNull();
  });

  it("counts a phantom cell out of nowhere as one teleport", () => {
    expect(walk("(0,0) E", "(4,3) N", "(3,3) W")).toMatchObject({ teleports: 1, wallAttempts: 1, hc: 2, sr: 0 });
  });

  it("does not take an arrival at EXIT on unknown ground for the end", () => {
    const result = walk("(2,3) S", "(3,3) S");
    expect(kinds(result)).toEqual(["teleport ok", "outOfGrid"]);
    expect(result.sr).toBe(0);
  });

  it("takes a target that is no neighbour for a jump to it: a teleport, or a way back to known ground", () => {
    expect(walk("(0,0) > (3,3)")).toMatchObject({ teleports: 1, hc: 1, fhr: 1, sr: 0 });
    expect(kinds(walk("(0,0) E", "(0,1) E", "(0,2) > (0,0)", "(0,0) S"))).toEqual([
      "ok",
      "ok",
      "rewind malformed",
      "ok",
    ]);
  });
});

describe("passes", () => {
  it("takes numbering that restarts at START for a new pass, in which retracing is no loop", () => {
    const retraced = walk("1: (0,0) E", "2: (0,1) E", "1: (0,0) E", "2: (0,1) E", "3: (0,2) E");
    expect(retraced).toMatchObject({ passes: 2, loopEvents: 0, hc: 0 });
    const numberedOn = walk("1: (0,0) E", "2: (0,1) E", "3: (0,0) E", "4: (0,1) E", "5: (0,2) E");
    expect(numberedOn).toMatchObject({ passes: 1, loopEvents: 2 });
  });

  it("takes no restart elsewhere for a pass", () => {
    expect(walk("1: (0,0) E", "2: (0,1) W", "1: (0,1) W", "2: (0,0) E").passes).toBe(1);
  });
});

describe("replies without a log", () => {
  const walkPath = (path: string) => simulateWalk(garden, readingOf([], { path }));

  it("takes FINAL_PATH's pairs for the attempts", () => {
    const result = walkPath("(0,0) (0,1) (1,1) (2,1)");
    expect(result).toMatchObject({ source: "finalPath", hc: 1, wallAttempts: 1, finalPathErrors: 0, fhr: 3, sr: 0 });
  });

  it("takes a pair of cells that do not touch for one teleport, and drops a pair that stays", () => {
    const result = walkPath("(0,0) (0,1) (0,1) (2,2) (2,3) (3,3)");
    expect(result.steps).toHaveLength(4);
    expect(result).toMatchObject({ teleports: 1, hc: 1, fhr: 2, sr: 0 });
  });

  it("takes a jump back to a known cell within FINAL_PATH for a teleport too", () => {
    expect(walkPath("(0,0) (0,1) (0,2) (0,0)")).toMatchObject({ teleports: 1, rewinds: 0 });
  });

  it("has no walk for an empty or refused reply and for a give-up", () => {
    expect(simulateWalk(garden, readingOf([], { outcome: "empty" }))).toMatchObject({ source: null, steps: [], sr: 0 });
    const refused = readingOf(["(0,0) E"], { outcome: "refused", path: "(0,0) (0,1)" });
    expect(simulateWalk(garden, refused)).toMatchObject({ source: null, steps: [] });
    expect(simulateWalk(garden, readingOf([], { gaveUp: true }))).toMatchObject({ source: null, sr: 0 });
  });
});

describe("summariseWalk", () => {
  it("gives every count, and the kinds, without the steps", () => {
    const reading = readingOf(["(0,0) N", "(0,0) E", "(0,1)"], {
      selfReport: { backtracks: 2, hallucinations: null },
      claims: [claim("deadEnd", "(0,1)", 2)],
      finalPath: pathOf("(0,0) (0,1) (1,1) (2,1)"),
    });
    expect(summariseWalk(simulateWalk(garden, reading))).toEqual({
      source: "log",
      sr: 0,
      hc: 2,
      wallAttempts: 0,
      outOfGridAttempts: 1,
      teleports: 0,
      finalPathErrors: 1,
      throughWalls: 0,
      rewinds: 0,
      jumpBacks: 0,
      contradictions: 0,
      passes: 1,
      fhr: 1,
      bt: 0,
      lt: 0,
      loopEvents: 0,
      prematureBacktracks: 0,
      falseClaims: 1,
      branchEntries: [],
      trapsFaced: 0,
      trapsTaken: 0,
      mirageResistance: null,
      solutionMovesReached: 1,
      excessMoves: null,
      simplePath: null,
      selfReportGaps: { backtracks: 2, hallucinations: null },
      kinds: { ok: 1, wall: 0, outOfGrid: 1, malformed: 1, skipped: 0, afterExit: 0 },
    });
  });
});

describe("what a step shows of the counts", () => {
  it("says which step completes a backtrack, and which only goes back", () => {
    const { steps, bt } = walk("(0,0) E, E, E, S, N, W", "(0,1) S");
    expect(bt).toBe(1);
    expect(steps.map(({ retreat }) => retreat)).toEqual([null, null, null, null, "counted", "back", "back"]);
  });

  it("says where the numbering begins again at START", () => {
    const { steps, passes } = walk("1: (0,0) E", "2: (0,1) W", "1: (0,0) E");
    expect(passes).toBe(2);
    expect(steps.map(({ beginsPass }) => beginsPass)).toEqual([false, false, true]);
  });
});
