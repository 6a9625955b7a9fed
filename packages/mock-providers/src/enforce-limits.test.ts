import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { type LaneLimits, openLimits } from "./enforce-limits.ts";

function openLane(limits: LaneLimits) {
  let nowMs = 0;
  const all = openLimits({ "openai/*": limits }, () => nowMs);
  const lane = all.lane("openai", "key", "gpt-4o");
  return {
    lane,
    all,
    wait: (spanMs: number): void => {
      nowMs += spanMs;
    },
    admitAndSettle: (inputTokens = 0, outputTokens = 0) => {
      const admission = lane.admit();
      if (admission.admitted) lane.settle(inputTokens, outputTokens);
      return admission;
    },
  };
}

describe("openLimits", () => {
  it("lets the stated capacity through at once and then one request each refill", () => {
    const { admitAndSettle, wait } = openLane({ rpm: 60, capacityShare: 0.05 });
    expect([1, 2, 3].map(() => admitAndSettle().admitted)).toEqual([true, true, true]);
    expect(admitAndSettle()).toEqual({ admitted: false, dimension: "requests", waitMs: 1000 });
    wait(1000);
    expect(admitAndSettle().admitted).toBe(true);
    expect(admitAndSettle().admitted).toBe(false);
  });

  it("charges tokens at completion and holds the lane until their debt is paid", () => {
    const { admitAndSettle, wait } = openLane({ tpm: 6000, capacityShare: 0.1 });
    expect(admitAndSettle(100, 700).admitted).toBe(true);
    // 600 in the bucket, 800 spent: 201 are missing at 100 a second.
    expect(admitAndSettle()).toEqual({ admitted: false, dimension: "tokens", waitMs: 2010 });
    wait(2010);
    expect(admitAndSettle().admitted).toBe(true);
  });

  it("keeps input and output tokens apart and names the longer wait", () => {
    const { admitAndSettle } = openLane({ inputTpm: 600, outputTpm: 60, capacityShare: 0.1 });
    admitAndSettle(80, 10);
    expect(admitAndSettle()).toMatchObject({ dimension: "outputTokens" });
  });

  it("caps requests in flight", () => {
    const { lane } = openLane({ concurrency: 2 });
    expect([lane.admit().admitted, lane.admit().admitted]).toEqual([true, true]);
    expect(lane.admit()).toMatchObject({ admitted: false, dimension: "concurrency" });
    lane.settle(0, 0);
    expect(lane.admit().admitted).toBe(true);
  });

  it("smooths by the second beside the minute", () => {
    const { admitAndSettle, wait } = openLane({ rpm: 600, rps: 10 });
    const burst = Array.from({ length: 12 }, () => admitAndSettle().admitted);
    expect(burst.filter(Boolean)).toHaveLength(10);
    wait(1000);
    expect(admitAndSettle().admitted).toBe(true);
  });

  it("charges refused requests nothing", () => {
    const { admitAndSettle, wait } = openLane({ rpm: 60, capacityShare: 0.01 });
    admitAndSettle();
    for (let tries = 0; tries < 50; tries += 1) admitAndSettle();
    wait(1000);
    expect(admitAndSettle().admitted).toBe(true);
  });

  it("gives each key and model its own buckets", () => {
    const all = openLimits({ "*": { rpm: 1 } }, () => 0);
    const names = [
      ["a", "m"],
      ["b", "m"],
      ["a", "n"],
    ] as const;
    expect(names.map(([key, model]) => all.lane("openai", key, model).admit().admitted)).toEqual([true, true, true]);
    expect(all.lane("openai", "a", "m").admit().admitted).toBe(false);
  });

  it("follows a limit that is halved and restored, keeping the bucket's share", () => {
    const { lane, all, wait } = openLane({ rpm: 100 });
    for (let sent = 0; sent < 50; sent += 1) lane.admit();
    all.set({ "openai/*": { rpm: 50 } });
    expect(lane.meters()).toEqual([{ dimension: "requests", limit: 50, remaining: 25, resetMs: 30_000 }]);
    all.set({ "openai/*": { rpm: 100 } });
    expect(lane.meters()).toMatchObject([{ limit: 100, remaining: 50 }]);
    wait(60_000);
    expect(lane.meters()).toMatchObject([{ remaining: 100, resetMs: 0 }]);
  });

  it("refills slower by what an outside tenant takes, under the same stated limit", () => {
    const { lane, wait } = openLane({ rpm: 60, takenByOthers: 0.4 });
    for (let sent = 0; sent < 60; sent += 1) lane.admit();
    wait(10_000);
    expect(lane.meters()).toMatchObject([{ limit: 60, remaining: 6 }]);
  });

  it("never admits more than capacity plus refill, whatever the arrivals", () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 200 });
    const run = fc.property(gaps, fc.integer({ min: 1, max: 300 }), (spansMs, rpm) => {
      const { admitAndSettle, wait } = openLane({ rpm, capacityShare: 0.1 });
      let admitted = 0;
      let passedMs = 0;
      for (const spanMs of spansMs) {
        wait(spanMs);
        passedMs += spanMs;
        if (admitAndSettle().admitted) admitted += 1;
      }
      expect(admitted).toBeLessThanOrEqual(Math.max(1, rpm * 0.1) + (passedMs * rpm) / 60_000 + 1e-6);
    });
    fc.assert(run, { seed: 3, numRuns: 100 });
  });
});
