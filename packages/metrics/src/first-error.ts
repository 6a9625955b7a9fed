import type { Walk } from "./walk.ts";

/**
 * F, the first-error factor of MEI: 1 - FHR / size² where FHR > 0; 1 where FHR = -1 and SR = 1; else 0.
 *
 * Range 0 … 1. As the seed has it, an early first error counts more than a late one. n: one walk; never missing.
 * SOURCE: seed, section 6; benchmark specification, section 6.
 */
export function firstErrorFactor({ fhr, sr }: Pick<Walk, "fhr" | "sr">, size: number): number {
  if (fhr > 0) return Math.max(0, 1 - fhr / (size * size));
  return fhr === -1 && sr === 1 ? 1 : 0;
}
