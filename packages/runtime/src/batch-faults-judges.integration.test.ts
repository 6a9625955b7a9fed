// A batch worker killed, as by kill -9, before and after each step of a judge's batch; another takes up what it left.
import { randomUUID } from "node:crypto";

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { type BatchStage, openBatchStage } from "../test/batch-stage.ts";
import { killedAt } from "../test/killed-at.ts";

/** What differs where the rows are requests to a judge, beside what a trial's batch goes through too. */
const judgeCalls = [
  "claimJudge",
  "openBatch",
  "addToBatch",
  "sealBatch",
  "takeBatch",
  "listRows",
  "beginSubmission",
  "submit",
  "bindBatch",
  "look",
  "results",
  "findRows",
  "findJudgeClaim",
  "recordJudgement",
  "requestJudgements",
  "endJudge",
  "landRows",
  "finishBatch",
] as const;
const judgePoints = judgeCalls.flatMap((call) => [["before", call] as const, ["after", call] as const]);

describe("a batch worker killed over a judge's batch", () => {
  const judge = "anthropic/claude-haiku-4-5-judge";
  const closers: (() => Promise<void>)[] = [];
  let stage: BatchStage;
  beforeAll(async () => {
    stage = await openBatchStage({}, (close) => closers.unshift(close));
    stage.workPaced();
    stage.workJudges();
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });

  it.each(judgePoints)(
    "%s %s leaves each result judged once, as often asked as due, and exact books",
    async (when, call) => {
      const madeBefore = stage.made().length;
      // Where a further opinion is asked, its batch is a second one.
      const opinions = call === "requestJudgements" ? 2 : 1;
      const { sweepId } = await stage.submit(3, {
        models: ["sim/dfs-honest"],
        // Its own also where the test is tried again: what the first try left is another sweep's.
        name: `judged ${when} ${call} ${randomUUID().slice(0, 8)}`,
        spec: {
          judge: { models: [{ model: judge, mode: "batch" }], consensusBelow: opinions === 2 ? 1 : 0 },
          prices: { [judge]: { input: 1, output: 5 } },
        },
      });
      await vi.waitFor(async () => expect((await stage.judgements(sweepId)).states).toEqual({ queued: 3 }), {
        timeout: 20_000,
        interval: 30,
      });
      await killedAt({ databaseUrl: stage.databaseUrl, variables: stage.mock.environment(), call, when });
      const heir = stage.workBatches();
      try {
        await vi.waitFor(async () => expect((await stage.judgements(sweepId)).states).toEqual({ done: 3 * opinions }), {
          timeout: 20_000,
          interval: 30,
        });
      } finally {
        await heir.drain(2000);
      }
      const made = stage.made().slice(madeBefore);
      // A claim that was on its way when its worker died is found later, and may come in a batch of its own.
      expect(made.reduce((sum, { rows }) => sum + rows, 0)).toBe(3 * opinions);
      const { rows } = await stage.judgements(sweepId);
      expect(rows.map(({ decidedBy, status, batched, late }) => ({ decidedBy, status, batched, late }))).toEqual(
        Array.from({ length: 3 * opinions }, () => ({
          decidedBy: "judge",
          status: "verdict",
          batched: true,
          late: false,
        })),
      );
      const billed = made.reduce(
        (sum, { inputTokens, outputTokens }) => sum + inputTokens * 0.5e-6 + outputTokens * 2.5e-6,
        0,
      );
      const { spentUsd, reservedUsd, open } = await stage.accounts(sweepId);
      expect(spentUsd).toBeCloseTo(billed, 12);
      expect(rows.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0)).toBeCloseTo(billed, 12);
      expect({ reservedUsd, open }).toEqual({ reservedUsd: 0, open: 0 });
    },
  );
});
