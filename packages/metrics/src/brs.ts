import { isJudged, type Walk } from "./walk.ts";

/**
 * BRS, bias resistance score: 1 where HC = 0 and SR = 1; else max(0, 1 - HC / max(1, BT + HC)).
 *
 * Range 0 … 1, better when higher; null where no attempt was made (malformed ones are none). n: one walk. It knows
 * nothing of traps: `mirageResistance` of the walk does. SOURCE: seed, section 6; benchmark specification, section 6.
 */
export function biasResistanceScore({ steps, hc, bt, sr }: Pick<Walk, "steps" | "hc" | "bt" | "sr">): number | null {
  if (hc === 0 && !steps.some(isJudged)) return null;
  if (hc === 0 && sr === 1) return 1;
  return Math.max(0, 1 - hc / Math.max(1, bt + hc));
}
