import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { deliveryJobId, readPayload, safeDelayMs, writePayload } from "./payload.ts";

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
