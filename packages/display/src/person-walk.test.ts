import { expect, it } from "vitest";

import { cellsSeen, type Heading, hasEscaped, personPath, startPersonWalk, tryMove } from "./person-walk.ts";

// (0,0) opens east and south; (1,0) is a dead end; (0,1) opens south to EXIT.
const rows = [
  [6, 12],
  [1, 1],
];
const walked = (moves: readonly Heading[]) =>
  moves.reduce((walk, dir) => tryMove(walk, dir, 0.8), startPersonWalk(rows));

it("a move into a wall is kept as tried and moves nobody", () => {
  const walk = walked(["N"]);
  expect(walk.here).toEqual([0, 0]);
  expect(walk.moves).toEqual([{ from: [0, 0], dir: "N", to: [-1, 0], open: false, confidence: 0.8 }]);
});

it("the path leaves out the dead end that was left again, and there is none before EXIT", () => {
  expect(personPath(walked(["S", "N", "E"]))).toBeNull();
  expect(personPath(walked(["S", "N", "E", "S"]))).toEqual([
    [0, 0],
    [0, 1],
    [1, 1],
  ]);
});

it("nothing moves after EXIT", () => {
  const walk = walked(["E", "S"]);
  expect(hasEscaped(walk)).toBe(true);
  expect(tryMove(walk, "N", null)).toBe(walk);
});

it("each cell stood on is seen once", () => {
  expect(cellsSeen(walked(["S", "N", "S"]))).toEqual([
    [0, 0],
    [1, 0],
  ]);
});
