import type { Walk } from "./walk.ts";

/**
 * HRR, hallucination recognition rate: min(1, BT / max(HC, 1)) where HC > 0; 1 where HC = 0 and SR = 1; else 0.
 *
 * Range 0 … 1, better when higher. n: one walk; never missing. SOURCE: seed, section 6; benchmark specification, section 6.
 */
export function hallucinationRecognitionRate({ hc, bt, sr }: Pick<Walk, "hc" | "bt" | "sr">): number {
  if (hc > 0) return Math.min(1, bt / Math.max(hc, 1));
  return sr;
}
