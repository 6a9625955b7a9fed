import type { SweepAggregates } from "@hallumaze/detectors";
import type { ExchangeRecord } from "@hallumaze/engine";
import type { CellPlan } from "@hallumaze/sweep";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type Cell, cell, claim, done, exchange, only, openStage, type Stage, submit } from "../test/ledger-stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const all = { trials: 1e6, replies: 1e6 };

/** What becomes of a trial: a reply with an outcome, or a failure. */
type Answer = (plan: CellPlan) => (Partial<ExchangeRecord> & { readonly outcomeOfTrial?: "truncated" }) | "fails";

let grids = 0;
/** Cells of one model: every seed and size, with and without mirage. No other grid has them. */
function grid(alias: string, seeds: readonly number[], sizes: readonly number[], plan: Partial<CellPlan> = {}): Cell[] {
  grids += 1;
  return sizes.flatMap((size) =>
    seeds.flatMap((seed) =>
      [true, false].map((mirage) =>
        cell(`${grids} ${size} ${seed} ${mirage}`, {
          alias,
          plan: { provider: "openai", model: "m", seed, size, mirage, ...plan },
        }),
      ),
    ),
  );
}

async function answerAll(name: string, cells: readonly Cell[], answer: Answer): Promise<SweepAggregates> {
  const { sweep, queued } = await submit(stage.store, name, cells);
  for (const trial of queued) {
    const held = await claim(stage.store, trial);
    const reply = answer(held.plan);
    if (reply === "fails") {
      await stage.store.endTry(held.trialId, held.fence, { kind: "failed", outcome: "timeout", message: "no" });
      continue;
    }
    const { outcomeOfTrial = "ok", ...changes } = reply;
    const requestJson = JSON.stringify({ user: "x".repeat(held.plan.mirage ? 150 : 100) });
    await stage.store.recordExchange(exchange(held, { requestJson, ...changes }));
    const end = done();
    await stage.store.endTry(held.trialId, held.fence, {
      ...end,
      scored: {
        ...end.scored,
        outcome: outcomeOfTrial,
        readingJson: '{"attempts":2,"confidenceLog":[{"step":1,"confidence":0.9},{"step":2,"confidence":0.8}]}',
      },
    });
  }
  return stage.store.aggregates(sweep.sweepId, all);
}

