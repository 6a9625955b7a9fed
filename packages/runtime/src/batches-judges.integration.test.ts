// Judges asked in batches, through the vendors' SDKs and a real ledger: sessions of their own, verdicts as live ones.
import { describe, expect, it, vi } from "vitest";

import { type BatchStage, type Judgements, openBatchStage } from "../test/batch-stage.ts";
import { shortBatchTimes } from "../test/batch-times.ts";

const judge = "anthropic/claude-haiku-4-5-judge";
/** US dollars for a token of the judge, live. */
const prices = { [judge]: { input: 1, output: 5 } };
const usd = { input: 1e-6, output: 5e-6 } as const;
/** Wide limits: a live twin need not wait. */
const limits = { [judge]: { rpm: 6000, inputTpm: 10_000_000, outputTpm: 10_000_000 } };
const judged = (mode: "batch" | "live" = "batch") => ({
  spec: { judge: { models: [{ model: judge, mode }], consensusBelow: 0 }, prices, limits },
});

/** An answer that a judge has to be asked about. */
const answer = {
  when: { model: "*20251001" },
  reply: { text: "I went back to the junction because the branch was closed.\nFINAL_PATH: (0,0)→(0,1)" },
} as const;

/** Resolves once so many requests to judges are done, or failed; gives what came of them. */
async function settled(stage: BatchStage, sweepId: string, done: number, failed = 0): Promise<Judgements> {
  await vi.waitFor(
    async () =>
      expect((await stage.judgements(sweepId)).states).toEqual({
        done,
        ...(failed === 0 ? {} : { failed }),
      }),
    { timeout: 30_000, interval: 30 },
  );
  return stage.judgements(sweepId);
}

/** The bodies of the judges' rows in the submissions that reached the server, batch by batch. */
function judgeRows(stage: BatchStage): readonly (readonly { custom_id: string; params: JudgeParams }[])[] {
  return stage.mock
    .requests()
    .filter(({ method, path }) => method === "POST" && path.endsWith("/v1/messages/batches"))
    .map(
      ({ bodyText }) => (JSON.parse(bodyText) as { requests: { custom_id: string; params: JudgeParams }[] }).requests,
    )
    .filter(([first]) => first?.params.model.endsWith("judge"));
}

