import { comparisonView, leaderboardView } from "@hallumaze/contract";
import { compareModels } from "@hallumaze/experiments";
import { trialTable } from "@hallumaze/trials";
import { describe, expect, it } from "vitest";

import { simRows } from "../test/sim-rows.ts";
import { viewComparison, viewLeaderboard } from "./view-leaderboard.ts";

const rows = [
  ...simRows(8, { solver: "dfs-honest" }),
  ...simRows(8, { solver: "random-walk" }),
  ...simRows(8, { solver: "random-walk", mirage: false }),
];
const table = trialTable(rows);
const options = { resamples: 300, permutations: 300 };
const pause = async () => undefined;

describe("the leaderboard of the page", () => {
  it("has the numbers of the report's first table", async () => {
    const view = await viewLeaderboard(table, { sweep: "s", profile: "robust", filter: {} }, pause, options);
    expect(leaderboardView.parse(view)).toEqual(view);
    const report = compareModels(table, options);
    const [first] = report.tables;
    for (const { model, mei } of view.rows) {
      const row = first?.rows.find((one) => Object.values(one).includes(model));
      expect(Object.values(row ?? {})).toContainEqual({ value: mei.value, lo: mei.lo, hi: mei.hi });
    }
  });

  it("ranks by the profile's MEI, and counts what is filtered only", async () => {
    const all = await viewLeaderboard(table, { sweep: "s", profile: "seed", filter: {} }, pause, options);
    expect(all.rows.map(({ rank, model, planned }) => [rank, model, planned])).toEqual([
      [1, "dfs-honest", 8],
      [2, "random-walk", 16],
    ]);
    expect(all.choices).toEqual({ sizes: [5], groups: ["A"], mirages: [false, true], languages: ["en"] });
    const plain = await viewLeaderboard(
      table,
      { sweep: "s", profile: "seed", filter: { mirage: false } },
      pause,
      options,
    );
    expect(plain.rows.map(({ model, planned }) => [model, planned])).toEqual([["random-walk", 8]]);
  });

  it("leaves CE unknown in the published profile, and never 0", async () => {
    const view = await viewLeaderboard(table, { sweep: "s", profile: "published", filter: {} }, pause, options);
    expect(view.rows.map(({ ce }) => [ce.value, ce.n, ce.method])).toEqual([
      [null, 0, null],
      [null, 0, null],
    ]);
  });

  it("shows missing trials in coverage and bounds, not in the mean", async () => {
    const missing = rows.slice(0, 4).map((row) => ({ ...row, state: "failed", outcome: "timeout", scores: {} }));
    const some = trialTable([...missing, ...rows.slice(4, 8)]);
    const view = await viewLeaderboard(some, { sweep: "s", profile: "robust", filter: {} }, pause, options);
    expect(view.rows[0]).toMatchObject({ planned: 8, answered: 4, coverage: 0.5 });
    expect(view.rows[0]?.bounds.sr).toEqual([0.5, 1]);
  });
});

describe("the comparison of two models", () => {
  const wish = { sweep: "s", a: "dfs-honest", b: "random-walk", metric: "mei", profile: "robust", filter: {} } as const;

  it("pairs them on their common mazes and conditions, and says what it shows", () => {
    const view = viewComparison(table, wish, options);
    expect(comparisonView.parse(view)).toEqual(view);
    expect(view).toMatchObject({ mazes: 8, better: "high" });
    expect(view?.differences).toHaveLength(8);
    expect(view?.reading).toContain("dfs-honest is better than random-walk");
    const turned = viewComparison(table, { ...wish, a: wish.b, b: wish.a }, options);
    expect(turned?.difference.value).toBeCloseTo(-(view?.difference.value ?? 0), 12);
  });

  it("has no difference without a common maze, and none of a metric that the profile lacks", () => {
    const apart = viewComparison(table, { ...wish, filter: { mirage: false } }, options);
    expect(apart).toMatchObject({ difference: { value: null }, p: null, mazes: 0 });
    expect(apart?.reading).toContain("no maze in common");
    expect(viewComparison(table, { ...wish, metric: "ce", profile: "published" }, options)).toBeNull();
  });
});
