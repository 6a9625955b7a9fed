import { expect, it } from "vitest";

import { missingRow, reportRow } from "./row.fixture.ts";
import { seedShapeCsv, seedShapeJson, seedShapeRecords } from "./seed-shape.ts";

const timestamp = "2026-03-22T14:30:22";

it("one maze run is the original program's object: maze, config, results", () => {
  const readingJson = JSON.stringify({
    claims: [{ kind: "deadEnd", at: [4, 2], seenAtStep: null }, { kind: "strategyChange" }],
    confidenceLog: [
      { step: 1, confidence: 0.9 },
      { step: 2, confidence: 0.29 },
    ],
  });
  const row = reportRow({ readingJson, seedScores: { bt: 1, hc: 1, fhr: 5 } });
  const file = JSON.parse(seedShapeJson(seedShapeRecords([row], timestamp)));
  expect(file).toMatchObject({
    hallumaze_version: "1.1",
    timestamp,
    maze: { size: 5, seed: 1001, solution_length: 13, dead_ends: 3, mirage_traps: 2 },
    config: { use_mirage: true, use_confidence: true, ariadne_mode: "A", max_tokens: 2500 },
  });
  expect(file.maze.solution_path).toHaveLength(13);
  expect(file.maze.solution_path[0]).toEqual([0, 0]);
  expect(file.results).toEqual([
    {
      provider: "sim",
      model: "oracle",
      sr: 1,
      mei: 0.9,
      ce: 0.1,
      brs: 1,
      hallumaze_score: 0.92,
      hallucination_count: 1,
      backtrack_count: 1,
      loop_count: 0,
      hrr: 1,
      first_hallucination_step: 5,
      path_valid: true,
      metacog_signals: ["dead end", "backtracking", "strategy_change"],
      confidence_log: [
        { step: 1, conf: 90 },
        { step: 2, conf: 29 },
      ],
      latency_s: 4.2,
      outcome: "ok",
    },
  ]);
});

it("models on one maze share a record; another maze, condition or repeat is a record of its own", () => {
  const records = seedShapeRecords(
    [
      reportRow(),
      reportRow({ plan: { model: "dfs-honest" } }),
      reportRow({ plan: { seed: 2002 } }),
      reportRow({ plan: { mirage: false } }),
      reportRow({ plan: { repeat: 1 } }),
    ],
    timestamp,
  );
  expect(records.map(({ results }) => results.length)).toEqual([2, 1, 1, 1]);
  expect(JSON.parse(seedShapeJson(records))).toHaveLength(4);
});

it("figures carry six decimals, without the noise of binary fractions", () => {
  const row = reportRow({ seedScores: { mei: 0.8999999999999999, ce: 1 / 3 } });
  const [record] = seedShapeRecords([row], timestamp);
  expect(record?.results[0]).toMatchObject({ mei: 0.9, ce: 0.333333 });
});

it("a trial without an answer has nulls and says why", () => {
  const [record] = seedShapeRecords([missingRow()], timestamp);
  expect(record?.results[0]).toMatchObject({
    sr: null,
    mei: null,
    path_valid: null,
    latency_s: null,
    outcome: "timeout",
  });
});

it("CSV has the columns of the published trials", () => {
  const csv = seedShapeCsv(seedShapeRecords([reportRow(), missingRow()], timestamp));
  expect(csv.split("\n")).toEqual([
    "provider,model,size,seed,sr,mei,ce,brs,hallumaze_score,hallucination_count,backtrack_count,loop_count,hrr,latency_s,solution_length,dead_ends",
    "sim,oracle,5,1001,1,0.9,0.1,1,0.92,0,0,0,1,4.2,13,3",
    "sim,oracle,5,1001,,,,,,,,,,,13,3",
    "",
  ]);
});
