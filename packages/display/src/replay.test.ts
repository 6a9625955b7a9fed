import { expect, it } from "vitest";

import { marksShown, nextEvent, playedTo, prepareReplay, recentSteps, standsAt, type ViewStep } from "./replay.ts";

function step(from: readonly [number, number], dir: "N" | "E" | "S" | "W", more: Partial<ViewStep> = {}): ViewStep {
  const [down, right] = { N: [-1, 0], E: [0, 1], S: [1, 0], W: [0, -1] }[dir] as [number, number];
  const to = [from[0] + down, from[1] + right] as const;
  return { kind: "ok", relocation: null, from, to, dir, confidence: null, marks: [], ...more };
}

const walk = [
  step([0, 0], "S"),
  step([1, 0], "E", { kind: "wall", to: [1, 0], marks: ["illegal"] }),
  step([1, 0], "S", { marks: ["trapTaken"] }),
  step([2, 0], "N", { marks: ["retreat", "backtrack"] }),
  step([1, 0], "E", { kind: "wall", to: [1, 0], marks: ["illegal"] }),
];

it("a position shows exactly the marks of the attempts before it", () => {
  const { marks } = prepareReplay(walk);
  expect([0, 1, 2, 3, 4, 5].map((position) => marksShown(marks, position))).toEqual([0, 1, 2, 4, 4, 4]);
});

it("a place is drawn once however often it is walked, in whichever direction", () => {
  const toAndFro = Array.from({ length: 1000 }, (_, at) => (at % 2 === 0 ? step([0, 0], "E") : step([0, 1], "W")));
  expect(prepareReplay(toAndFro).marks).toEqual([{ at: 0, sign: "trail", from: [0, 0], to: [0, 1] }]);
});

it("a wall is a bump on the wall's side and does not move the walker", () => {
  const replay = prepareReplay(walk);
  expect(replay.marks[1]).toEqual({ at: 1, sign: "bump", from: [1, 0], to: [1, 1] });
  expect(standsAt(replay, 2)).toEqual([1, 0]);
});

it("what an attempt is called is the most telling that is so", () => {
  expect(prepareReplay(walk).notes).toEqual(["plain", "wall", "trapTaken", "backtrack", "wall"]);
});

it("a jump to a cell never reached is drawn as a leap, and its error named before anything else", () => {
  const replay = prepareReplay([step([3, 3], "E", { relocation: "teleport", marks: ["illegal", "escape"] })]);
  expect(replay.notes).toEqual(["teleport"]);
  expect(replay.marks.map(({ sign }) => sign)).toEqual(["leap"]);
});

it("the next event is the next attempt that is more than plain, and after the last the end", () => {
  const replay = prepareReplay(walk);
  expect([0, 2, 3, 5].map((position) => nextEvent(replay, position, 1))).toEqual([2, 3, 4, 5]);
  expect([5, 2, 1].map((position) => nextEvent(replay, position, -1))).toEqual([4, 0, 0]);
});

it("the walker stands on START before the first attempt, and nowhere while the log is off the grid", () => {
  const off = prepareReplay([step([0, 0], "N", { kind: "outOfGrid", to: null })]);
  expect([standsAt(off, 0), standsAt(off, 1)]).toEqual([[0, 0], null]);
  expect(off.marks[0]).toMatchObject({ sign: "bump", to: [-1, 0] });
});

it("playing advances by speed and stops at the end", () => {
  expect(playedTo(3, 1500, 2, 100)).toEqual({ position: 6, ended: false });
  expect(playedTo(3, 10_000, 500, 100)).toEqual({ position: 100, ended: true });
});

it("the tail is the newest steps only", () => {
  expect(recentSteps(prepareReplay(walk), 4, 2)).toEqual([walk[2], walk[3]]);
});
