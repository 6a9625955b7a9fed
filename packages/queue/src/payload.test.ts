import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { deliveryJobId, deliveryRank, readPayload, safeDelayMs, writePayload } from "./payload.ts";

const delivery = fc.record({
  trialId: fc.string({
    minLength: 1,
    maxLength: 40,
    unit: fc.integer({ min: 0x21, max: 0x7e }).map(String.fromCharCode),
  }),
  generation: fc.nat(),
});

describe("payload", () => {
  it("what is written can be read", () => {
    fc.assert(
      fc.property(delivery, (each) => {
        expect(readPayload(writePayload(each))).toEqual(each);
      }),
      { seed: 1 },
    );
  });

  it("holds ids only: further fields of the caller's object stay out", () => {
    const item = { trialId: "a", generation: 0, delayMs: 5, prompt: "long" };
    expect(writePayload(item)).toEqual({ trialId: "a", generation: 0 });
  });

  it.each([
    ["a further field", { trialId: "a", generation: 0, priority: 1 }],
    ["a missing field", { trialId: "a" }],
    ["a fraction", { trialId: "a", generation: 0.5 }],
    ["text", "a"],
    ["nothing", null],
  ])("%s cannot be read", (_, data) => expect(readPayload(data)).toBeNull());
});

describe("deliveryJobId", () => {
  it("tells any two deliveries apart", () => {
    fc.assert(
      fc.property(delivery, delivery, (a, b) => {
        const same = a.trialId === b.trialId && a.generation === b.generation;
        expect(deliveryJobId(a) === deliveryJobId(b)).toBe(same);
      }),
      { seed: 2 },
    );
  });

  it("is never a whole number and holds no colon, as BullMQ asks", () => {
    fc.assert(
      fc.property(delivery, (each) => {
        expect(deliveryJobId(each)).not.toMatch(/:|^\d+$/);
      }),
      { seed: 3 },
    );
  });
});

describe("safeDelayMs", () => {
  it.each([
    [-5, 0],
    [0.2, 1],
    [Number.POSITIVE_INFINITY, 31_536_000_000],
  ])("%d ms become %d", (given, kept) => expect(safeDelayMs(given)).toBe(kept));
});

describe("deliveryRank", () => {
  it("a higher priority stands before any turn of a lower one, and all of them in what BullMQ takes", () => {
    const most = deliveryRank({ priority: -10, turn: Number.MAX_VALUE });
    expect(deliveryRank({ priority: 10, turn: -5 })).toBe(1);
    expect(deliveryRank({ priority: 1, turn: 1e9 })).toBeLessThan(deliveryRank({ priority: 0 }));
    expect(most).toBeLessThanOrEqual(2 ** 21 - 1);
    expect(deliveryRank({ priority: 99 })).toBe(deliveryRank({ priority: 10 }));
  });

  it("four turns count as equal, so that sweeps alternate by weight: one turn apart and a third of one", () => {
    expect([0, 3.9, 4, 8].map((turn) => deliveryRank({ turn }) - deliveryRank({}))).toEqual([0, 0, 1, 2]);
  });
});