describe("aggregates", () => {
  it("count states, tokens, ends and confidences by condition", async () => {
    const found = await answerAll("counts", grid("m\u0000", [1, 2, 3], [5, 7], { temperature: 0 }), (plan) =>
      plan.size === 7 && plan.seed === 1
        ? "fails"
        : {
            text: `log of ${plan.seed} ${plan.mirage}`,
            ...(plan.size === 7 ? { outcomeOfTrial: "truncated" as const, finishReason: null } : {}),
            usage: { inputTokens: 400, outputTokens: plan.seed * 100, cachedTokens: null, reasoningTokens: null },
          },
    );
    expect(found.models).toEqual([{ alias: "m\u0000", isBaseline: false, temperature: 0 }]);
    expect(found).toMatchObject({ countedTrials: 12, lookedAtTrials: 12 });
    const seven = found.conditions.filter(({ size, mirage }) => size === 7 && mirage);
    expect(seven.map(({ state, outcome, count }) => [state, outcome, count])).toEqual([
      ["done", "truncated", 2],
      ["failed", "timeout", 1],
    ]);
    const common = { alias: "m\u0000", maxTokens: 2500, thoughtOut: 0, thoughtOutReasoningMean: null, missingUsage: 0 };
    expect(found.sizes.toSorted((a, b) => a.size - b.size)).toEqual([
      { ...common, size: 5, replies: 6, completeOutputP95: 300, unknownFinish: 0 },
      { ...common, size: 7, replies: 4, completeOutputP95: null, unknownFinish: 4 },
    ]);
    const tallies = found.prompts.filter(({ size, mirage }) => size === 5 && mirage);
    expect(tallies.reduce((sum, { inputCounted }) => sum + inputCounted, 0)).toBe(3);
    expect(tallies[0]).toMatchObject({ inputMean: 400, plan: { size: 5, mirage: true }, language: "ko" });
    expect(tallies[0]?.latencyLogMean).toBeCloseTo(Math.log(250), 9);
    expect(found.confidences).toEqual([{ alias: "m\u0000", replies: 6, without: 0, statements: 12, distinct: 2 }]);
  });

  it("tell texts that mazes share, and pairs and repeats that are alike, by trials and never by text", async () => {
    const cells = [0, 1].flatMap((repeat) => grid("m", [1, 2, 3], [5], { repeat }));
    const found = await answerAll("texts", cells, ({ seed, mirage, repeat }) => ({
      text: seed < 3 ? "the cached words" : `own words ${mirage} ${repeat}`,
      usage: { inputTokens: mirage ? 450 : 400, outputTokens: 9, cachedTokens: null, reasoningTokens: null },
    }));
    expect(only(found.answers)).toMatchObject({ alias: "m", size: 5, answers: 8, shared: 4, largest: 2 });
    expect(only(found.answers).examples).toHaveLength(2);
    expect(only(found.mirages)).toMatchObject({ pairs: 6, identical: 4, counted: 6, sameInput: 0 });
    expect(only(found.repeats)).toMatchObject({ sets: 6, identical: 4 });
    expect(JSON.stringify(found)).not.toContain("words");
  });

  it("tell the same of texts that were pruned, by the hashes that are kept", async () => {
    const cells = grid("m", [1, 2, 3], [5]);
    const before = await answerAll("pruned", cells, ({ seed }) => ({ text: seed < 3 ? "cached" : "own" }));
    const { sweepId } = (await stage.store.findSweep("pruned")) ?? { sweepId: "" };
    await stage.sql(
      `UPDATE exchanges e SET text_sha256 = encode(sha256(convert_to(e.text, 'UTF8')), 'hex'), text = NULL, request_json = NULL
       FROM trials t WHERE t.id = e.trial_id AND t.sweep_id = $1 AND t.mirage`,
      [sweepId],
    );
    const after = await stage.store.aggregates(sweepId, all);
    expect(after.answers).toEqual(before.answers);
    expect(after.mirages).toEqual(before.mirages);
    expect(only(after.mirages)).toMatchObject({ pairs: 3, identical: 3 });
  });

  it("take two equal prompts for no pair: a maze without a trap has no mirage to miss", async () => {
    const found = await answerAll("no trap", grid("m", [1, 2], [5]), () => ({ text: "same", requestJson: "{}" }));
    expect(found.mirages).toEqual([]);
  });

  it("count as identical only answers: two empty replies say nothing of each other", async () => {
    const found = await answerAll("empty", grid("m", [1, 2], [5]), () => ({ text: "" }));
    expect(found.answers).toEqual([]);
    expect(found.mirages).toEqual([]);
  });

  it("tell what served, when it began and ended, and how often it came back", async () => {
    let asked = 0;
    const found = await answerAll("served", grid("m", [1, 2, 3], [5]), () => {
      asked += 1;
      return { text: `${asked}`, servedModel: asked <= 4 ? "old\u0000" : "new", servedBy: asked % 2 === 0 ? "a" : "b" };
    });
    const models = found.served.filter(({ kind }) => kind === "model").toSorted((a, b) => a.firstMs - b.firstMs);
    expect(models.map(({ name, replies, runs }) => [name, replies, runs])).toEqual([
      ["old\u0000", 4, 1],
      ["new", 2, 1],
    ]);
    expect(models[0]?.lastMs).toBeLessThanOrEqual(models[1]?.firstMs ?? 0);
    const hosts = found.served.filter(({ kind }) => kind === "host");
    expect(hosts.map(({ replies, runs }) => [replies, runs])).toEqual([
      [3, 3],
      [3, 3],
    ]);
  });

  it("look at the first seeds of every model and size where trials are more than the bounds", async () => {
    const seeds = Array.from({ length: 40 }, (_, index) => index);
    const cells = ["x", "y"].flatMap((alias) => grid(alias, seeds, [5, 7]));
    const { sweep } = await submit(stage.store, "large", cells);
    const found = await stage.store.aggregates(sweep.sweepId, { trials: 240, replies: 80 });
    expect(found).toMatchObject({ countedTrials: 240, lookedAtTrials: 80 });
    expect(new Set(found.conditions.map(({ alias, size, count }) => `${alias} ${size} ${count}`))).toEqual(
      new Set(["x 5 30", "x 7 30", "y 5 30", "y 7 30"]),
    );
  });

  it("know nothing of other sweeps, of cells that left the grid, or of a sweep that is not there", async () => {
    const cells = grid("m", [1, 2], [5]);
    await answerAll("left", cells, () => ({ text: "a" }));
    const { sweep } = await submit(stage.store, "left", cells.slice(0, 2));
    const found = await stage.store.aggregates(sweep.sweepId, all);
    expect(found.conditions.reduce((sum, { count }) => sum + count, 0)).toBe(2);
    expect(await stage.store.aggregates("no such sweep", all)).toMatchObject({ models: [], conditions: [] });
  });

  it("count answers that were taken over from another sweep as this sweep's", async () => {
    const cells = grid("m", [1, 2], [5]);
    await answerAll("source", cells, ({ seed }) => ({ text: `${seed}` }));
    const { sweep } = await submit(stage.store, "taker", cells);
    const found = await stage.store.aggregates(sweep.sweepId, all);
    expect(found.sizes).toMatchObject([{ replies: 4 }]);
    expect(found.confidences).toMatchObject([{ replies: 4, statements: 8 }]);
  });
});
