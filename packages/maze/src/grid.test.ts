import { describe, expect, it } from "vitest";

import { generateMaze } from "./generate-maze.ts";
import {
  cellAt,
  cellIndex,
  directionBetween,
  exitCell,
  inGrid,
  isOpen,
  openDirections,
  opposite,
  sameCell,
  step,
} from "./grid.ts";

// ┌───┬───────┐
// │ S │       │
// │   ├───╴   │
// │   │       │
// │   ╵   ╷   │
// │       │ E │
// └───────┴───┘
const maze = generateMaze({ size: 3, seed: 1 });

describe("the grid", () => {
  it("counts rows down and columns to the right", () => {
    expect([step([1, 1], "N"), step([1, 1], "E"), step([1, 1], "S"), step([1, 1], "W")]).toEqual([
      [0, 1],
      [1, 2],
      [2, 1],
      [1, 0],
    ]);
    expect(exitCell(3)).toEqual([2, 2]);
  });

  it("numbers cells row by row and back", () => {
    expect(cellIndex(3, [1, 2])).toBe(5);
    expect(cellAt(3, 5)).toEqual([1, 2]);
  });

  it("ends at its edges and holds whole coordinates only", () => {
    expect(inGrid(3, [2, 2])).toBe(true);
    expect([inGrid(3, [-1, 0]), inGrid(3, [0, 3]), inGrid(3, [3, 0]), inGrid(3, [0.5, 0])]).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it("undoes a move by its opposite", () => {
    expect([opposite("N"), opposite("E"), opposite("S"), opposite("W")]).toEqual(["S", "W", "N", "E"]);
  });

  it("compares cells by place", () => {
    expect(sameCell([1, 2], [1, 2])).toBe(true);
    expect(sameCell([1, 2], [2, 1])).toBe(false);
  });

  it("names the direction between cells that touch, and none between others", () => {
    expect(directionBetween([1, 1], [1, 0])).toBe("W");
    expect(directionBetween([1, 1], [0, 0])).toBeNull();
    expect(directionBetween([1, 1], [1, 1])).toBeNull();
  });
});

describe("openings", () => {
  it("lists a cell's open directions in the order N, E, S, W", () => {
    expect(openDirections(maze, [1, 2])).toEqual(["N", "S", "W"]);
    expect(openDirections(maze, [1, 1])).toEqual(["E", "S"]);
  });

  it("are closed at a wall, at the edge and off the grid", () => {
    expect(isOpen(maze, [0, 0], "S")).toBe(true);
    expect(isOpen(maze, [0, 0], "E")).toBe(false);
    expect(isOpen(maze, [0, 0], "N")).toBe(false);
    expect(isOpen(maze, [0, 3], "S")).toBe(false);
    expect(openDirections(maze, [-1, 0])).toEqual([]);
  });
});