interface JudgeParams {
  readonly model: string;
  readonly system: unknown;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

describe("a judge in batches", () => {
  it("is asked in one batch of fresh sessions, gives the verdicts of a live one, and costs half", async () => {
    const stage = await openBatchStage({ script: [answer] });
    const sweepId = await stage.submitBatched(6, judged());
    stage.workBatches();
    stage.workJudges();
    const inBatch = await settled(stage, sweepId, 6);
    expect(stage.made().map(({ rows }) => rows)).toEqual([6, 6]);
    expect(stage.mock.counts().completed).toBe(0);
    const [rows = []] = judgeRows(stage);
    expect(new Set(rows.map(({ custom_id: id }) => id)).size).toBe(6);
    const nonces = rows.map(({ params }) => /[0-9a-f]{16,}/.exec(JSON.stringify(params.system))?.[0]);
    expect(new Set(nonces).size).toBe(6);
    for (const { params } of rows) {
      expect(params.messages.map(({ role }) => role)).toEqual(["user"]);
      const said = JSON.stringify(params);
      // Nothing of who answered, of its sweep, or of the other rows.
      expect(said).not.toMatch(/haiku-4-5-20251001|stage|Seed:/);
      expect(nonces.filter((nonce) => said.includes(nonce ?? "?"))).toHaveLength(1);
    }
    const called = inBatch.rows.filter(({ decidedBy }) => decidedBy === "judge");
    expect(called.every(({ batched, late }) => batched && !late)).toBe(true);
    for (const { costUsd, inputTokens, outputTokens } of called) {
      expect(costUsd).toBeCloseTo(((inputTokens ?? 0) * usd.input + (outputTokens ?? 0) * usd.output) / 2, 12);
    }
    const books = await stage.accounts(sweepId);
    const verdictsUsd = called.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
    expect(verdictsUsd).toBeGreaterThan(0);
    expect(books.spentUsd).toBeCloseTo(books.costUsd + verdictsUsd, 12);
    expect(books).toMatchObject({ reservedUsd: 0, open: 0 });

    // The same answers before the same judge, live: the same levels, at the whole price.
    const liveId = await stage.submitBatched(6, { name: "live judge", ...judged("live") });
    const live = await settled(stage, liveId, 6);
    const levels = (of: Judgements) => of.rows.map(({ seed, level, status }) => ({ seed, level, status }));
    expect(levels(live)).toEqual(levels(inBatch));
    expect(live.rows.every(({ batched }) => !batched)).toBe(true);
    expect(live.rows[0]?.costUsd).toBeCloseTo(2 * (inBatch.rows[0]?.costUsd ?? Number.NaN), 3);
    expect(stage.mock.counts().completed).toBe(6);
  });

  it("whose reply cannot be read is asked once more, for the form alone, in a further batch", async () => {
    const stage = await openBatchStage({
      script: [
        answer,
        { when: { model: "*judge" }, countBy: "rule", nth: [1, 2], reply: { text: "Level three, I should say." } },
      ],
    });
    const sweepId = await stage.submitBatched(2, judged());
    stage.workBatches();
    stage.workJudges();
    const { rows } = await settled(stage, sweepId, 2);
    expect(rows.map(({ seed, attempt, status, batched }) => ({ seed, attempt, status, batched }))).toEqual([
      { seed: 1, attempt: 1, status: "unscored", batched: true },
      { seed: 1, attempt: 2, status: "verdict", batched: true },
      { seed: 2, attempt: 1, status: "unscored", batched: true },
      { seed: 2, attempt: 2, status: "verdict", batched: true },
    ]);
    const [first = [], second = []] = judgeRows(stage);
    expect([first.length, second.length]).toEqual([2, 2]);
    // The second call is a session of its own too: it does not hold the first one's words.
    expect(JSON.stringify(second)).not.toContain("Level three");
    expect(second.map(({ params }) => params.messages.map(({ role }) => role))).toEqual([["user"], ["user"]]);
    expect(await stage.accounts(sweepId)).toMatchObject({ reservedUsd: 0, open: 0 });
  });

  it("with rows of every end keeps the others: what may come again goes again, and nothing is paid twice", async () => {
    const rows = [
      { nth: 1, end: "expired" },
      { nth: 2, end: "missing" },
      { nth: 3, end: "errored", error: "bad_request" },
    ] as const;
    const stage = await openBatchStage({ script: [answer], batches: [{ nth: 2, rows: [...rows], unknownRows: 1 }] });
    const sweepId = await stage.submitBatched(5, judged());
    stage.workBatches();
    stage.workJudges();
    const { rows: judgements } = await settled(stage, sweepId, 4, 1);
    const of = (decidedBy: string) => judgements.filter((one) => one.decidedBy === decidedBy);
    expect(of("judge")).toHaveLength(4);
    // Two calls were lost with the vendor: the heuristic bridges them, marked as what it is.
    expect(of("heuristic")).toHaveLength(2);
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({ reservedUsd: 0, open: 0 });
    const verdictsUsd = of("judge").reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
    // Nobody knows what became of the missing row: it is charged at its bound, and nothing else is.
    const boundsUsd = books.spentUsd - books.costUsd - verdictsUsd;
    const [bound] = await stage.sql<{ usd: number }>(
      "SELECT r.bound_usd::float8 AS usd FROM batch_rows r JOIN batches b ON b.id = r.batch_id WHERE b.reckoning->>'missing' = '1' AND r.position = 1",
    );
    expect(boundsUsd).toBeCloseTo(bound?.usd ?? Number.NaN, 12);
  });

  it("whose submission's answer is lost is found again, and asked once (T45)", async () => {
    const stage = await openBatchStage({ script: [answer], batches: [{ nth: 2, loseAnswer: true }] });
    const sweepId = await stage.submitBatched(3, judged());
    stage.workBatches({ batchTimes: { ...shortBatchTimes, quietMs: 400 } });
    stage.workJudges();
    await settled(stage, sweepId, 3);
    expect(stage.made().map(({ rows }) => rows)).toEqual([3, 3]);
  });

  it("waits for its sweep's budget, and stops there", async () => {
    const stage = await openBatchStage({
      script: [
        { when: { model: "*judge" }, reply: { usage: { inputTokens: 2000, outputTokens: 200 } } },
        { ...answer, reply: { ...answer.reply, usage: { inputTokens: 1000, outputTokens: 10 } } },
      ],
    });
    const models = [{ model: judge, mode: "batch", maxTokens: 500 }];
    // A verdict may cost about $0.004 at most and costs $0.0015.
    const spec = { judge: { models, consensusBelow: 0 }, prices, budgetUsd: 0.016, maxTokens: 200 };
    const sweepId = await stage.submitBatched(10, { spec });
    stage.workBatches();
    stage.workJudges();
    await vi.waitFor(
      async () => {
        const { states } = await stage.judgements(sweepId);
        expect((states["done"] ?? 0) + (states["blocked"] ?? 0)).toBe(10);
      },
      { timeout: 30_000, interval: 50 },
    );
    const { states } = await stage.judgements(sweepId);
    expect(states["blocked"]).toBeGreaterThan(0);
    const books = await stage.accounts(sweepId);
    expect(books.spentUsd).toBeLessThanOrEqual(0.016);
    expect(books).toMatchObject({ reservedUsd: 0, open: 0 });
  });

  it("that waits goes live when its sweep is submitted again so, and nothing is asked twice", async () => {
    const stage = await openBatchStage({ script: [answer] });
    const first = stage.workBatches();
    const sweepId = await stage.submitBatched(3, judged());
    await stage.reach("done", 3);
    await first.drain(1000);
    const asking = stage.workJudges();
    await vi.waitFor(async () => expect((await stage.judgements(sweepId)).states).toEqual({ queued: 3 }), {
      timeout: 10_000,
      interval: 30,
    });
    await asking.drain(1000);
    await stage.submitBatched(3, judged("live"));
    stage.workJudges();
    const { rows } = await settled(stage, sweepId, 3);
    expect(rows.map(({ batched }) => batched)).toEqual([false, false, false]);
    expect(stage.made()).toHaveLength(1);
  });

  it("under way when its sweep is cancelled lands, is kept, and asks for no further opinion", async () => {
    let aheadMs = 0;
    const stage = await openBatchStage({
      script: [answer],
      clock: () => Date.now() + aheadMs,
      batches: [{ nth: 2, afterMs: 3_600_000 }],
    });
    const { judge: asked, ...spec } = judged().spec;
    const sweepId = await stage.submitBatched(2, { spec: { ...spec, judge: { ...asked, consensusBelow: 1 } } });
    stage.workBatches();
    stage.workJudges();
    await vi.waitFor(() => expect(stage.made()).toHaveLength(2), { timeout: 15_000, interval: 30 });
    await stage.store.cancelJudges(sweepId);
    aheadMs = 3_600_000;
    await vi.waitFor(async () => expect((await stage.judgements(sweepId)).states).toEqual({ done: 2, cancelled: 2 }), {
      timeout: 15_000,
      interval: 30,
    });
    const { rows } = await stage.judgements(sweepId);
    expect(rows.map(({ status, batched, late }) => ({ status, batched, late }))).toEqual([
      { status: "verdict", batched: true, late: false },
      { status: "verdict", batched: true, late: false },
    ]);
    expect(stage.made()).toHaveLength(2);
    expect(await stage.accounts(sweepId)).toMatchObject({ reservedUsd: 0, open: 0 });
  });

  it("stops its lane at a wrong key, with the requests blocked, and goes on when it is resumed", async () => {
    const stage = await openBatchStage({ script: [answer], batches: [{ nth: 2, refuse: "auth" }] });
    const sweepId = await stage.submitBatched(3, judged());
    stage.workBatches();
    stage.workJudges();
    await vi.waitFor(async () => expect((await stage.judgements(sweepId)).states).toEqual({ blocked: 3 }), {
      timeout: 15_000,
      interval: 30,
    });
    expect(await stage.accounts(sweepId)).toMatchObject({ reservedUsd: 0, open: 0 });
    await stage.limiter.resume("batch.anthropic.claude-haiku-4-5-judge");
    await settled(stage, sweepId, 3);
    expect(stage.made().map(({ rows }) => rows)).toEqual([3, 3]);
  });
});
