import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { type ChatResult, type Claim, runTrial, type StorePort } from "@hallumaze/engine";
import { StoreError } from "@hallumaze/store";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { failure, reply, shortTimes } from "../test/worker-replies.ts";
import { createGate, openWorkerStage, scriptedProvider, trialPorts, type WorkerStage } from "../test/worker-stage.ts";

const never = new AbortController().signal;
const path = "FINAL_PATH: (0,0) -> (0,1)";

/** The one trial of the stage, as the queue would deliver it now. */
async function delivery(stage: WorkerStage) {
  const [row] = await stage.sql<{ trialId: string; generation: number }>(
    `SELECT id::text AS "trialId", generation FROM trials`,
  );
  if (row === undefined) throw new Error("no trial");
  return row;
}

const endLease = (stage: WorkerStage) =>
  stage.sql("UPDATE trials SET lease_until = now() - interval '1 s', not_before = NULL");

/** A store whose process dies after the exchange is recorded and before the try has ended. */
function dyingBeforeEnd(store: StorePort): StorePort {
  return { ...store, endTry: () => Promise.reject(new Error("the process is gone")) };
}

describe("a worker whose claim was taken over", () => {
  it("has its late reply archived as a duplicate; the other's is the one accepted", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1);
    const gate = createGate();
    const slow = scriptedProvider(async () => {
      await gate.opened;
      return reply("the slow reply");
    });
    const first = runTrial(trialPorts(stage.store, slow, "host/1/1"), await delivery(stage), never);
    await slow.reachCalls(1);
    await endLease(stage);
    const quick = scriptedProvider(() => reply(path));
    const second = await runTrial(trialPorts(stage.store, quick, "host/2/1"), await delivery(stage), never);
    gate.open();
    expect(second).toEqual({ kind: "done" });
    expect(await first).toEqual({ kind: "give-up", reason: "lost-lease" });
    expect(await stage.books()).toEqual({ states: { done: 1 }, accepted: 1, exchanges: 2, lateDuplicates: 1 });
    const accepted = await stage.sql(
      `SELECT e.worker_id AS worker, e.text FROM trials t JOIN exchanges e ON e.id = t.accepted_exchange_id`,
    );
    expect(accepted).toEqual([{ worker: "host/2/1", text: path }]);
    const [late] = await stage.sql("SELECT late_duplicate AS late, text FROM exchanges WHERE worker_id = 'host/1/1'");
    expect(late).toEqual({ late: true, text: "the slow reply" });
  });

  it("cannot end the try of its successor, nor a trial that is done", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1);
    const fences: Claim[] = [];
    const gate = createGate();
    const slow = scriptedProvider(async () => {
      await gate.opened;
      return failure();
    });
    const ports = trialPorts(stage.store, slow, "host/1/1");
    const first = runTrial(
      { ...ports, observe: { ...ports.observe, claimed: (claim) => void fences.push(claim) } },
      await delivery(stage),
      never,
    );
    await slow.reachCalls(1);
    await endLease(stage);
    const quick = scriptedProvider(() => reply(path));
    await runTrial(trialPorts(stage.store, quick, "host/2/1"), await delivery(stage), never);
    gate.open();
    await first;
    expect(
      await stage.store.endTry(fences[0]?.trialId ?? "", 1, { kind: "failed", outcome: "transport", message: "" }),
    ).toBe("lost");
    expect(await stage.books()).toEqual({ states: { done: 1 }, accepted: 1, exchanges: 2, lateDuplicates: 1 });
  });

  it("makes no paid request where another holds the claim", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1);
    const gate = createGate();
    const slow = scriptedProvider(async () => {
      await gate.opened;
      return reply(path);
    });
    const first = runTrial(trialPorts(stage.store, slow, "host/1/1"), await delivery(stage), never);
    await slow.reachCalls(1);
    const second = scriptedProvider(() => reply(path));
    expect(await runTrial(trialPorts(stage.store, second, "host/2/1"), await delivery(stage), never)).toMatchObject({
      kind: "retry-later",
    });
    expect(second.calls()).toBe(0);
    gate.open();
    expect(await first).toEqual({ kind: "done" });
    expect(await stage.books()).toEqual({ states: { done: 1 }, accepted: 1, exchanges: 1, lateDuplicates: 0 });
  });
});

describe("a call that lasts for several leases", () => {
  it("is made once, while two workers look for lost trials", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1);
    const provider = scriptedProvider(async () => {
      await sleep(3 * shortTimes.leaseMs);
      return reply(path);
    });
    for (const _ of [1, 2]) stage.work({ provider });
    await stage.reach("done", 1);
    expect(provider.calls()).toBe(1);
    expect(await stage.books()).toEqual({ states: { done: 1 }, accepted: 1, exchanges: 1, lateDuplicates: 0 });
  });
});

