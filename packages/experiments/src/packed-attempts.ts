import type { PatternAttempt } from "@hallumaze/metrics";

/** Attempts as numbers, two each: 16 bytes where objects take 90. Edges keep which are the same, not their names. */
export type PackedAttempts = Float64Array;

/** Packs a trial's attempts. */
export function packAttempts(attempts: readonly PatternAttempt[]): PackedAttempts {
  const packed = new Float64Array(2 * attempts.length);
  const edges = new Map<string, number>();
  for (const [at, { confidence, correct, edge, repeats }] of attempts.entries()) {
    if (edge !== null && !edges.has(edge)) edges.set(edge, edges.size + 1);
    const edgeNumber = edge === null ? 0 : (edges.get(edge) ?? 0);
    packed[2 * at] = confidence ?? Number.NaN;
    packed[2 * at + 1] = 4 * edgeNumber + (correct ? 2 : 0) + (repeats ? 1 : 0);
  }
  return packed;
}

/** Gives the attempts back; an edge's name is its number in the trial. */
export function unpackAttempts(packed: PackedAttempts): readonly PatternAttempt[] {
  return Array.from({ length: packed.length / 2 }, (_, at) => {
    const confidence = packed[2 * at] ?? Number.NaN;
    const rest = packed[2 * at + 1] ?? 0;
    const edgeNumber = Math.floor(rest / 4);
    return {
      confidence: Number.isNaN(confidence) ? null : confidence,
      correct: (rest & 2) !== 0,
      edge: edgeNumber === 0 ? null : String(edgeNumber),
      repeats: (rest & 1) !== 0,
    };
  });
}
