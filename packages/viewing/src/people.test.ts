import { peopleMaze, trialView } from "@hallumaze/contract";
import { generateMaze } from "@hallumaze/maze";
import { parseImport } from "@hallumaze/imports";
import { describe, expect, it } from "vitest";

import { type PeopleWalk, peopleRecord, readPeopleTrialId, viewPeopleMaze } from "./people.ts";
import { viewHumanTrial } from "./view-human.ts";

const wish = { size: 5, seed: 2002, mirage: true, language: "en" } as const;
/** Into the wall north of START, then the way out. */
const walk: PeopleWalk = {
  ...wish,
  participant: "Ann",
  confidence: true,
  steps: [
    { from: [0, 0], dir: "N", confidence: 0.9 },
    ...generateMaze(wish)
      .solution.slice(0, -1)
      .map((from, at, path) => {
        const [row, col] = path[at + 1] ?? [4, 4];
        const dir = row > from[0] ? "S" : row < from[0] ? "N" : col > from[1] ? "E" : "W";
        return { from, dir, confidence: 0.5 } as const;
      }),
  ],
  finalPath: generateMaze(wish).solution,
  latencyMs: 61_500,
};

function keep(given: PeopleWalk) {
  const bytes = Buffer.from(JSON.stringify([peopleRecord(given)]));
  const reading = parseImport({ fileName: "walk.json", bytes, as: "human", model: null, skipBad: false });
  if (reading.kind === "refused") throw new Error(JSON.stringify(reading.problems));
  const [row] = reading.rows;
  if (row === undefined) throw new Error("no row");
  const { seed, logText } = row;
  const person = { ...row, seed: seed ?? 0, logText: logText ?? "" };
  const maze = { generator: "dfs", placement: "path-order" } as const;
  return { row, view: viewHumanTrial({ ...person, ...maze, importId: "i", importedAtMs: 1 }) };
}

describe("a person's walk", () => {
  it("is read as a model's log: the same steps, confidences and scores", () => {
    const { row, view } = keep(walk);
    expect(trialView.parse(view)).toEqual(view);
    expect(view.walk?.steps).toHaveLength(walk.steps.length);
    expect(view.walk?.steps[0]).toMatchObject({ kind: "outOfGrid", confidence: 0.9 });
    expect(view.walk?.counts).toMatchObject({ sr: 1, hc: 1 });
    expect(view.profiles.map(({ isStored }) => isStored)).toEqual([true, true, true]);
    expect(row).toMatchObject({ participant: "Ann", latencyMs: 61_500, mirage: true });
  });

  it("that was given up is a walk without an escape, said in words", () => {
    const { view } = keep({ ...walk, finalPath: null });
    expect(view.walk?.counts.sr).toBe(0);
    expect(view.reading?.gaveUp).toBe(true);
  });

  it("keeps no confidence where none was asked for", () => {
    const steps = walk.steps.map((step) => ({ ...step, confidence: null }));
    const { view } = keep({ ...walk, confidence: false, steps, language: "ko" });
    expect(view.walk?.steps.every(({ confidence }) => confidence === null)).toBe(true);
    expect(view.profiles[1]?.formulas.find(({ metric }) => metric === "ce")?.value).toBeNull();
  });
});

describe("a maze for a person", () => {
  it("shows what a model is shown, and no solution", () => {
    const view = viewPeopleMaze(wish);
    expect(peopleMaze.parse(view)).toEqual(view);
    expect(JSON.stringify(view)).not.toContain("solution");
    expect(view.signs.length).toBeGreaterThan(0);
    for (const { hint } of view.signs) expect(view.text).toContain(hint);
  });

  it("carries no sign without mirage", () => {
    const view = viewPeopleMaze({ ...wish, mirage: false });
    expect(view.signs).toEqual([]);
    expect(view.text).not.toContain("⚑");
  });
});

it("reads the ids of people's trials only", () => {
  const importId = "01234567-89ab-4cde-8f01-23456789abcd";
  expect(readPeopleTrialId(`human-${importId}-12`)).toEqual({ importId, position: 12 });
  for (const id of [importId, `human-${importId}`, `human-${importId}-0`, `human-${importId}-1; --`, "human-x-1"]) {
    expect(readPeopleTrialId(id)).toBeNull();
  }
});
