import type { OpenTrial, RequestIntent, SweepMoney } from "@hallumaze/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { cell, claim, done, exchange, only, openStage, type Stage, submit } from "../test/ledger-stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const intent = (
  held: { readonly trialId: string; readonly fence: number },
  boundUsd: string | null,
): RequestIntent => ({
  trialId: held.trialId,
  fence: held.fence,
  turn: 0,
  tryNumber: 1,
  workerId: "host/1/1",
  boundUsd,
});

async function begin(name: string, cells: number, budgetUsd: string | null) {
  const all = Array.from({ length: cells }, (_, index) => cell(`${name} ${index}`));
  const { sweep, queued } = await submit(stage.store, name, all, { budgetUsd });
  const money = async (): Promise<SweepMoney> => (await stage.store.progress(sweep.sweepId)).money;
  return {
    sweep,
    queued,
    money,
    hold: (trial: OpenTrial | undefined) => claim(stage.store, only(trial ? [trial] : [])),
  };
}

describe("openRequest", () => {
  it("charges a request at its bound, once however often it is told, and settles it with what it cost", async () => {
    const { queued, money, hold } = await begin("charged once", 1, "1");
    const held = await hold(queued[0]);
    const asked = intent(held, "0.03");
    expect(await stage.store.openRequest(asked)).toEqual({ kind: "open" });
    expect(await stage.store.openRequest(asked)).toEqual({ kind: "open" });
    expect(await money()).toMatchObject({ budgetUsd: "1", spentUsd: "0", open: { count: 1, boundUsd: "0.03" } });
    await stage.store.recordExchange(exchange(held, { costUsd: "0.020000000001" }));
    expect(await money()).toMatchObject({ spentUsd: "0.020000000001", open: { count: 0, boundUsd: "0" } });
  });

  it("lets no two of many at once take the last of the budget", async () => {
    const { queued, money } = await begin("many at once", 60, "1");
    const other = await stage.openAnother();
    const stores = [stage.store, other];
    const answers = await Promise.all(
      queued.map(async (trial, index) => {
        const store = stores[index % 2] ?? stage.store;
        return store.openRequest(intent(await claim(store, trial), "0.03"));
      }),
    );
    expect(answers.filter(({ kind }) => kind === "open")).toHaveLength(33);
    expect(answers.filter(({ kind }) => kind === "later")).toHaveLength(27);
    expect((await money()).open).toEqual({ count: 33, boundUsd: "0.99" });
  });

  it("says that the budget is spent only where nothing is under way that may leave room", async () => {
    const { queued, money, hold } = await begin("spent", 2, "0.05");
    const [first, second] = [await hold(queued[0]), await hold(queued[1])];
    expect(await stage.store.openRequest(intent(first, "0.04"))).toEqual({ kind: "open" });
    expect(await stage.store.openRequest(intent(second, "0.04"))).toEqual({ kind: "later" });
    await stage.store.recordExchange(exchange(first, { costUsd: "0.03" }));
    expect(await stage.store.openRequest(intent(second, "0.04"))).toEqual({
      kind: "exhausted",
      budgetUsd: "0.05",
      committedUsd: "0.03",
    });
    expect(await stage.store.openRequest(intent(second, "0.02"))).toEqual({ kind: "open" });
    expect((await money()).open.boundUsd).toBe("0.02");
  });

  it("admits nothing of unknown price under a budget, and everything without one", async () => {
    const capped = await begin("unpriced and capped", 1, "5");
    expect((await stage.store.openRequest(intent(await capped.hold(capped.queued[0]), null))).kind).toBe("exhausted");
    const free = await begin("unpriced and free", 1, null);
    expect(await stage.store.openRequest(intent(await free.hold(free.queued[0]), null))).toEqual({ kind: "open" });
  });

  it("refuses a claim that was lost", async () => {
    const { queued, hold } = await begin("lost claim", 1, null);
    const held = await hold(queued[0]);
    await stage.store.reclaimLost(() => true);
    expect(await stage.store.openRequest(intent(held, "0.01"))).toEqual({ kind: "lost" });
  });

  it("keeps what a dead worker had sent on the books, until its reply comes after all", async () => {
    const { queued, money, hold } = await begin("dead worker", 1, "1");
    const held = await hold(queued[0]);
    await stage.store.openRequest(intent(held, "0.03"));
    await stage.store.reclaimLost(() => true);
    expect(await money()).toMatchObject({
      spentUsd: "0",
      open: { count: 0, boundUsd: "0" },
      lost: { count: 1, boundUsd: "0.03", unpriced: 0 },
    });
    expect(await stage.store.recordExchange(exchange(held, { costUsd: "0.01" }))).toBe("late");
    expect(await money()).toMatchObject({ spentUsd: "0.01", lost: { count: 0, boundUsd: "0" } });
  });

  it("takes back what was not sent, and counts a failed request of unknown cost at its bound", async () => {
    const { queued, money, hold } = await begin("not sent", 1, "1");
    const held = await hold(queued[0]);
    await stage.store.openRequest(intent(held, "0.03"));
    await stage.store.cancelRequest(intent(held, "0.03"));
    expect(await money()).toMatchObject({ spentUsd: "0", open: { count: 0, boundUsd: "0" } });
    await stage.store.openRequest(intent(held, "0.03"));
    const lost = exchange(held, { text: null, outcome: "timeout", errorMessage: "idle", costBoundUsd: "0.03" });
    await stage.store.recordExchange(lost);
    await stage.store.recordExchange(lost);
    expect(await money()).toMatchObject({ spentUsd: "0.03", open: { count: 0, boundUsd: "0" } });
  });

  it("puts trials that the budget blocked back once it is raised, and not before", async () => {
    const { sweep, queued, hold } = await begin("raised", 1, "0.01");
    const held = await hold(queued[0]);
    await stage.store.endTry(held.trialId, held.fence, {
      kind: "blocked",
      outcome: "budget_blocked",
      message: "spent",
    });
    const again = (budgetUsd: string) => submit(stage.store, "raised", [cell("raised 0")], { budgetUsd });
    await stage.sql("UPDATE sweeps SET spent_usd = 0.01 WHERE id = $1", [sweep.sweepId]);
    expect(await stage.store.unblockBudget(sweep.sweepId)).toEqual([]);
    await again("0.02");
    expect(await stage.store.unblockBudget(sweep.sweepId)).toMatchObject([{ trialId: held.trialId }]);
  });
});

