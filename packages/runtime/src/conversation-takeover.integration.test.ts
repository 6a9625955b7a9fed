import { type ChatRequest, runTrial, type StorePort, type SweepRecord } from "@hallumaze/engine";
import { retryTrials } from "@hallumaze/steering";
import { describe, expect, it } from "vitest";

import { ariadneOf, converse, type Conversations, rowsOf, talksOf } from "../test/conversation-stage.ts";
import { failure, reply } from "../test/worker-replies.ts";
import { createGate, openWorkerStage, scriptedProvider, trialPorts, type WorkerStage } from "../test/worker-stage.ts";

// Conversations whose worker is lost at a moment that no server can choose.

const never = new AbortController().signal;
const lost = [
  "STEP 1: (0,0) → [S↓] | Confidence: 80% | open",
  "STEP 2: (1,0) → [N↑] | Confidence: 80% | retreat",
  "STEP 3: (0,0) → [S↓] | Confidence: 80% | open",
  "FINAL_PATH: N/A",
].join("\n");
const found = [
  "STEP 1: (0,0) → [S↓] | Confidence: 80% | open",
  "STEP 2: (1,0) → [S↓] | Confidence: 80% | open",
  "FINAL_PATH: (0,0) → (1,0) → (2,0)",
].join("\n");

/** Answers the first turn with `lost`, every other with `found`. */
const answers = () => scriptedProvider((request) => reply(turnOf(request) === 0 ? lost : found));
const turnOf = ({ messages }: ChatRequest) => (messages.length - 1) / 2;

async function open(given: Conversations = {}) {
  const stage = await openWorkerStage();
  const sweep = await converse(stage, "talk", { specModels: ["sim/oracle"], ...given });
  return { stage, sweep };
}

async function delivery(stage: WorkerStage) {
  const [row] = await stage.sql<{ trialId: string; generation: number }>(
    `SELECT id::text AS "trialId", generation FROM trials`,
  );
  if (row === undefined) throw new Error("no trial");
  return row;
}

const endLease = (stage: WorkerStage) =>
  stage.sql("UPDATE trials SET lease_until = now() - interval '1 s', not_before = NULL");

async function resultOf(stage: WorkerStage, sweep: SweepRecord) {
  const [row] = await rowsOf(stage.store, sweep);
  return { outcome: row?.outcome, scores: row?.scores, readingJson: row?.readingJson };
}

async function undisturbed() {
  const { stage, sweep } = await open();
  expect(await runTrial(trialPorts(stage.store, answers(), "host/1/1"), await delivery(stage), never)).toEqual({
    kind: "done",
  });
  return resultOf(stage, sweep);
}

describe("a worker that is lost between two turns", () => {
  it("leaves its first answer to the next, which asks for the second alone: two replies in all, the same scores", async () => {
    const expected = await undisturbed();
    const { stage, sweep } = await open();
    const dying: StorePort = {
      ...stage.store,
      recordExchange: async (exchange) => {
        await stage.store.recordExchange(exchange);
        throw new Error("the process is gone");
      },
    };
    const first = answers();
    await expect(runTrial(trialPorts(dying, first, "host/1/1"), await delivery(stage), never)).rejects.toThrow("gone");
    expect(first.calls()).toBe(1);
    await endLease(stage);
    const second = answers();
    stage.work({ provider: second });
    const [talk] = await talksOf(stage, sweep, ["done"]);
    expect(second.calls()).toBe(1);
    expect(talk?.exchanges.map(({ turn, text }) => [turn, text])).toEqual([
      [0, lost],
      [1, found],
    ]);
    expect(talk).toMatchObject({ tries: 1 });
    expect(await resultOf(stage, sweep)).toEqual(expected);
  });

  it("and comes back with a second answer has it archived as a duplicate; its successor's counts", async () => {
    const expected = await undisturbed();
    const { stage, sweep } = await open();
    const gate = createGate();
    const slow = scriptedProvider(async (request) => {
      if (turnOf(request) === 0) return reply(lost);
      await gate.opened;
      return reply("FINAL_PATH: (0,0)");
    });
    const first = runTrial(trialPorts(stage.store, slow, "host/1/1"), await delivery(stage), never);
    await slow.reachCalls(2);
    await endLease(stage);
    const quick = answers();
    expect(await runTrial(trialPorts(stage.store, quick, "host/2/1"), await delivery(stage), never)).toEqual({
      kind: "done",
    });
    gate.open();
    expect(await first).toEqual({ kind: "give-up", reason: "lost-lease" });
    expect(quick.calls()).toBe(1);
    const [talk] = await talksOf(stage, sweep);
    expect(talk?.exchanges.map(({ turn, late, text }) => [turn, late, text])).toEqual([
      [0, false, lost],
      [1, false, found],
      [1, true, "FINAL_PATH: (0,0)"],
    ]);
    expect(await resultOf(stage, sweep)).toEqual(expected);
  });

  it("after the second turn's failure was recorded has it counted; then that turn alone is asked again", async () => {
    const { stage, sweep } = await open({ retries: { tries: 2 } });
    const dying: StorePort = { ...stage.store, endTry: () => Promise.reject(new Error("the process is gone")) };
    const failing = scriptedProvider((request) => (turnOf(request) === 0 ? reply(lost) : failure()));
    await expect(runTrial(trialPorts(dying, failing, "host/1/1"), await delivery(stage), never)).rejects.toThrow(
      "gone",
    );
    await endLease(stage);
    const provider = answers();
    const ports = trialPorts(stage.store, provider, "host/2/1");
    expect(await runTrial(ports, await delivery(stage), never)).toMatchObject({ kind: "retry-later" });
    expect(provider.calls()).toBe(0);
    await endLease(stage);
    expect(await runTrial(ports, await delivery(stage), never)).toEqual({ kind: "done" });
    expect(provider.calls()).toBe(1);
    const [talk] = await talksOf(stage, sweep);
    expect(talk?.exchanges.map(({ turn, outcome }) => [turn, outcome])).toEqual([
      [0, null],
      [1, "transient_server"],
      [1, null],
    ]);
    expect(talk).toMatchObject({ tries: 2 });
  });

  it("because it was told to stop gives the trial back unspent, with its first answer", async () => {
    const { stage, sweep } = await open();
    const stop = new AbortController();
    const stopped = scriptedProvider((request, _call, signal) => {
      if (turnOf(request) === 0) return reply(lost);
      stop.abort();
      return Promise.reject(signal.reason);
    });
    const ports = trialPorts(stage.store, stopped, "host/1/1");
    expect(await runTrial(ports, await delivery(stage), stop.signal)).toEqual({ kind: "retry-later", afterMs: 0 });
    const provider = answers();
    stage.work({ provider });
    const [talk] = await talksOf(stage, sweep, ["done"]);
    expect(provider.calls()).toBe(1);
    expect(talk).toMatchObject({ tries: 1, exchanges: [{ turn: 0 }, { turn: 1 }] });
  });
});

