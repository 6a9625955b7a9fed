import type { Walk } from "./walk.ts";

/**
 * L, the loop-escape factor of MEI: 1 where a loop was truly claimed and a dead end backed out of (LT > 0 and BT > 0), or
 * where SR = 1; else 0.
 *
 * 0 or 1, better when 1. n: one walk; never missing. SOURCE: seed, section 6; benchmark specification, section 6.
 */
export function loopEscape({ lt, bt, sr }: Pick<Walk, "lt" | "bt" | "sr">): 0 | 1 {
  return (lt > 0 && bt > 0) || sr === 1 ? 1 : 0;
}
