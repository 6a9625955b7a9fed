import { createRandom } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import type { HintResponse } from "./judge-response.ts";
import type { AriadneRecord } from "./read-conversation.ts";
import { type AriadneRow, type AriadneSummary, summariseAriadne } from "./summarise-ariadne.ts";

type Group = AriadneRow["group"];

const score = (value: number): HintResponse => ({ score: value, latency: null, censored: false });
const censored: HintResponse = { score: null, latency: null, censored: true };

/** A trial that was triggered and answered its turns so; in group A the one response is the shadow's. */
function hinted(
  group: Group,
  mazeKey: string,
  meiSeed: number,
  responses: readonly HintResponse[],
  after = 0,
): AriadneRow {
  const [first] = responses;
  const record: AriadneRecord = {
    group,
    solvedAtOnce: false,
    noWalk: false,
    triggers: ["short"],
    hints: group === "A" ? [] : responses.map((response) => ({ kind: "hint", triggers: ["short"], ...response })),
    shadow: group === "A" && first !== undefined ? { ...first, meiSeed: after, meiRobust: 0, sr: 0 } : null,
  };
  return { model: "m", mazeKey, group, meiSeed, record };
}

/** A trial that was solved at once. */
function solved(group: Group, mazeKey: string, meiSeed = 0.9): AriadneRow {
  const record: AriadneRecord = {
    group,
    solvedAtOnce: true,
    noWalk: false,
    triggers: [],
    hints: [],
    shadow: null,
  };
  return { model: "m", mazeKey, group, meiSeed, record };
}

function missing(group: Group, mazeKey: string): AriadneRow {
  return { model: "m", mazeKey, group, meiSeed: null, record: null };
}

function summarise(rows: readonly AriadneRow[]): AriadneSummary {
  const [summary] = summariseAriadne(rows, { random: createRandom(7), resamples: 500 });
  if (summary === undefined) throw new Error("there is no row");
  return summary;
}

describe("NRS", () => {
  it("averages a trial's hints first, then the repeats of a maze, then mazes", () => {
    const { nrs } = summarise([
      hinted("B", "x", 0, [score(1), score(0)]),
      hinted("B", "x", 0, [score(1)]),
      hinted("B", "y", 0, [score(0)]),
    ]);
    expect(nrs).toMatchObject({ n: 4, censored: 0, mean: 0.375, lo: 0.375, hi: 0.375 });
  });

  it("leaves censored responses out, counts them, and bounds what they could have been", () => {
    const { nrs } = summarise([hinted("B", "x", 0, [score(1)]), hinted("B", "y", 0, [censored])]);
    expect(nrs).toEqual({ n: 1, censored: 1, mean: 1, lo: 0.5, hi: 1 });
  });

  it("is null where no hint was given, and has bounds only where all are censored", () => {
    expect(summarise([solved("B", "x")]).nrs).toEqual({ n: 0, censored: 0, mean: null, lo: null, hi: null });
    expect(summarise([hinted("B", "x", 0, [censored])]).nrs).toEqual({ n: 0, censored: 1, mean: null, lo: 0, hi: 1 });
  });

  it("stands beside that of the shadow, and their difference", () => {
    const { shadowNrs, nrsGain } = summarise([
      hinted("A", "x", 0, [score(0.2)]),
      hinted("B", "x", 0, [score(0.8)]),
      hinted("C", "x", 0, [score(1)]),
    ]);
    expect(shadowNrs.mean).toBe(0.2);
    expect(nrsGain).toBeCloseTo(0.6, 12);
    expect(summarise([hinted("B", "x", 0, [score(0.8)])]).nrsGain).toBeNull();
  });
});

describe("HIR", () => {
  it("is the share of uncensored notes that were ignored", () => {
    const { hir } = summarise([
      hinted("C", "x", 0, [score(0), score(0.2)]),
      hinted("C", "y", 0, [score(0), censored]),
      hinted("B", "y", 0, [score(0)]),
    ]);
    expect(hir).toEqual({ given: 3, ignored: 2, censored: 1, rate: 2 / 3 });
  });

  it("is null where no note was given", () => {
    expect(summarise([solved("C", "x")]).hir).toEqual({ given: 0, ignored: 0, censored: 0, rate: null });
  });
});

describe("TI", () => {
  it("is NRS·(MEI_B - MEI_A)/MEI_A over the mazes that both groups have", () => {
    const { ti } = summarise([
      hinted("A", "x", 0.2, []),
      hinted("B", "x", 0.6, [score(0.5)]),
      hinted("A", "y", 0.4, []),
      hinted("B", "y", 0.6, [score(1)]),
      hinted("B", "only in B", 0, [score(0)]),
      solved("A", "only in A"),
    ]);
    expect(ti).toMatchObject({ mazes: 2, nrs: 0.75, why: null, level: "high", cannotBeHigh: false });
    expect(ti.value).toBeCloseTo((0.75 * 0.3) / 0.3, 12);
  });

  it.each([
    [0.5, 0.7, "high"],
    [0.5, 0.6, "between"],
    [0.5, 0.54, "low"],
    [0.5, 0.3, "low"],
  ] as const)("with MEI_A %d and MEI_B %d is %s", (a, b, level) => {
    expect(summarise([hinted("A", "x", a, []), hinted("B", "x", b, [score(1)])]).ti.level).toBe(level);
  });

  it("says where it cannot be high: MEI ends at 0.9", () => {
    const at = (mei: number): AriadneSummary => summarise([solved("A", "x", mei), hinted("B", "x", 0.9, [score(1)])]);
    expect(at(0.7).ti).toMatchObject({ cannotBeHigh: true, level: "between" });
    expect(at(0.69).ti).toMatchObject({ cannotBeHigh: false, level: "high" });
  });

  it.each([
    ["noCommonMaze", [solved("A", "x"), hinted("B", "y", 0.5, [score(1)])]],
    ["noCommonMaze", [missing("A", "x"), hinted("B", "x", 0.5, [score(1)])]],
    ["noHint", [solved("A", "x"), solved("B", "x")]],
    ["allCensored", [solved("A", "x"), hinted("B", "x", 0.5, [censored])]],
    ["baselineTooLow", [hinted("A", "x", 0.01, []), hinted("B", "x", 0.5, [score(1)])]],
  ] as const)("is null with the reason %s", (why, rows) => {
    expect(summarise(rows).ti).toMatchObject({ value: null, why, level: null });
  });
});

