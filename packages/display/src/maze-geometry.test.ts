import { expect, it } from "vitest";

import { cellSide, linePath, marksPath, wallPath } from "./maze-geometry.ts";

it("walls that continue are one line, the frame is closed, and an opening breaks it", () => {
  // (0,0) opens east to (0,1), which opens south to (1,1), which opens west to (1,0).
  const path = wallPath([
    [2, 12],
    [2, 9],
  ]);
  const side = cellSide;
  expect(path).toContain(`M0 0H${2 * side}`);
  expect(path).toContain(`M0 ${side}H${side}`);
  expect(path).not.toContain(`M${side} 0V${side}`);
  expect(path.match(/M/g)).toHaveLength(5);
});

it("a line through fewer than two cells is none", () => {
  expect([linePath([]), linePath([[0, 0]])]).toEqual(["", ""]);
  expect(
    linePath([
      [0, 0],
      [0, 1],
    ]),
  ).toBe("M20 20L60 20");
});

it("only the marks of the sign are drawn", () => {
  const marks = [
    { at: 0, sign: "trail", from: [0, 0], to: [0, 1] },
    { at: 1, sign: "bump", from: [0, 0], to: [1, 0] },
  ] as const;
  expect(marksPath(marks, "trail")).toBe("M20 20L60 20");
  expect(marksPath(marks, "leap")).toBe("");
});
