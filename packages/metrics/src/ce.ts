import type { Walk } from "./walk.ts";

/**
 * CE, calibration error: mean |confidence - correct| over the attempts that carry a confidence; correct is 1 for a legal
 * move without a teleport, else 0.
 *
 * Range 0 … 1, better when lower; null where no confidence was read. n: lines with a confidence; attempts without one,
 * and those in no count (malformed, skipped, after EXIT), are left out. SOURCE: seed, section 6; benchmark specification,
 * section 6.
 */
export function calibrationError({ steps }: Pick<Walk, "steps">): number | null {
  let sum = 0;
  let n = 0;
  for (const { confidence, confidenceCounts, kind, relocation } of steps) {
    if (confidence === null || !confidenceCounts) continue;
    const correct = kind === "ok" && relocation !== "teleport" ? 1 : 0;
    sum += Math.abs(confidence - correct);
    n++;
  }
  return n === 0 ? null : sum / n;
}
