import { createHash } from "node:crypto";

import { retryTrials } from "@hallumaze/steering";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { type FieldStage, type ModelName, openFieldStage } from "../test/field-stage.ts";
import type { SolveWorker } from "./worker.ts";

// Cases of field reports about sweeps that stop and go on, before the vendors' servers and the real SDKs.

let stage: FieldStage;
let worker: SolveWorker;
beforeAll(async () => {
  stage = await openFieldStage();
  worker = stage.workPaced();
});
afterAll(() => stage.close());

const first = { countBy: "model", nth: 1 } as const;

describe("a sweep that is interrupted, submitted again or retried", () => {
  const models: readonly ModelName[] = ["anthropic", "google"];

  it("stopped at its half sends only the other half when it goes on (T25)", async () => {
    stage.play([{ delivery: { headerDelayMs: 40 } }]);
    await worker.drain(5000);
    const halves = stage.workPaced({ concurrency: 2 });
    const sweep = await stage.sweep("half", { models, seeds: 12 });
    await stage.mock.until(({ completed }) => completed >= 12);
    await halves.drain(5000);
    const half = stage.mock.counts().requests;
    expect(half).toBeLessThan(24);
    worker = stage.workPaced();
    const fates = await stage.fates(sweep);
    expect(new Set(fates.map(({ state }) => state))).toEqual(new Set(["done"]));
    expect(stage.mock.counts().requests).toBe(24);
  });

  it("submitted five times more, each cut short before the queue, sends nothing twice and adds no row (T21)", async () => {
    stage.play([]);
    const sweep = await stage.sweep("again", { models, seeds: 4 });
    await stage.fates(sweep);
    const cut = { ...stage.queue, enqueue: () => Promise.reject(new Error("the process is gone")) };
    for (const seeds of [4, 4, 5, 5, 5]) {
      await stage.sweep("again", { models, seeds }, cut).catch(() => undefined);
    }
    await stage.sweep("again", { models, seeds: 5 });
    const fates = await stage.fates(sweep);
    expect(fates).toHaveLength(10);
    expect(stage.requests()).toMatchObject({ anthropic: 5, google: 5 });
  });

  it("asks for two cells of one prompt twice, and never again for an answer that was cut off (T29)", async () => {
    stage.play([{ reply: { finish: "length", text: "STEP 1: (0,0) → [S↓]" } }]);
    const asked = { models, repeats: 2 };
    const sweep = await stage.sweep("twins", asked);
    await stage.fates(sweep);
    const bodies = stage.mock.requests().map(({ bodyText }) => bodyText);
    expect(bodies).toHaveLength(4);
    expect(new Set(bodies).size).toBe(2);
    await stage.sweep("twins", asked);
    expect((await stage.fates(sweep)).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 4 }, () => "truncated"),
    );
    expect(stage.mock.counts().requests).toBe(4);
  });

  it("retried for its failures sends those, not the wrong answers (T26)", async () => {
    stage.play([
      { countBy: "model", nth: { to: 2 }, fail: "server_error" },
      { reply: { text: "FINAL_PATH: (0,0) → (0,1)" } },
    ]);
    const sweep = await stage.sweep("wrong", { models, seeds: 5, tries: 1 });
    const before = await stage.fates(sweep);
    expect(before.filter(({ state }) => state === "failed")).toHaveLength(4);
    stage.play([]);
    expect(await retryTrials(stage, sweep.sweepId, { states: ["failed"] })).toBe(4);
    const after = await stage.fates(sweep);
    expect(stage.requests()).toMatchObject({ anthropic: 2, google: 2 });
    expect(new Set(after.map(({ state }) => state))).toEqual(new Set(["done"]));
  });

  it("loses nothing to a worker killed in mid-request: the trial is taken over, one answer counts (T22)", async () => {
    stage.play([{ ...first, delivery: { blackHole: true } }]);
    await worker.drain(5000);
    const child = await stage.fork(1);
    const sweep = await stage.sweep("killed", { models });
    await stage.mock.until(({ requests }) => requests >= 2);
    child.kill("SIGKILL");
    worker = stage.workPaced();
    const fates = await stage.fates(sweep, 30_000);
    expect(fates.map(({ state, exchanges }) => [state, exchanges.length])).toEqual(models.map(() => ["done", 1]));
    expect(stage.requests()).toMatchObject({ anthropic: 2, google: 2 });
  }, 120_000);
});

describe("a ledger", () => {
  it("with more trials at once than connections to the database queues its writes: no trial fails (T69)", async () => {
    const stage = await openFieldStage({ latency: { baseMs: 1500 } });
    onTestFinished(stage.close);
    const sweep = await stage.sweep("many", { models: ["anthropic"], seeds: 128, tries: 1 });
    stage.workPaced({ concurrency: 64 });
    const fates = await stage.fates(sweep, 40_000);
    expect(new Set(fates.map(({ outcome }) => outcome))).toEqual(new Set(["ok"]));
    expect(stage.mock.counts().inFlightPeak).toBeGreaterThan(32);
    expect(stage.requests().anthropic).toBe(128);
  });

  it("keeps replies with NUL and lone surrogates as they came: the hash is that of the bytes sent (T68)", async () => {
    const stage = await openFieldStage();
    onTestFinished(stage.close);
    const content = "NUL \u0000, the escape \\u0000, lone \ud800, FINAL_PATH: (0,0) → (0,1)";
    const body = JSON.stringify({ choices: [{ message: { content }, finish_reason: "stop" }] });
    stage.play([{ respond: { body, headers: { "content-type": "application/json" } } }]);
    const models: readonly ModelName[] = ["openai", "deepseek", "compatible"];
    const sweep = await stage.sweep("nul", { models });
    stage.workPaced();
    expect((await stage.fates(sweep)).map(({ state }) => state)).toEqual(["done", "done", "done"]);
    const sha256 = createHash("sha256").update(body).digest("hex");
    expect(await stage.sql("SELECT DISTINCT raw_sha256 AS sha256 FROM exchanges")).toEqual([{ sha256 }]);
    const texts: string[] = [];
    for await (const page of stage.store.streamReplies(sweep.sweepId, 10))
      texts.push(...page.flatMap(({ replies }) => replies.map(({ text }) => text)));
    expect(texts).toEqual([content, content, content]);
  });
});
