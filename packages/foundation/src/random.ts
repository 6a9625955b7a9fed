import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { MersenneTwister19937 } from "random-js";

/** A seeded stream of random numbers. The same seed gives the same stream on every platform and Node version. */
export interface Random {
  /** One 32-bit output, 0 … 2^32-1. */
  readonly uint32: () => number;
  /** A uniform integer in 0 … count-1; count is an integer in 1 … 2^32-1. Draws even where count is 1. */
  readonly below: (count: number) => number;
  /** A uniform number in [0, 1) with 53 random bits. */
  readonly fraction: () => number;
}

/**
 * Creates CPython's generator: MT19937 seeded by `init_by_array` of the seed's 32-bit words, with CPython's
 * `_randbelow_with_getrandbits` and `random()`.
 *
 * `seed` is a non-negative safe integer (0 is valid), or a text whose SHA-256 words are the seed array.
 * SOURCE: CPython Modules/_randommodule.c, Lib/random.py; parity with the published HalluMaze mazes.
 */
export function createRandom(seed: number | string): Random {
  const engine = MersenneTwister19937.seedWithArray(seedWords(seed));
  const uint32 = (): number => engine.next() >>> 0;
  return {
    uint32,
    below: (count) => {
      const bits = 32 - Math.clz32(count);
      let drawn: number;
      do drawn = uint32() >>> (32 - bits);
      while (drawn >= count);
      return drawn;
    },
    fraction: () => ((uint32() >>> 5) * 67_108_864 + (uint32() >>> 6)) / 9_007_199_254_740_992,
  };
}

function seedWords(seed: number | string): number[] {
  if (typeof seed === "string") {
    const digest = sha256(utf8ToBytes(seed));
    const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength);
    return Array.from({ length: 8 }, (_, word) => view.getInt32(word * 4, true));
  }
  const high = Math.floor(seed / 4_294_967_296);
  return high === 0 ? [seed | 0] : [seed | 0, high | 0];
}