describe("a plan whose hints this program does not know", () => {
  const setVersion = (stage: WorkerStage, version: string) =>
    stage.sql(`UPDATE trials SET plan = jsonb_set(plan::jsonb, '{ariadne,version}', to_jsonb($1::text))`, [version]);

  it("ends failed with that reason, and no request", async () => {
    const { stage, sweep } = await open();
    await setVersion(stage, "h999");
    const provider = answers();
    stage.work({ provider });
    const [talk] = await talksOf(stage, sweep);
    expect(talk).toMatchObject({ state: "failed", outcome: "internal", exchanges: [] });
    expect(talk?.message).toMatch(/^hints of version h999 are not known to this program, which has h\d+$/);
    expect(provider.calls()).toBe(0);
  });

  it("keeps the first answer that it has for a program that does", async () => {
    const { stage, sweep } = await open({ retries: { tries: 1 } });
    const failing = scriptedProvider((request) => (turnOf(request) === 0 ? reply(lost) : failure()));
    await runTrial(trialPorts(stage.store, failing, "host/1/1"), await delivery(stage), never);
    const [{ version } = { version: "" }] = await stage.sql<{ version: string }>(
      "SELECT plan->'ariadne'->>'version' AS version FROM trials",
    );
    await setVersion(stage, "h999");
    await retryTrials(stage, sweep.sweepId, {});
    const provider = answers();
    const ports = trialPorts(stage.store, provider, "host/1/1");
    await runTrial(ports, await delivery(stage), never);
    expect(await talksOf(stage, sweep)).toMatchObject([{ state: "failed", outcome: "internal" }]);
    await setVersion(stage, version);
    await retryTrials(stage, sweep.sweepId, {});
    expect(await runTrial(ports, await delivery(stage), never)).toEqual({ kind: "done" });
    expect(provider.calls()).toBe(1);
  });
});

describe("a shadow that this program itself fails to ask for", () => {
  it("takes nothing from A either: done with its first answer", async () => {
    const { stage, sweep } = await open({ groups: ["A"], retries: { tries: 1 } });
    const provider = scriptedProvider((request) =>
      turnOf(request) === 0 ? reply(lost) : Promise.reject(new Error("a defect of the adapter")),
    );
    const ports = trialPorts(stage.store, provider, "host/1/1");
    const settingsOf: typeof ports.settingsOf = async (claim) => ({ ...(await ports.settingsOf(claim)), shadow: true });
    expect(await runTrial({ ...ports, settingsOf }, await delivery(stage), never)).toEqual({ kind: "done" });
    expect(provider.calls()).toBe(2);
    const [row] = await rowsOf(stage.store, sweep);
    expect(row).toMatchObject({ outcome: "ok" });
    expect(ariadneOf(row)).toMatchObject({ shadow: null });
  });
});
