import { describe, expect, it } from "vitest";

import { readUse } from "./lane-use.ts";

/** A lane of 600 requests and 8,000 output tokens a minute, first used long ago, told in the midst of a slot of 5 s. */
const told = {
  now: 1_002_500,
  factor: 1,
  granted: 900,
  limited: 2,
  inFlight: 4,
  configured: [600, 0, 8_000, 0, 10],
  learned: [0, 0, 0, 0, 0],
  left: [1, 1, 1, 1, 1],
  used: [287.5, 90_000, 3_000],
  firstAt: 0,
};

describe("readUse", () => {
  it("utilisation is used over allowed in the counted span, for the fullest limit unless another bound lately", () => {
    // Eleven whole slots and a half: 57.5 s, in which 575 requests and 7,667 tokens were allowed.
    expect(readUse("lane", told, 60_000)).toMatchObject({ binding: "rpm", utilisation: 0.5 });
    const bound = readUse("lane", { ...told, binding: 3, boundAt: 990_000 }, 60_000);
    expect(bound.binding).toBe("outputTpm");
    expect(bound.utilisation).toBeCloseTo(3_000 / 7_666.7, 4);
    expect(readUse("lane", { ...told, binding: 3, boundAt: 900_000 }, 60_000).binding).toBe("rpm");
  });

  it("a lane that began 10 s ago is measured over those", () => {
    const young = readUse("lane", { ...told, firstAt: 992_500, used: [50, 0, 0] }, 60_000);
    expect(young.utilisation).toBeCloseTo(0.5, 10);
  });

  it("before any use, utilisation and binding are null", () => {
    const { firstAt: _, ...unused } = told;
    expect(readUse("lane", { ...unused, used: [0, 0, 0] }, 60_000)).toMatchObject({ utilisation: null, binding: null });
  });

  it("a cooldown that bound lately is named, with the use of the fullest limit", () => {
    const cooled = readUse("lane", { ...told, binding: 6, boundAt: 1_000_000 }, 60_000);
    expect(cooled).toMatchObject({ binding: "cooldown", utilisation: 0.5 });
  });

  it("effective limits are the smaller of configured and learned, shrunk, or what others leave; slots stay", () => {
    const shrunk = { ...told, factor: 0.5, learned: [400, 0, 16_000, 90_000, 0], left: [0.4, 1, 1, 1, 1] };
    expect(readUse("lane", shrunk, 60_000)).toMatchObject({
      limits: { rpm: 600, outputTpm: 8_000, concurrency: 10 },
      effective: { rpm: 160, outputTpm: 4_000, tpm: 45_000, concurrency: 10 },
    });
  });

  it("with slots alone, utilisation is their share in use", () => {
    const slots = readUse("lane", { ...told, configured: [0, 0, 0, 0, 10] }, 60_000);
    expect(slots).toMatchObject({ binding: "concurrency", utilisation: 0.4 });
  });

  it("parked since and until are whole milliseconds, and no end is null", () => {
    const parked = { reason: "no credit", sinceMs: 5.4, resumesAtMs: 0 };
    expect(readUse("lane", { ...told, parked }, 60_000).parked).toEqual({
      reason: "no credit",
      sinceMs: 5,
      resumesAtMs: null,
    });
  });
});
