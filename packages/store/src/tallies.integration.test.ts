import { afterEach, beforeEach, expect, it } from "vitest";

import { cell, claim, done, exchange, only, openStage, type Stage, submit } from "../test/ledger-stage.ts";

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

/** The kept counts summed over their slots. */
async function tallies(): Promise<readonly unknown[]> {
  return Promise.all(
    [
      `SELECT sweep_id, alias, lane, state, outcome, in_grid, reused, sum(trials) AS trials FROM trial_tallies
       GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(trials) <> 0 ORDER BY 1, 2, 3, 4, 5, 6, 7`,
      `SELECT sweep_id, alias, lane, sum(requests) AS requests, sum(follow_ups) AS turns, sum(failed) AS failed, sum(late) AS late,
         sum(limiter_ms) AS waited, sum(cost_unknown) AS unknown, sum(cost_known) AS known, sum(cost_usd) AS usd
       FROM exchange_tallies GROUP BY 1, 2, 3 HAVING sum(requests) <> 0 ORDER BY 1, 2, 3`,
      `SELECT sweep_id, lane, state, outcome, sum(requests) AS requests FROM judge_tallies
       GROUP BY 1, 2, 3, 4 HAVING sum(requests) <> 0 ORDER BY 1, 2, 3, 4`,
    ].map((text) => stage.sql(text)),
  );
}

it("kept counts are those of a count anew, after claims, ends, retries, late replies, blocks and renamed models at once", async () => {
  const cells = Array.from({ length: 60 }, (_, n) => cell(`c${n}`, { ordinal: n, plan: { seed: n } }));
  const others = await Promise.all([1, 2, 3].map(() => stage.openAnother()));
  const { sweep, queued } = await submit(stage.store, "counted", cells);
  await Promise.all(
    queued.map(async (trial, n) => {
      const store = others[n % 3] ?? stage.store;
      const held = await claim(store, trial);
      const isAnswered = n % 3 !== 0;
      await store.recordExchange(
        exchange(held, {
          costUsd: n % 2 === 0 ? "0.001" : null,
          limiterMs: n,
          outcome: isAnswered ? null : "timeout",
          text: isAnswered ? "FINAL_PATH: (0,0)" : null,
        }),
      );
      await store.recordExchange(exchange({ ...held, fence: held.fence - 1 }, { turn: 1 }));
      await store.endTry(
        held.trialId,
        held.fence,
        isAnswered ? done() : { kind: "failed", outcome: "timeout", message: "late" },
      );
    }),
  );
  const heirs = await submit(stage.store, "heir", cells.slice(0, 30));
  await Promise.all([
    stage.store.requeue(sweep.sweepId, { states: ["failed"] }),
    stage.store.blockLane("sim.dfs", "auth", "no key"),
    submit(
      others[0] ?? stage.store,
      "counted",
      cells.slice(10).map((one) => ({ ...one, alias: "renamed", lane: "sim.other" })),
    ),
    stage.store.saveScores(
      (await collectIds("done"))
        .slice(0, 5)
        .map((trialId) => ({ trialId, scored: { ...done().scored, outcome: "truncated" } })),
    ),
    stage.store.unblockLane("sim.dfs"),
  ]);
  const [result] = await stage.sql(
    "INSERT INTO results (trial_id) SELECT id FROM trials ORDER BY id LIMIT 1 RETURNING id",
  );
  await stage.sql(
    `INSERT INTO judge_requests (result_id, sweep_id, lane, request_key, plan_json)
     SELECT $1, $2, 'judge', n::text, '{}' FROM generate_series(1, 9) n`,
    [result?.["id"], heirs.sweep.sweepId],
  );
  await stage.sql("UPDATE judge_requests SET state = 'failed', outcome = 'timeout' WHERE request_key < '4'");
  const kept = await tallies();
  await stage.sql("UPDATE trial_tallies SET trials = trials + 1");
  await stage.store.recount();
  expect(kept).toEqual(await tallies());
  expect(await stage.store.judgeProgress(heirs.sweep.sweepId)).toMatchObject({ states: { planned: 6, failed: 3 } });
});

it("a recount beside writers loses nothing of theirs", async () => {
  const cells = Array.from({ length: 40 }, (_, n) => cell(`c${n}`, { ordinal: n, plan: { seed: n } }));
  const { queued } = await submit(stage.store, "written", cells);
  const other = await stage.openAnother();
  await Promise.all([
    ...queued.map(async (trial) => {
      const held = await claim(other, trial);
      await other.recordExchange(exchange(held));
      await other.endTry(held.trialId, held.fence, done());
    }),
    ...Array.from({ length: 5 }, () => stage.sql("SELECT hallumaze_recount()")),
  ]);
  const kept = await tallies();
  await stage.sql("SELECT hallumaze_recount()");
  expect(kept).toEqual(await tallies());
});

it("counts come from what is kept: a sweep is not read to be counted", async () => {
  const { sweep } = await submit(stage.store, "kept", [cell("a")]);
  await stage.sql("UPDATE trial_tallies SET trials = 1000000");
  const { models } = await stage.store.progress(sweep.sweepId);
  expect(only(models).states.queued).toBe(1_000_000);
});

async function collectIds(state: string): Promise<readonly string[]> {
  const rows = await stage.sql(
    "SELECT id::text FROM trials WHERE state = $1::trial_state AND source_trial_id IS NULL ORDER BY id",
    [state],
  );
  return rows.map((row) => String(row["id"]));
}