describe("a conversation of several turns", () => {
  it("keeps the turns that stand through retries, and gives a later try only those", async () => {
    const { queued, hold } = await begin("kept turns", 1, null);
    const trial = queued[0];
    const first = await hold(trial);
    await stage.store.recordExchange(exchange(first, { text: "first answer" }));
    await stage.store.recordExchange(
      exchange(first, { turn: 1, text: null, outcome: "overloaded", errorMessage: "529" }),
    );
    const retry = { kind: "retry", outcome: "overloaded", message: "529", spends: "try", afterMs: 0 } as const;
    await stage.store.endTry(first.trialId, first.fence, { ...retry, keptTurns: 1 });
    const second = await hold(trial);
    expect(second.recorded).toMatchObject([{ turn: 0, text: "first answer" }]);
    expect(second.recordedFailure).toBeNull();
    await stage.store.recordExchange(exchange(second, { turn: 1, text: "" }));
    await stage.store.endTry(second.trialId, second.fence, {
      ...retry,
      outcome: "empty",
      spends: "empty",
      keptTurns: 1,
    });
    const third = await hold(trial);
    expect(third.recorded.map(({ turn }) => turn)).toEqual([0]);
    await stage.store.recordExchange(exchange(third, { turn: 1, text: "second answer" }));
    const fourth = await reclaimed(third.trialId);
    expect(fourth.recorded.map(({ text }) => text)).toEqual(["first answer", "second answer"]);
    await stage.store.endTry(fourth.trialId, fourth.fence, done());
    const sweep = await stage.store.findSweep("kept turns");
    for await (const page of stage.store.streamReplies(sweep?.sweepId ?? "", 10)) {
      expect(page.map(({ replies }) => replies.map(({ text }) => text))).toEqual([["first answer", "second answer"]]);
    }
  });

  it("is asked whole again where its first answer did not stand", async () => {
    const { queued, hold } = await begin("first answer empty", 1, null);
    const first = await hold(queued[0]);
    await stage.store.recordExchange(exchange(first, { text: "" }));
    const retry = { kind: "retry", outcome: "empty", message: "", spends: "empty", afterMs: 0, keptTurns: 0 } as const;
    await stage.store.endTry(first.trialId, first.fence, retry);
    expect((await hold(queued[0])).recorded).toEqual([]);
  });
});

async function reclaimed(trialId: string) {
  const back = (await stage.store.reclaimLost(() => true)).filter((trial) => trial.trialId === trialId);
  return claim(stage.store, only(back));
}
