import { createHash } from "node:crypto";

import type { DeliveryResult, QueuePort } from "@hallumaze/engine";
import { type Ledger, StoreError } from "@hallumaze/store";
import { describe, expect, it } from "vitest";

import { failure, reply, shortTimes } from "../test/worker-replies.ts";
import { createGate, openWorkerStage, scriptedProvider } from "../test/worker-stage.ts";

const path = "FINAL_PATH: (0,0) -> (0,1)";
const nasty = `nul \0, lone \ud83d and \udca9, escaped \\u0000, ${path}`;

describe("a worker", () => {
  it("keeps its trial when an outage outlasts the lease: the reply is kept, nobody is asked again", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1);
    let repairsSinceExpiry = -1;
    let isRefused = false;
    const store: Ledger = {
      ...stage.store,
      reclaimLost: async (isDead) => {
        const lost = await stage.store.reclaimLost(isDead);
        if (repairsSinceExpiry >= 0) repairsSinceExpiry += 1;
        // Between two repairs, as an outage would have it: a repair renews what its process holds before it reclaims.
        else if (isRefused) {
          await stage.sql("UPDATE trials SET lease_until = now() - interval '1 second'");
          repairsSinceExpiry = 0;
        }
        return lost;
      },
      recordExchange: async (exchange) => {
        isRefused = true;
        // The other parts of the worker find the database back first.
        if (repairsSinceExpiry >= 2) return stage.store.recordExchange(exchange);
        throw new StoreError("database-full", "no disk space left", { retry: true });
      },
    };
    const provider = scriptedProvider(() => reply(path));
    stage.work({ store, provider, times: { ...shortTimes, leaseMs: 60_000 } });
    await stage.reach("done", 1);
    expect(provider.calls()).toBe(1);
    expect(await stage.books()).toEqual({ states: { done: 1 }, accepted: 1, exchanges: 1, lateDuplicates: 0 });
  });

  it("that gets a delivery of a trial it is running puts it off, whatever became of the lease", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1);
    const repeats: (() => Promise<DeliveryResult>)[] = [];
    const queue: QueuePort = {
      ...stage.queue,
      consume: (lane, concurrency, handle) =>
        stage.queue.consume(lane, concurrency, (delivery, signal) => {
          repeats.push(() => handle(delivery, signal));
          return handle(delivery, signal);
        }),
    };
    const gate = createGate();
    const provider = scriptedProvider(async () => {
      await gate.opened;
      return reply(path);
    });
    stage.work({ queue, provider, times: { ...shortTimes, leaseMs: 60_000, reconcileEveryMs: 60_000 } });
    await provider.reachCalls(1);
    await stage.sql("UPDATE trials SET lease_until = now() - interval '1 second'");
    const again = await repeats[0]?.();
    expect(again).toMatchObject({ kind: "again" });
    expect(provider.calls()).toBe(1);
    gate.open();
    await stage.reach("done", 1);
    expect(await stage.books()).toMatchObject({ accepted: 1, exchanges: 1 });
  });

  it("frees the slots of calls that never end, even where the provider heeds no signal", async () => {
    const stage = await openWorkerStage();
    await stage.submit(8, { tries: 1 });
    const provider = scriptedProvider((_, call) => (call <= 4 ? new Promise(() => undefined) : reply(path)));
    stage.work({ provider, concurrency: 4, times: { ...shortTimes, callTimeoutMs: 300 } });
    await stage.reach("done", 4, 10_000);
    await stage.reach("failed", 4, 10_000);
    expect(await stage.sql("SELECT DISTINCT outcome FROM trials WHERE state = 'failed'")).toEqual([
      { outcome: "timeout" },
    ]);
  });

  it("keeps 64 trials at once going over four connections", async () => {
    const stage = await openWorkerStage();
    await stage.submit(200);
    stage.work({ concurrency: 64 });
    await stage.reach("done", 200);
    expect(await stage.books()).toEqual({ states: { done: 200 }, accepted: 200, exchanges: 200, lateDuplicates: 0 });
  });

  it("keeps a reply with NUL and lone surrogates: the raw text comes back, its hash is that of what was sent", async () => {
    const stage = await openWorkerStage();
    const sweep = await stage.submit(1);
    const provider = scriptedProvider(() => reply(nasty));
    stage.work({ provider });
    await stage.reach("done", 1);
    expect(provider.calls()).toBe(1);
    expect(await stage.sql("SELECT raw_sha256 AS hash FROM exchanges")).toEqual([
      { hash: createHash("sha256").update(nasty, "utf8").digest("hex") },
    ]);
    const texts: string[] = [];
    for await (const page of stage.store.streamReplies(sweep.sweepId, 10))
      texts.push(...page.flatMap(({ replies }) => replies.map(({ text }) => text)));
    expect(texts).toEqual([nasty]);
  });

  it("ends a trial whose errors hold NUL and lone surrogates after exactly its tries", async () => {
    const stage = await openWorkerStage();
    const sweep = await stage.submit(1, { tries: 2 });
    const provider = scriptedProvider(() => failure(nasty));
    stage.work({ provider });
    await stage.reach("failed", 1);
    expect(provider.calls()).toBe(2);
    const messages: (string | null)[] = [];
    for await (const page of stage.store.streamTrials(sweep.sweepId, 10))
      messages.push(...page.map(({ message }) => message));
    expect(messages).toEqual([nasty]);
    expect(await stage.books()).toMatchObject({ exchanges: 2 });
  });

  it("whose event loop stood still past its lease keeps its trial where nobody took it over", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1);
    const blocked = scriptedProvider((_, call) => {
      // No timer runs meanwhile: no renewal either.
      if (call === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
      return reply(path);
    });
    stage.work({ provider: blocked, times: { ...shortTimes, leaseMs: 500 } });
    await stage.reach("done", 1);
    expect(await stage.books()).toMatchObject({ states: { done: 1 }, accepted: 1 });
    expect(blocked.calls()).toBe(1);
  });
});
