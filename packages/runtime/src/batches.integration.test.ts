// Sweeps asked in batches, through the vendors' SDKs and a real ledger, against servers whose batches end as a script says.
import { describe, expect, it, vi } from "vitest";

import { openBatchStage } from "../test/batch-stage.ts";
import { shortBatchTimes } from "../test/batch-times.ts";

const costs = { haikuInput: 1e-6, haikuOutput: 5e-6 } as const;

interface Conversation {
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | readonly { readonly text: string }[];
  }[];
}

function textOf(content: Conversation["messages"][number]["content"]): string {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("");
}

describe("a sweep in batches", () => {
  it("is asked in one submission, lands and is scored as a live one, and costs half", async () => {
    const stage = await openBatchStage();
    const sweepId = await stage.submitBatched(12);
    stage.workBatches();
    await stage.reach("done", 12);
    const [batch] = stage.made();
    if (batch === undefined) throw new Error("no batch");
    expect(stage.made()).toHaveLength(1);
    const { costUsd, spentUsd, ...books } = await stage.accounts(sweepId);
    expect(books).toEqual({
      states: { done: 12 },
      exchanges: { reply: 12 },
      live: 0,
      late: 0,
      scored: 12,
      reservedUsd: 0,
      open: 0,
    });
    const listUsd = batch.inputTokens * costs.haikuInput + batch.outputTokens * costs.haikuOutput;
    expect(costUsd).toBeCloseTo(listUsd / 2, 12);
    expect(spentUsd).toBeCloseTo(listUsd / 2, 12);
    // Live and in a batch, a cell is the same cell: nothing is bought for a live sweep of the same grid.
    const { spec, name } = { name: "live twin", spec: {} };
    const twin = await stage.submit(12, { models: ["anthropic/claude-haiku-4-5-20251001"], name, spec });
    expect(
      await stage.sql("SELECT DISTINCT cell_id FROM trials WHERE sweep_id IN ($1, $2)", [sweepId, twin.sweepId]),
    ).toHaveLength(12);
    expect(await stage.sql("SELECT DISTINCT lane FROM trials ORDER BY lane")).toEqual([
      { lane: "anthropic.claude-haiku-4-5-20251001" },
      { lane: "batch.anthropic.claude-haiku-4-5-20251001" },
    ]);
  });

  it("that expires in part keeps what was finished, and asks again for the rest alone (T43)", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, rows: [{ nth: [2, 5, 9], end: "expired" }] }] });
    const sweepId = await stage.submitBatched(10);
    // Longer than the jitter of a first retry: what comes again goes together.
    stage.workBatches({ batchTimes: { ...shortBatchTimes, quietMs: 1500, longestMs: 10_000 } });
    await stage.reach("done", 10);
    expect(stage.made().map(({ rows, ends }) => ({ rows, ends }))).toEqual([
      { rows: 10, ends: { answered: 7, expired: 3 } },
      { rows: 3, ends: { answered: 3 } },
    ]);
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({
      exchanges: { reply: 10, overloaded: 3 },
      scored: 10,
      live: 0,
      reservedUsd: 0,
      open: 0,
    });
    expect(books.spentUsd).toBeCloseTo(books.costUsd, 12);
  });

  it("with rows of every end gives each what a live call would get: only what may come again does", async () => {
    const rows = [
      { nth: 1, end: "errored", error: "bad_request" },
      { nth: 2, end: "errored", error: "server_error" },
      { nth: 3, end: "canceled" },
      { nth: 4, end: "missing" },
      { nth: 5, end: "errored", error: "context_too_long" },
    ] as const;
    const stage = await openBatchStage({ batches: [{ nth: 1, rows: [...rows], unknownRows: 2 }] });
    const sweepId = await stage.submitBatched(8);
    stage.workBatches();
    // The row that was cancelled there, by nobody of this sweep, is asked again.
    await stage.reach("done", 6);
    await stage.reach("failed", 2);
    const books = await stage.accounts(sweepId);
    expect(books.states).toEqual({ done: 6, failed: 2 });
    expect(books.exchanges).toEqual({
      reply: 6,
      bad_request: 1,
      transient_server: 1,
      overloaded: 1,
      transport: 1,
      context_too_long: 1,
    });
    // Nobody knows what became of the missing row: it is charged at its bound, and nothing else is.
    expect(
      await stage.sql(
        "SELECT outcome FROM exchanges WHERE cost_bound_usd IS NOT NULL OR (outcome IS NOT NULL AND cost_usd IS NOT NULL)",
      ),
    ).toEqual([{ outcome: "transport" }]);
    expect(books.spentUsd).toBeCloseTo(books.costUsd, 12);
    expect(books).toMatchObject({ reservedUsd: 0, open: 0, late: 0 });
    const [first] = await stage.sql<{ reckoning: object }>("SELECT reckoning FROM batches ORDER BY created_at LIMIT 1");
    expect(first?.reckoning).toMatchObject({ missing: 1, unknown: 2, rows: { reply: 3, transport: 1 } });
  });

  it("whose submission's answer is lost is found again, and no second one is made (T45)", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, loseAnswer: true }] });
    const sweepId = await stage.submitBatched(6);
    stage.workBatches();
    await stage.reach("done", 6);
    expect(stage.made().map(({ rows }) => rows)).toEqual([6]);
    expect(await stage.accounts(sweepId)).toMatchObject({ exchanges: { reply: 6 }, reservedUsd: 0, open: 0 });
  });

  it("whose submission failed at the server, with nothing made, is submitted again", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, refuse: "server_error" }] });
    await stage.submitBatched(3);
    stage.workBatches();
    await stage.reach("done", 3);
    expect(stage.made().map(({ rows }) => rows)).toEqual([3]);
    expect(await stage.sql("SELECT submissions FROM batches")).toEqual([{ submissions: 2 }]);
  });

  it("that takes another's batch for its lost one sees by the ids that it is not, and submits its own", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 2, refuse: "server_error" }] });
    const url = `${stage.mock.urls.anthropicBaseUrl}/v1/messages/batches`;
    const headers = { "x-api-key": "rehearsal-key", "content-type": "application/json" };
    const params = {
      model: "claude-haiku-4-5-20251001",
      max_tokens: 5,
      messages: [{ role: "user", content: "hello" }],
    };
    const requests = [1, 2].map((number) => ({ custom_id: `other-${number}`, params }));
    await fetch(url, { method: "POST", headers, body: JSON.stringify({ requests }) });
    const sweepId = await stage.submitBatched(2);
    stage.workBatches();
    await stage.reach("done", 2);
    expect(stage.made()).toHaveLength(2);
    expect(await stage.accounts(sweepId)).toMatchObject({ exchanges: { reply: 2 }, live: 0, open: 0 });
  });

  it("that is too large is halved until it fits", async () => {
    const stage = await openBatchStage({ batches: [{ nth: [1, 2], refuse: "payload_too_large" }] });
    await stage.submitBatched(8);
    stage.workBatches();
    await stage.reach("done", 8);
    expect(
      stage
        .made()
        .map(({ rows }) => rows)
        .toSorted((a, b) => a - b),
    ).toEqual([2, 2, 4]);
  });

  it("that is refused whole for what is in it fails its rows without a call being paid", async () => {
    const stage = await openBatchStage({ batches: [{ refuse: "bad_request" }] });
    const sweepId = await stage.submitBatched(3);
    stage.workBatches();
    await stage.reach("failed", 3);
    expect(stage.made()).toEqual([]);
    expect(await stage.accounts(sweepId)).toMatchObject({
      exchanges: { bad_request: 3 },
      spentUsd: 0,
      reservedUsd: 0,
      open: 0,
    });
  });

  it("stops its lane at a wrong key, and goes on when the lane is resumed", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, refuse: "auth" }] });
    const sweepId = await stage.submitBatched(4);
    stage.workBatches();
    await stage.reach("blocked", 4);
    expect(await stage.accounts(sweepId)).toMatchObject({ exchanges: {}, reservedUsd: 0, open: 0 });
    await stage.limiter.resume("batch.anthropic.claude-haiku-4-5-20251001");
    await stage.reach("done", 4);
    expect(stage.made().map(({ rows }) => rows)).toEqual([4]);
  });

  it("that is being gathered when its lane is parked goes its way: nothing stays running in a lane that rests", async () => {
    const stage = await openBatchStage({});
    await stage.submitBatched(2);
    stage.workBatches({ batchTimes: { ...shortBatchTimes, quietMs: 1500 } });
    const states = () => stage.sql("SELECT state FROM batches");
    await vi.waitFor(async () => expect(await states()).toEqual([{ state: "gathering" }]), {
      timeout: 10_000,
      interval: 10,
    });
    await stage.limiter.park("batch.anthropic.claude-haiku-4-5-20251001", "auth", null);
    await stage.reach("done", 2);
    expect(stage.made().map(({ rows }) => rows)).toEqual([2]);
  });

  it("keeps its budget: what it does not reach for waits for what is under way, then is blocked", async () => {
    const stage = await openBatchStage({
      script: [{ reply: { text: "FINAL_PATH: (0,0) -> (0,1)", usage: { inputTokens: 1000, outputTokens: 2000 } } }],
    });
    // A request may cost 0.0075 at most and costs 0.0055: the first batch takes four of the ten.
    const sweepId = await stage.submitBatched(10, { spec: { budgetUsd: 0.04, maxTokens: 2500 } });
    stage.workBatches();
    const ended = ({ states }: Awaited<ReturnType<typeof stage.accounts>>): number =>
      (states["done"] ?? 0) + (states["blocked"] ?? 0);
    await vi.waitFor(async () => expect(ended(await stage.accounts(sweepId))).toBe(10), {
      timeout: 20_000,
      interval: 30,
    });
    const books = await stage.accounts(sweepId);
    expect(books.states["blocked"]).toBeGreaterThan(0);
    expect(books.spentUsd).toBeLessThanOrEqual(0.04);
    expect(books.spentUsd).toBeCloseTo(books.costUsd, 12);
    expect(books).toMatchObject({ reservedUsd: 0, open: 0, live: 0 });
    expect(stage.made().length).toBeGreaterThan(1);
  });

  it("whose results are past their retention charges each row at its bound, and asks again", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, resultsGone: true }] });
    const sweepId = await stage.submitBatched(2);
    stage.workBatches();
    await stage.reach("done", 2);
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({ exchanges: { reply: 2, transport: 2 }, reservedUsd: 0, open: 0 });
    expect(books.spentUsd).toBeCloseTo(books.costUsd, 12);
  });

  it("holds conversations: what follows a first answer goes into a further batch, whole, at the same price", async () => {
    const stage = await openBatchStage({ solver: "hint-taker" });
    const sweepId = await stage.submitBatched(3, { spec: { groups: ["B", "C"] } });
    stage.workBatches();
    await stage.reach("done", 6);
    const turns = await stage.sql<{ turn: number; text: string; live: boolean; group: string; costUsd: number }>(
      `SELECT e.turn, e.text, e.batch_id IS NULL AS live, t."group", e.cost_usd::float8 AS "costUsd"
       FROM exchanges e JOIN trials t ON t.id = e.trial_id`,
    );
    expect(turns.some(({ live }) => live)).toBe(false);
    const second = turns.filter(({ turn }) => turn === 1);
    expect(new Set(second.map(({ group }) => group))).toEqual(new Set(["B", "C"]));
    // On the wire a second turn is its first, the answer byte for byte, and what follows it.
    const rows = stage.mock
      .requests()
      .filter(({ method, path }) => method === "POST" && path.endsWith("/v1/messages/batches"))
      .flatMap(({ bodyText }) => (JSON.parse(bodyText) as { requests: { params: Conversation }[] }).requests)
      .map(({ params }) => params.messages.map(({ role, content }) => ({ role, text: textOf(content) })));
    const firsts = new Set(rows.filter(({ length }) => length === 1).map(([prompt]) => prompt?.text));
    const followed = rows.filter(({ length }) => length > 1);
    expect(followed).toHaveLength(second.length);
    const answers = new Set(turns.filter(({ turn }) => turn === 0).map(({ text }) => text));
    for (const [prompt, answer, next, ...rest] of followed) {
      expect([prompt?.role, answer?.role, next?.role, rest.length]).toEqual(["user", "assistant", "user", 0]);
      expect(firsts.has(prompt?.text)).toBe(true);
      expect(answers.has(answer?.text ?? "")).toBe(true);
    }
    expect(stage.mock.counts().completed).toBe(0);
    const billedUsd = stage
      .made()
      .reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens * 0.5e-6 + outputTokens * 2.5e-6, 0);
    expect(turns.reduce((sum, { costUsd }) => sum + costUsd, 0)).toBeCloseTo(billedUsd, 12);
    expect((await stage.accounts(sweepId)).spentUsd).toBeCloseTo(billedUsd, 12);
  });

  it("whose trials an operator cancels at once is under way, not lost; what it brings is archived and paid", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, afterMs: 1500 }] });
    const sweepId = await stage.submitBatched(3);
    stage.workBatches();
    await vi.waitFor(() => expect(stage.made()).toHaveLength(1), { timeout: 10_000, interval: 20 });
    await stage.store.cancelTrials(sweepId, {}, { now: true });
    expect((await stage.store.progress(sweepId)).money).toMatchObject({ open: { count: 3 }, lost: { count: 0 } });
    await vi.waitFor(async () => expect(await stage.accounts(sweepId)).toMatchObject({ late: 3, open: 0 }), {
      timeout: 10_000,
      interval: 20,
    });
    const books = await stage.accounts(sweepId);
    expect(books).toMatchObject({ states: { cancelled: 3 }, reservedUsd: 0 });
    expect(books.spentUsd).toBeCloseTo(books.costUsd, 12);
    expect((await stage.store.progress(sweepId)).money).toMatchObject({ open: { count: 0 }, lost: { count: 0 } });
  });

  it("that its vendor does not know any more is told with how often it was looked for", async () => {
    const stage = await openBatchStage({ batches: [{ nth: 1, afterMs: 60_000 }] });
    const sweepId = await stage.submitBatched(2);
    const first = stage.workBatches();
    await vi.waitFor(() => expect(stage.made()).toHaveLength(1), { timeout: 10_000, interval: 20 });
    await vi.waitFor(async () => expect(await stage.sql("SELECT state FROM batches")).toEqual([{ state: "running" }]), {
      timeout: 10_000,
      interval: 20,
    });
    expect(await stage.store.batchStandings(sweepId)).toMatchObject([{ underWay: 1, rows: 2, trouble: null }]);
    await first.drain(2000);
    await stage.sql("UPDATE batches SET vendor_id = 'msgbatch_gone'");
    stage.workBatches();
    await vi.waitFor(
      async () =>
        expect(await stage.store.batchStandings(sweepId)).toMatchObject([
          {
            underWay: 1,
            rows: 2,
            trouble: { looks: expect.any(Number), message: expect.stringContaining("msgbatch_gone") },
          },
        ]),
      { timeout: 10_000, interval: 20 },
    );
  });

  it("that an operator cancels while it is under way lands, is kept, and asks nothing further", async () => {
    let nowMs = Date.now();
    const stage = await openBatchStage({ clock: () => nowMs, batches: [{ afterMs: 3_600_000 }] });
    const sweepId = await stage.submitBatched(2);
    stage.workBatches();
    await vi.waitFor(() => expect(stage.made()).toHaveLength(1), { timeout: 10_000, interval: 20 });
    await stage.store.cancelTrials(sweepId, {}, { now: false });
    nowMs += 3_600_000;
    await stage.reach("cancelled", 2);
    expect(stage.made()).toHaveLength(1);
    expect(await stage.accounts(sweepId)).toMatchObject({ exchanges: { reply: 2 }, reservedUsd: 0, open: 0, late: 0 });
  });
});