describe("a worker process whose event loop stands still past its lease", () => {
  it("loses its trial to another: one reply is accepted, the late one archived", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1);
    const script = fileURLToPath(new URL("../test/blocked-worker.ts", import.meta.url));
    const blocked = spawn(process.execPath, ["--import", "tsx", script, stage.databaseUrl, "800", "4000"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void blocked.kill("SIGKILL"));
    await once(blocked.stdout, "data");
    const provider = scriptedProvider(() => reply(path));
    stage.work({ provider });
    // Refused while the lease holds, so the call is made once it has ended, and once only.
    await stage.reach("done", 1);
    await vi.waitFor(async () => expect(await stage.books()).toMatchObject({ lateDuplicates: 1 }), { timeout: 20_000 });
    expect(await stage.books()).toEqual({ states: { done: 1 }, accepted: 1, exchanges: 2, lateDuplicates: 1 });
    expect(provider.calls()).toBe(1);
    expect(await stage.sql("SELECT text FROM trials t JOIN exchanges e ON e.id = t.accepted_exchange_id")).toEqual([
      { text: path },
    ]);
  });
});

describe("a process that dies between the record of an exchange and the end of its try", () => {
  /** Runs the trial in a process that dies there, then in another; gives the first end and the calls of the second. */
  async function dieThenRun(stage: WorkerStage, first: ChatResult, next: ChatResult) {
    const dying = scriptedProvider(() => first);
    await expect(
      runTrial(trialPorts(dyingBeforeEnd(stage.store), dying, "host/1/1"), await delivery(stage), never),
    ).rejects.toThrow("gone");
    await endLease(stage);
    const provider = scriptedProvider(() => next);
    const result = await runTrial(trialPorts(stage.store, provider, "host/2/1"), await delivery(stage), never);
    const [trial] = await stage.sql("SELECT state::text, outcome, tries, empty_retries AS empty FROM trials");
    return { result, trial, calls: provider.calls() };
  }

  it("has its reply scored by the next, which asks nobody", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1);
    const after = await dieThenRun(stage, reply(path), reply("never asked for"));
    expect(after).toEqual({
      result: { kind: "done" },
      calls: 0,
      trial: { state: "done", outcome: "ok", tries: 1, empty: 0 },
    });
    expect(await stage.books()).toMatchObject({ accepted: 1, exchanges: 1 });
  });

  it("has its failure counted: tries 1 is exactly one request", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1, { tries: 1 });
    const after = await dieThenRun(stage, failure(), reply(path));
    expect(after).toMatchObject({ calls: 0, trial: { state: "failed", outcome: "transient_server", tries: 1 } });
    expect(await stage.books()).toMatchObject({ accepted: 0, exchanges: 1 });
  });

  it("has its failure spend one of several tries, and the next asks again", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1, { tries: 2 });
    const after = await dieThenRun(stage, failure(), reply(path));
    expect(after).toMatchObject({ result: { kind: "retry-later" }, calls: 0, trial: { state: "queued", tries: 1 } });
    await endLease(stage);
    const provider = scriptedProvider(() => reply(path));
    expect(await runTrial(trialPorts(stage.store, provider, "host/2/1"), await delivery(stage), never)).toEqual({
      kind: "done",
    });
    expect(await stage.books()).toMatchObject({ states: { done: 1 }, exchanges: 2 });
  });

  it("has its empty reply asked for once more, as without the crash", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1);
    const after = await dieThenRun(stage, reply(""), reply(path));
    expect(after).toMatchObject({ result: { kind: "retry-later" }, calls: 0, trial: { state: "queued", empty: 1 } });
  });

  it("has a cut prompt found out, as without the crash", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1);
    const after = await dieThenRun(stage, reply(path, 12), reply(path));
    expect(after).toMatchObject({ calls: 0, trial: { state: "failed", outcome: "prompt_truncated" } });
  });
});

describe("a ledger that refuses a received reply", () => {
  it("gets it when it has room again, and the provider is not asked a second time", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1);
    let refusals = 0;
    const full: StorePort = {
      ...stage.store,
      recordExchange: async (exchange) => {
        refusals += 1;
        if (refusals <= 5) throw new StoreError("database-full", "no disk space left", { retry: true });
        return stage.store.recordExchange(exchange);
      },
    };
    const provider = scriptedProvider(() => reply(path));
    expect(await runTrial(trialPorts(full, provider, "host/1/1"), await delivery(stage), never)).toEqual({
      kind: "done",
    });
    expect(refusals).toBe(6);
    expect(provider.calls()).toBe(1);
    expect(await stage.books()).toEqual({ states: { done: 1 }, accepted: 1, exchanges: 1, lateDuplicates: 0 });
  });

  it("for too long leaves the trial retryable, with a plain reason", async () => {
    const stage = await openWorkerStage();
    await stage.submit(1);
    const full: StorePort = {
      ...stage.store,
      recordExchange: () => Promise.reject(new StoreError("database-full", "no disk space left", { retry: true })),
    };
    const ports = {
      ...trialPorts(
        full,
        scriptedProvider(() => reply(path)),
        "host/1/1",
      ),
      archivePatienceMs: 1000,
    };
    await expect(runTrial(ports, await delivery(stage), never)).rejects.toMatchObject({
      code: "archive-failed",
      retry: true,
      message: expect.stringContaining("disk space"),
    });
    await endLease(stage);
    const provider = scriptedProvider(() => reply(path));
    expect(await runTrial(trialPorts(stage.store, provider, "host/1/1"), await delivery(stage), never)).toEqual({
      kind: "done",
    });
    expect(await stage.books()).toMatchObject({ states: { done: 1 }, accepted: 1, exchanges: 1 });
  });
});
