import { describe, expect, it } from "vitest";

import { createRandom } from "./random.ts";

describe("createRandom", () => {
  it("draws CPython's integers: 20 of 0…59 with seed 42", () => {
    const random = createRandom(42);
    const drawn = Array.from({ length: 20 }, () => random.below(60));
    expect(drawn).toEqual([40, 7, 1, 47, 17, 15, 14, 8, 47, 6, 43, 47, 57, 34, 5, 37, 27, 2, 1, 5]);
  });

  it("gives CPython's first words of seed 1001", () => {
    const random = createRandom(1001);
    expect([random.uint32(), random.uint32(), random.uint32(), random.uint32()]).toEqual([
      3_421_589_840, 3_988_255_189, 251_797_747, 3_266_925_678,
    ]);
  });

  it("takes 0 as a seed of its own", () => {
    expect(createRandom(0).uint32()).not.toBe(createRandom(1).uint32());
  });

  it("draws even where there is one choice", () => {
    const drawn = createRandom(7);
    drawn.below(1);
    const fresh = createRandom(7);
    fresh.uint32();
    // k = 1 has bit length 1: it takes the top bit and redraws while that bit is 1.
    expect(drawn.uint32()).not.toBe(createRandom(7).uint32());
  });

  it("seeds from a text, differently for different texts", () => {
    expect(createRandom("a").uint32()).toBe(createRandom("a").uint32());
    expect(createRandom("a").uint32()).not.toBe(createRandom("b").uint32());
  });
});
