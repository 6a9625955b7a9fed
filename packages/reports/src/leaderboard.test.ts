import { answerKind } from "@hallumaze/trials";
import { describe, expect, it } from "vitest";

import { createLeaderboard, leaderboard, type LeaderboardOptions } from "./leaderboard.ts";
import type { ReportRow } from "./report-row.ts";
import { missingRow, reportRow } from "./row.fixture.ts";

const quick: LeaderboardOptions = { replicates: 500 };
const silent = { sr: 0, mei: 0, hrr: 0, ce: null, brs: null, score: 0.15 } as const;

describe("answers and gaps", () => {
  it("a trial lost to an outage is in no mean; coverage and bounds show it", () => {
    const [row] = ranked([
      reportRow(),
      reportRow({ plan: { seed: 2002 } }),
      missingRow({ plan: { seed: 3003 } }),
      missingRow(),
    ]);
    expect(row).toMatchObject({ planned: 4, answered: 2, coverage: 0.5 });
    expect(row?.sr).toMatchObject({ mean: 1, n: 2 });
    expect(row?.meiRobust.mean).toBe(1);
    expect(row?.bounds).toEqual({ sr: [0.5, 1], meiRobust: [0.5, 1] });
  });

  it("a model's own non-answer counts 0, and the figure without it stands beside", () => {
    const refusal = reportRow({ outcome: "refused", plan: { seed: 2002 }, seedScores: silent, robustMei: 0 });
    const [row] = ranked([reportRow(), refusal]);
    expect(row).toMatchObject({ answered: 2, coverage: 1, nonAnswers: 1, cutOffs: 0 });
    expect(row?.sr.mean).toBe(0.5);
    expect(row?.meiRobust.mean).toBe(0.5);
    expect(row?.all.ce).toEqual({ mean: 0.1, n: 1, missing: 1 });
    expect(row?.fullOnly.sr).toEqual({ mean: 1, n: 1, missing: 0 });
  });

  it.each([
    ["ok", {}, "full"],
    ["truncated", {}, "cutOff"],
    ["truncated_in_reasoning", silent, "nonAnswer"],
    ["empty", silent, "nonAnswer"],
    ["refused", silent, "nonAnswer"],
    ["parse_failed", silent, "nonAnswer"],
  ] as const)("an answer %s with %j is of kind %3$s", (outcome, seedScores, kind) => {
    expect(answerKind(reportRow({ outcome, seedScores }))).toBe(kind);
  });

  it.each(["planned", "queued", "running", "failed", "cancelled", "blocked"])("a %s trial is missing", (state) => {
    expect(answerKind(missingRow({ state }))).toBe("missing");
  });

  it("a model without any answer has no rank and no figure, not 0", () => {
    const [first, last] = ranked([missingRow({ alias: "gone" }), reportRow({ robustMei: 0 })]);
    expect(first).toMatchObject({ alias: "sim/oracle", rank: 1 });
    expect(last).toMatchObject({ alias: "gone", rank: null, coverage: 0, mazes: 0 });
    expect(last?.meiRobust).toEqual({ mean: null, n: 0, missing: 0, low: null, high: null });
  });
});

describe("ranks and means", () => {
  it("ranks by robust MEI where the seed's MEI cannot tell models apart, and ties share a rank", () => {
    const rows = ranked([
      reportRow({ alias: "c", robustMei: 0.2 }),
      reportRow({ alias: "b", robustMei: 0.8 }),
      reportRow({ alias: "a", robustMei: 0.8 }),
    ]);
    expect(rows.map(({ rank, alias }) => [rank, alias])).toEqual([
      [1, "a"],
      [1, "b"],
      [3, "c"],
    ]);
    expect(rows.map(({ meiSeed }) => meiSeed.mean)).toEqual([0.9, 0.9, 0.9]);
  });

  it("averages repeats within their maze first", () => {
    const [row] = ranked([
      reportRow({ robustMei: 0 }),
      reportRow({ robustMei: 0, plan: { repeat: 1 } }),
      reportRow({ robustMei: 0, plan: { repeat: 2 } }),
      reportRow({ robustMei: 1, plan: { seed: 2002 } }),
    ]);
    expect(row?.meiRobust).toMatchObject({ mean: 0.5, n: 4 });
    expect(row?.mazes).toBe(2);
  });

  it("the interval of SR is Wilson's: 7 of 10 lie in 0.3968 … 0.8922", () => {
    const rows = Array.from({ length: 10 }, (_, seed) =>
      reportRow({ plan: { seed }, seedScores: { sr: seed < 7 ? 1 : 0 } }),
    );
    const [row] = ranked(rows);
    expect(row?.sr.mean).toBe(0.7);
    expect(row?.sr.low).toBeCloseTo(0.3968, 4);
    expect(row?.sr.high).toBeCloseTo(0.8922, 4);
  });

  it("repeats of one maze narrow no interval of MEI: the maze is the unit", () => {
    const once = [0.1, 0.3, 0.5, 0.7].map((robustMei, seed) => reportRow({ robustMei, plan: { seed } }));
    const often = Array.from({ length: 25 }, (_, repeat) =>
      once.map((row) => ({ ...row, plan: { ...row.plan, repeat } })),
    ).flat();
    const [few] = ranked(once);
    const [many] = ranked(often);
    expect(many?.meiRobust.low).toBeCloseTo(few?.meiRobust.low ?? Number.NaN, 12);
    expect(many?.meiRobust.high).toBeCloseTo(few?.meiRobust.high ?? Number.NaN, 12);
    expect(few?.meiRobust.low).toBeLessThan(0.3);
    expect(few?.meiRobust.high).toBeGreaterThan(0.5);
  });

  it("the order in which rows come changes nothing", () => {
    const rows = [0.1, 0.9, 0.4, 0.6, 0.3].flatMap((robustMei, seed) => [
      reportRow({ robustMei, plan: { seed } }),
      reportRow({ robustMei: robustMei / 2, plan: { seed }, alias: "b" }),
    ]);
    expect(ranked(rows.toReversed())).toEqual(ranked(rows));
  });

  it("splits by the conditions asked for", () => {
    const rows = ranked([reportRow(), reportRow({ plan: { mirage: false, size: 7 } })], {
      ...quick,
      splitBy: ["size", "mirage"],
    });
    expect(rows.map(({ condition }) => condition)).toEqual(["size=5 mirage=on", "size=7 mirage=off"]);
  });

  it("takes a stream of pages", async () => {
    const rows = await leaderboard(pagesOf([[reportRow()], [], [reportRow({ plan: { seed: 2 } })]]), quick);
    expect(rows.map(({ answered }) => answered)).toEqual([2]);
  });
});

function ranked(rows: readonly ReportRow[], options: LeaderboardOptions = quick) {
  const board = createLeaderboard(options);
  for (const row of rows) board.add(row);
  return board.rank();
}

async function* pagesOf(pages: readonly (readonly ReportRow[])[]): AsyncGenerator<readonly ReportRow[]> {
  yield* pages;
}
