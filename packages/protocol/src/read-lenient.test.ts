import { type Cell, directionBetween, generateMaze, type Maze } from "@hallumaze/maze";
import { describe, expect, it } from "vitest";

import { readReply } from "./read-reply.ts";
import type { Reading, ReadingMode } from "./reading.ts";
import { promptStyle, type ReplyLine, renderReply } from "./render-reply.ts";

const mazes: readonly Maze[] = [1001, 2002, 42, 7, 12].map((seed) => generateMaze({ size: 5, seed }));

function read(text: string, maze: Maze, mode: ReadingMode): Reading {
  return readReply(text, { size: maze.size, finishReason: "stop", mode, maze });
}

/** The solution as a log whose cells are written by `write`. */
function solutionText(maze: Maze, write: (cell: Cell) => string): string {
  const lines = maze.solution.slice(1).map((to, index): ReplyLine => {
    const from = maze.solution[index] ?? to;
    return { kind: "step", from, dir: directionBetween(from, to) ?? "S", to: null, confidence: 0.9, reason: "" };
  });
  const log = { lines, backtracks: 0, hallucinations: 0, finalPath: maze.solution };
  return renderReply(log, { ...promptStyle("ko"), cell: write });
}

const asWritten = ([row, col]: Cell): string => `(${row},${col})`;
const oneBased = ([row, col]: Cell): string => `(${row + 1},${col + 1})`;
const swapped = ([row, col]: Cell): string => `(${col},${row})`;

describe("lenient reading", () => {
  it.each(mazes)("shifts a 1-based log as a whole, and says so (seed $seed)", (maze) => {
    const reading = read(solutionText(maze, oneBased), maze, "lenient");
    expect(reading.finalPath).toEqual(maze.solution);
    expect(reading.attempts.map((attempt) => attempt.from)).toEqual(maze.solution.slice(0, -1));
    expect(reading.flags).toContain("indexShifted");
  });

  it.each(mazes)("swaps row and column as a whole, and says so (seed $seed)", (maze) => {
    const reading = read(solutionText(maze, swapped), maze, "lenient");
    expect(reading.finalPath).toEqual(maze.solution);
    expect(reading.flags).toContain("transposed");
  });

  it.each(mazes)("changes a final path without a log just so (seed $seed)", (maze) => {
    const path = `FINAL_PATH: ${maze.solution.map(oneBased).join("→")}`;
    expect(read(path, maze, "lenient").finalPath).toEqual(maze.solution);
    expect(read(path, maze, "strict").finalPath?.[0]).toEqual([1, 1]);
  });

  it.each(mazes)("simulates a bare list of moves from START, and says so (seed $seed)", (maze) => {
    const moves = maze.solution.slice(1).map((to, index) => directionBetween(maze.solution[index] ?? to, to));
    const text = `FINAL_PATH: ${moves.join(", ")}`;
    expect(read(text, maze, "lenient")).toMatchObject({ finalPath: maze.solution, flags: ["simulatedMoveList"] });
    expect(read(text, maze, "lenient").outcome).toBe("ok");
    const steps = moves.map((dir, index) => `STEP ${index + 1}: [${dir}]`).join("\n");
    const placed = read(steps, maze, "lenient").attempts.map((attempt) => attempt.from);
    expect(placed).toEqual(maze.solution.slice(0, -1));
  });

  it("leaves a list of moves alone that meets a wall", () => {
    const [maze] = mazes;
    if (maze === undefined) throw new Error("no maze");
    expect(read("FINAL_PATH: N, N, E", maze, "lenient")).toMatchObject({ finalPath: null, outcome: "parse_failed" });
  });

  it.each(mazes)("leaves a log alone that is right as it is written (seed $seed)", (maze) => {
    const text = solutionText(maze, asWritten);
    expect(read(text, maze, "lenient")).toEqual({ ...read(text, maze, "strict"), mode: "lenient" });
  });

  it.each(mazes)("leaves a 1-based log alone that holds an error beyond its base (seed $seed)", (maze) => {
    const text = `${solutionText(maze, oneBased)}STEP 99: (5,5) → [S] | 확신도: 90%\nSTEP 100: (9,9) → [S]\nFINAL_PATH: (1,1)→(9,9)`;
    const reading = read(text, maze, "lenient");
    expect(reading.attempts[0]?.from).toEqual([1, 1]);
    expect(reading.flags).not.toContain("indexShifted");
  });
});

describe("strict reading", () => {
  it.each(mazes)("never shifts, swaps or simulates (seed $seed)", (maze) => {
    const shifted = read(solutionText(maze, oneBased), maze, "strict");
    expect(shifted.attempts[0]?.from).toEqual([1, 1]);
    expect(shifted.finalPath?.at(-1)).toEqual([5, 5]);
    expect(read(solutionText(maze, swapped), maze, "strict").finalPath?.[1]).not.toEqual(maze.solution[1]);
    expect(read("STEP 1: [S]", maze, "strict").attempts[0]?.from).toBeNull();
  });
});