describe("TI_norm", () => {
  it("sets the hint against the shadow, over what was left to gain", () => {
    const { tiNorm } = summarise([
      hinted("A", "x", 0.1, [score(0.2)], 0.3),
      hinted("B", "x", 0.6, [score(0.8)]),
      solved("A", "y", 0.7),
      solved("B", "y", 0.9),
    ]);
    expect(tiNorm).toMatchObject({ mazes: 2, nrs: 0.8, shadowNrs: 0.2, meiShadow: 0.5, meiB: 0.75, why: null });
    expect(tiNorm.value).toBeCloseTo((0.6 * 0.25) / 0.4, 12);
  });

  it.each([
    ["noShadow", [{ ...hinted("A", "x", 0.1, []), record: null }, hinted("B", "x", 0.6, [score(1)])]],
    ["noShadow", [hinted("A", "x", 0.1, []), hinted("B", "x", 0.6, [score(1)])]],
    ["noShadow", [solved("A", "x", 0.8), hinted("B", "x", 0.6, [score(1)])]],
    ["noHint", [hinted("A", "x", 0.1, [score(1)], 0.2), solved("B", "x")]],
    ["allCensored", [hinted("A", "x", 0.1, [censored], 0.2), hinted("B", "x", 0.6, [score(1)])]],
    ["noCommonMaze", [hinted("A", "x", 0.1, [score(1)], 0.2), hinted("B", "y", 0.6, [score(1)])]],
    ["noCommonMaze", [missing("A", "x"), hinted("B", "x", 0.6, [score(1)])]],
    ["baselineAtMaximum", [hinted("A", "x", 0.1, [score(1)], 0.9), hinted("B", "x", 0.6, [score(1)])]],
  ] as const)("is null with the reason %s", (why, rows) => {
    expect(summarise(rows).tiNorm).toMatchObject({ value: null, why });
  });
});

describe("ΔMEI", () => {
  const mazes = ["a", "b", "c", "d", "e", "f"];

  it("is paired by maze, and detectable where its interval leaves 0 out", () => {
    const rows = mazes.flatMap((key, at) => [
      hinted("A", key, 0.1 * at, []),
      hinted("B", key, 0.1 * at + 0.2 + 0.01 * at, [score(1)]),
    ]);
    const { deltaMei, noDetectableEffect } = summarise([...rows, solved("A", "only in A")]);
    expect(deltaMei).toMatchObject({ n: 6, missing: 1 });
    expect(deltaMei.mean).toBeCloseTo(0.225, 12);
    expect(deltaMei.lo).toBeGreaterThan(0.2);
    expect(noDetectableEffect).toBe(false);
  });

  it("says that no effect is detectable where the interval covers 0", () => {
    const rows = mazes.flatMap((key, at) => [solved("A", key, 0.5), solved("B", key, at % 2 === 0 ? 0.4 : 0.6)]);
    expect(summarise(rows).noDetectableEffect).toBe(true);
    expect(summarise(mazes.flatMap((key) => [solved("A", key), solved("B", key)])).noDetectableEffect).toBe(true);
  });

  it("says nothing on a single maze", () => {
    expect(summarise([solved("A", "x"), solved("B", "x")]).noDetectableEffect).toBeNull();
  });
});

describe("the groups", () => {
  it("count what became of their trials; a missing one enters no mean and no share", () => {
    const noWalk: AriadneRow = hinted("B", "z", 0, []);
    const { groups } = summarise([
      solved("B", "x"),
      hinted("B", "x", 0.3, [score(1), score(0)]),
      { ...noWalk, record: noWalk.record && { ...noWalk.record, noWalk: true, triggers: [] } },
      missing("B", "y"),
    ]);
    expect(groups.B).toMatchObject({ trials: 4, missing: 1, mazes: 3, records: 3, solvedAtOnce: 1, noWalk: 1 });
    expect(groups.B).toMatchObject({ triggered: 1, shareSolvedAtOnce: 1 / 3, shareTriggered: 1 / 3, turns: 2 });
    expect(groups.B.mei).toBeCloseTo(0.3, 12);
    expect(groups.A).toMatchObject({ trials: 0, records: 0, mei: null, shareTriggered: null });
  });
});

describe("summariseAriadne", () => {
  const rows = ["a", "b", "c"].flatMap((key, at) => [
    hinted("A", key, 0.1 * at, [score(0)], 0.1),
    hinted("B", key, 0.2 * at, [score(0.4)]),
    { ...solved("B", key), model: "another" },
  ]);

  it("gives one summary a model, by name", () => {
    const summaries = summariseAriadne(rows, { random: createRandom(1) });
    expect(summaries.map(({ model }) => model)).toEqual(["another", "m"]);
    expect(summariseAriadne([], { random: createRandom(1) })).toEqual([]);
  });

  it("does not depend on the order of its rows", () => {
    const once = summariseAriadne(rows, { random: createRandom(1) });
    expect(summariseAriadne(rows.toReversed(), { random: createRandom(1) })).toEqual(once);
  });
});
