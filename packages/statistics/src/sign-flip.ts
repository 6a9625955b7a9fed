import type { Random } from "@hallumaze/foundation";

import { expandedFlips } from "./expanded-interval.ts";

/** A sign-flip permutation test of a mean difference. */
export interface SignFlipTest {
  readonly n: number;
  /** Two-sided; null where n is 0. Drawn at random it is never below 1 / (permutations + 1). */
  readonly p: number | null;
  /** Sign patterns looked at: all 2^n of them where `exact`. */
  readonly permutations: number;
  readonly exact: boolean;
}

/** All patterns up to this many differences: 2^13 is about what is drawn otherwise. */
const exactUpTo = 13;

/**
 * Tests whether the mean of differences is 0 by flipping their signs, which is exact where each difference is symmetric
 * around 0 if nothing has an effect. Up to 13 differences that are not zero all patterns are looked at, above a seeded
 * draw of `permutations` (by default 10,000), the pattern seen being counted among them. From 5,000 on the same p follows
 * from the moments of the sum, without a draw (`expandedFlips`), and is no smaller than draws could say.
 *
 * SOURCE: Fisher (1935), The Design of Experiments, section 21; Phipson & Smyth (2010), Permutation P-values Should Never
 * Be Zero, Statistical Applications in Genetics and Molecular Biology 9:39 (the added 1).
 */
export function signFlipTest(
  differences: readonly number[],
  { random, permutations = 10_000 }: { readonly random: Random; readonly permutations?: number },
): SignFlipTest {
  if (!differences.every(Number.isFinite)) throw new RangeError("a difference is not finite");
  if (!Number.isSafeInteger(permutations) || permutations < 1) {
    throw new RangeError(`expected a whole number of permutations from 1, got ${permutations}`);
  }
  const { length: n } = differences;
  if (n === 0) return { n, p: null, permutations: 0, exact: true };
  // Sorted, so that the same differences give the same draws whatever their order.
  const sizes = differences.filter((difference) => difference !== 0).sort((a, b) => a - b);
  const seen = Math.abs(sizes.reduce((sum, size) => sum + size, 0));
  // A pattern that equals the one seen must not fall behind it by a rounding error.
  const atLeast = seen - 1e-12 * sizes.reduce((sum, size) => sum + Math.abs(size), 0);
  if (sizes.length <= exactUpTo) {
    const patterns = 2 ** sizes.length;
    let extreme = 0;
    for (let pattern = 0; pattern < patterns; pattern++) {
      if (Math.abs(flippedSum(sizes, (at) => (pattern >>> at) & 1)) >= atLeast) extreme++;
    }
    return { n, p: extreme / patterns, permutations: patterns, exact: true };
  }
  const expanded = expandedFlips(sizes);
  if (expanded !== null) return { n, p: Math.max(expanded, 1 / (permutations + 1)), permutations, exact: false };
  return {
    n,
    p: (1 + countExtreme(sizes, atLeast, random, permutations)) / (permutations + 1),
    permutations,
    exact: false,
  };
}

/** Signs that are looked up together: what four differences add up to by the four signs drawn for them. */
const signsTogether = 4;
const patternsTogether = 2 ** signsTogether;
/** Bits of a random number, and the room that their lookups take. */
const signsDrawn = 32;
const drawnRoom = (signsDrawn / signsTogether) * patternsTogether;

/** How many of the sign patterns drawn, a bit a sign, sum up to `atLeast` on either side. */
function countExtreme(sizes: readonly number[], atLeast: number, random: Random, permutations: number): number {
  const draws = Math.ceil(sizes.length / signsDrawn);
  const sums = new Float64Array(draws * drawnRoom);
  for (let at = 0; at < sums.length; at++) {
    const first = Math.floor(at / patternsTogether) * signsTogether;
    sums[at] = flippedSum(sizes, (place) => (at >>> (place - first)) & 1, first, first + signsTogether);
  }
  let extreme = 0;
  for (let drawn = 0; drawn < permutations; drawn++) {
    let sum = 0;
    for (let at = 0; at < sums.length; at += drawnRoom) {
      let bits = random.uint32();
      for (let row = at; row < at + drawnRoom; row += patternsTogether) {
        sum += sums[row + (bits & (patternsTogether - 1))] ?? 0;
        bits >>>= signsTogether;
      }
    }
    if (Math.abs(sum) >= atLeast) extreme++;
  }
  return extreme;
}

function flippedSum(sizes: readonly number[], flips: (at: number) => number, from = 0, to = sizes.length): number {
  let sum = 0;
  for (let at = from; at < Math.min(to, sizes.length); at++)
    sum += flips(at) === 0 ? (sizes[at] ?? 0) : -(sizes[at] ?? 0);
  return sum;
}
