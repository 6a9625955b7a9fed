// A batch worker killed, as by kill -9, before and after each step of its work; another takes up what it left.
import { randomUUID } from "node:crypto";

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { type BatchStage, openBatchStage } from "../test/batch-stage.ts";
import { killedAt } from "../test/killed-at.ts";

/** Every call of a batch's way, in its order: gathering, submitting, looking, landing, scoring. */
const calls = [
  "claim",
  "openBatch",
  "addToBatch",
  "sealBatch",
  "takeBatch",
  "listRows",
  "beginSubmission",
  "submit",
  "bindBatch",
  "releaseBatch",
  "look",
  "results",
  "findRows",
  "recordExchange",
  "landRows",
  "finishBatch",
  "endTry",
] as const;
/** All of them with one vendor, and with the others those at which their protocols differ. */
const points = [
  ...calls.flatMap((call) => [["anthropic", "before", call] as const, ["anthropic", "after", call] as const]),
  ...(["openai", "google"] as const).flatMap((vendor) => [
    [vendor, "before", "submit"] as const,
    [vendor, "after", "submit"] as const,
    [vendor, "before", "bindBatch"] as const,
    [vendor, "after", "results"] as const,
  ]),
];
/** US dollars for a token in a batch. */
const tariffs = {
  anthropic: { input: 0.5e-6, output: 2.5e-6 },
  openai: { input: 1.25e-6, output: 5e-6 },
  google: { input: 0.15e-6, output: 1.25e-6 },
} as const;

describe("a batch worker killed", () => {
  const closers: (() => Promise<void>)[] = [];
  let stage: BatchStage;
  beforeAll(async () => {
    stage = await openBatchStage({}, (close) => closers.unshift(close));
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });

  it.each(points)(
    "(%s) %s %s leaves one batch in all, each row landed once, and exact books",
    async (vendor, when, call) => {
      const madeBefore = stage.made().length;
      // Its own also where the test is tried again: what the first try left is another sweep's.
      const name = `killed ${when} ${call} ${vendor} ${randomUUID().slice(0, 8)}`;
      const sweepId = await stage.submitBatched(4, { vendor, name });
      await killedAt({ databaseUrl: stage.databaseUrl, variables: stage.mock.environment(), call, when });
      const heir = stage.workBatches();
      try {
        await vi.waitFor(async () => expect((await stage.accounts(sweepId)).states).toEqual({ done: 4 }), {
          timeout: 20_000,
          interval: 30,
        });
      } finally {
        await heir.drain(2000);
      }
      const made = stage.made().slice(madeBefore);
      expect(made.map(({ rows, ends }) => ({ rows, ends }))).toEqual([{ rows: 4, ends: { answered: 4 } }]);
      const { spentUsd, costUsd, ...books } = await stage.accounts(sweepId);
      expect(books).toEqual({
        states: { done: 4 },
        exchanges: { reply: 4 },
        live: 0,
        late: 0,
        scored: 4,
        reservedUsd: 0,
        open: 0,
      });
      const billed = made.reduce(
        (sum, { inputTokens, outputTokens }) =>
          sum + inputTokens * tariffs[vendor].input + outputTokens * tariffs[vendor].output,
        0,
      );
      expect(spentUsd).toBeCloseTo(billed, 12);
      expect(costUsd).toBeCloseTo(billed, 12);
    },
  );
});
