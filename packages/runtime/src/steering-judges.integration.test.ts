import { cancelSweep, resumeSweep } from "@hallumaze/steering";
import { expect, it } from "vitest";

import { type JudgeStage, openJudgeStage, price, verdictOn } from "../test/judge-stage.ts";
import { createGate } from "../test/worker-stage.ts";

/** A judge whose first call for the sweep waits at the gate, and a sweep of six trials with that call under way. */
async function openHeld(stage: JudgeStage, judge: string) {
  const gate = createGate();
  stage.judges.play(judge, async (request, call) => {
    if (call === 1) await gate.opened;
    return verdictOn(request, 3);
  });
  const sweep = await stage.sweep(judge, {
    judge: { models: [`openai/${judge}`] },
    models: ["openai/plain"],
    seeds: ["1..6"],
    prices: { [`openai/${judge}`]: price },
  });
  await expect.poll(() => stage.judges.asked(judge).length, { timeout: 30_000 }).toBe(1);
  // All six are asked for before anything is said.
  await expect.poll(async () => (await stage.asked(sweep)).length, { timeout: 30_000 }).toBe(6);
  return { gate, sweep };
}

async function openSolved(): Promise<JudgeStage> {
  const stage = await openJudgeStage();
  stage.candidate("plain");
  stage.work({});
  stage.judging({ concurrency: 1 });
  return stage;
}

const statesOf = async (stage: JudgeStage, sweep: Parameters<JudgeStage["asked"]>[0]) =>
  (await stage.asked(sweep)).map(({ state }) => state).toSorted();

it("a paused sweep's judges are asked nothing more, and all of the rest once it is resumed", async () => {
  const stage = await openSolved();
  const { gate, sweep } = await openHeld(stage, "held");
  await stage.store.pauseSweep(sweep.sweepId, []);
  gate.open();
  await expect.poll(() => statesOf(stage, sweep), { timeout: 20_000 }).toContain("done");
  const { gate: other, sweep: free } = await openHeld(stage, "free");
  other.open();
  await stage.settled(free, 6);
  expect(stage.judges.asked("held")).toHaveLength(1);
  expect(await statesOf(stage, sweep)).toEqual(["done", "queued", "queued", "queued", "queued", "queued"]);
  await resumeSweep(stage, sweep.sweepId, { resumed: [], held: [] });
  await stage.settled(sweep, 6);
  expect(stage.judges.asked("held")).toHaveLength(6);
});

it("a sweep cancelled whole has its open judgements cancelled; the call under way is kept", async () => {
  const stage = await openSolved();
  const { gate, sweep } = await openHeld(stage, "gone");
  expect(await cancelSweep(stage.store, sweep.sweepId, {}, { now: false })).toMatchObject({ judgements: 5 });
  gate.open();
  await expect
    .poll(() => statesOf(stage, sweep), { timeout: 20_000 })
    .toEqual(["cancelled", "cancelled", "cancelled", "cancelled", "cancelled", "done"]);
  expect(await stage.verdicts(sweep)).toHaveLength(1);
});
