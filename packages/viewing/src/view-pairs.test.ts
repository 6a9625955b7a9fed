import { pairList } from "@hallumaze/contract";
import { expect, it } from "vitest";

import { simPlan } from "../test/sim-dossier.ts";
import type { MazeRow } from "./ports.ts";
import { viewPairs } from "./view-pairs.ts";

it("says what differs of each trial on the maze, and puts mirage first", () => {
  const plan = simPlan("dfs-honest");
  const row = (trialId: string, change: Partial<MazeRow>): MazeRow => ({
    trialId,
    alias: "dfs-honest",
    size: 5,
    seed: 2002,
    group: "A",
    mirage: true,
    language: "en",
    confidence: true,
    repeat: 0,
    state: "done",
    outcome: "ok",
    sr: 1,
    mei: 0.5,
    ...change,
  });
  const view = viewPairs(
    { trialId: "own", alias: "dfs-honest", plan },
    [
      row("own", {}),
      row("both", { alias: "oracle", mirage: false }),
      row("again", { repeat: 1 }),
      row("other", { alias: "oracle" }),
      row("hinted", { group: "B" }),
      row("plain", { mirage: false }),
    ],
    [],
  );
  expect(pairList.parse(view)).toEqual(JSON.parse(JSON.stringify(view)));
  expect(view.pairs.map(({ trialId, relation }) => [trialId, relation])).toEqual([
    ["plain", "mirage"],
    ["other", "model"],
    ["again", "repeat"],
    ["both", "condition"],
    ["hinted", "condition"],
  ]);
});
