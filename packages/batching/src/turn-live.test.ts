import type { LaneLimits, PlanEstimate } from "@hallumaze/engine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { joinAuto, type LiveDemand, liveMs, turnLiveAtMs } from "./turn-live.ts";

/** Walks through live calls on a clock of its own: one starts when a slot and the minute's limits are free. Gives its end. */
function walk(startMs: number, demand: LiveDemand, limits: LaneLimits, slots: number): number {
  const free = Array.from({ length: Math.min(slots, limits.concurrency ?? slots) }, () => startMs);
  const { inputTokens, outputTokens } = demand;
  const gaps = [
    limits.rpm === undefined ? 0 : 60_000 / limits.rpm,
    limits.inputTpm === undefined ? 0 : (60_000 * inputTokens) / limits.inputTpm,
    limits.outputTpm === undefined ? 0 : (60_000 * outputTokens) / limits.outputTpm,
  ];
  const gapMs = Math.max(...gaps);
  const replyMs = 5000 + (outputTokens / 40) * 1000;
  let nextMs = startMs;
  let endMs = startMs;
  for (let request = 0; request < demand.requests; request++) {
    const slot = free.indexOf(Math.min(...free));
    const beginsMs = Math.max(nextMs, free[slot] ?? startMs);
    nextMs = beginsMs + gapMs;
    free[slot] = beginsMs + replyMs;
    endMs = Math.max(endMs, beginsMs + replyMs);
  }
  return endMs;
}

const demands = fc.record({
  requests: fc.integer({ min: 0, max: 400 }),
  inputTokens: fc.integer({ min: 1, max: 5000 }),
  outputTokens: fc.integer({ min: 1, max: 4000 }),
});
const bound = fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined });
const limitsOf = fc
  .record({ rpm: bound, outputTpm: bound, concurrency: bound })
  .map((given): LaneLimits => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)));

describe("turning to live calls", () => {
  it("at the last moment meets the deadline, with ten minutes for a batch to be cancelled (a simulated clock)", () => {
    fc.assert(
      fc.property(demands, limitsOf, fc.integer({ min: 1, max: 64 }), (demand, limits, slots) => {
        const deadline = 1_800_000_000_000;
        const atMs = turnLiveAtMs(deadline, demand, limits, slots);
        expect(walk(atMs + 600_000, demand, limits, slots)).toBeLessThanOrEqual(deadline);
      }),
    );
  });

  it("comes later the less is left, and never waits where nothing is", () => {
    const limits = { rpm: 50 };
    const at = (requests: number) => turnLiveAtMs(0, { requests, inputTokens: 1, outputTokens: 1 }, limits, 16);
    expect(at(1000)).toBeLessThan(at(100));
    expect(liveMs({ requests: 0, inputTokens: 1, outputTokens: 1 }, limits, 16)).toBe(0);
  });
});

const bounds = (low: number, expected: number, high: number) => ({ low, expected, high });
function estimate(costUsd: PlanEstimate["costUsd"], hours: PlanEstimate["hours"]): PlanEstimate {
  const tokens = bounds(1, 2, 3);
  return {
    models: [],
    lanes: [],
    requests: tokens,
    inputTokens: tokens,
    outputTokens: tokens,
    costUsd,
    unpriced: [],
    hours,
    budget: null,
  };
}

describe("a plan of mode auto", () => {
  const batch = estimate(bounds(1, 2, 4), bounds(0.1, 1, 24));
  const live = estimate(bounds(2, 4, 8), bounds(0.5, 1, 2));
  const hour = 3_600_000;
  const join = (hoursLeft: number) => joinAuto(batch, live, { deadlineMs: hoursLeft * hour, nowMs: 0 });

  it("shows both prices, and an interval from all in batches to all live", () => {
    const { estimate: joined, auto } = join(10);
    expect(auto).toMatchObject({ batchUsd: 2, liveUsd: 4, risk: "meets", liveHours: 1 });
    expect(joined.costUsd).toEqual(bounds(1, 2, 8));
    expect(joined.hours.high).toBe(10);
    expect(Date.parse(auto.turnsLiveAt)).toBeLessThan(10 * hour - 2 * hour);
  });

  it("says that it is too soon for batches, or for anything, before a cent is spent", () => {
    expect(join(2)).toMatchObject({
      auto: { risk: "live" },
      estimate: { costUsd: { expected: 4 }, hours: live.hours },
    });
    expect(join(0.9).auto.risk).toBe("misses");
    expect(join(-1).auto.risk).toBe("misses");
  });

  it("does not make up a price that is not known", () => {
    const unknown = joinAuto(estimate(null, batch.hours), live, { deadlineMs: 10 * hour, nowMs: 0 });
    expect([unknown.estimate.costUsd, unknown.auto.batchUsd]).toEqual([null, null]);
  });
});
