import { createRandom } from "@hallumaze/foundation";
import { trialTable } from "@hallumaze/trials";
import { describe, expect, it } from "vitest";

import { madeRow } from "../test/made-rows.ts";
import { estimateIn, rowOf } from "../test/read-tables.ts";
import { measureMirage } from "./mirage-effect.ts";
import { findMissingClusters } from "./missing-alarm.ts";
import { isOffZero } from "./wording.ts";

describe("where no effect was built in", { timeout: 120_000 }, () => {
  it("a 5 % test alarms in at most 7.5 % of 500 seeded repetitions, and its interval leaves out 0 no oftener", () => {
    const random = createRandom(20_260_322);
    let [alarms, offZero, both] = [0, 0, 0];
    for (let repetition = 0; repetition < 500; repetition++) {
      // A difficulty of each maze that both conditions share, and noise of each trial, as two peaks of MEI.
      const rows = Array.from({ length: 30 }, (_, seed) => {
        const solves = random.fraction();
        return [true, false].map((mirage) =>
          madeRow({ plan: { seed, mirage }, scores: { mei: random.fraction() < solves ? 0.9 : 0.23 } }),
        );
      }).flat();
      const result = measureMirage(trialTable(rows), { seed: String(repetition), resamples: 200, permutations: 199 });
      const found = rowOf(result, "mirage", { metric: "robust MEI" });
      if ((found["p"] as number) <= 0.05) alarms += 1;
      if (isOffZero(estimateIn(found, "difference")) === true) offZero += 1;
      if (result.reading[0]?.includes("cost it") || result.reading[0]?.includes("gained")) both += 1;
    }
    expect(alarms / 500).toBeLessThanOrEqual(0.075);
    expect(alarms / 500).toBeGreaterThan(0.01);
    expect(offZero / 500).toBeLessThanOrEqual(0.09);
    expect(both / 500).toBeLessThanOrEqual(0.075);
  });

  it("answers lost by chance raise the alarm of missing ones in at most 2 of 200 repetitions", () => {
    const random = createRandom(7);
    let alarms = 0;
    for (let repetition = 0; repetition < 200; repetition++) {
      const rows = Array.from({ length: 20 }, (_, seed) =>
        ["a", "b", "c"].flatMap((alias) =>
          [true, false].map((mirage) => {
            const row = madeRow({ alias, plan: { seed, mirage } });
            return random.fraction() < 0.1 ? { ...row, state: "failed", outcome: "timeout", scores: {} } : row;
          }),
        ),
      ).flat();
      if (findMissingClusters(trialTable(rows)).length > 0) alarms += 1;
    }
    expect(alarms).toBeLessThanOrEqual(2);
  });
});
