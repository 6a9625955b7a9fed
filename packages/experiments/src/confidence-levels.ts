import type { Random } from "@hallumaze/foundation";
import { type Judgement, judgementsForEceMin, type ReliabilityBin, reliabilityBinCount } from "@hallumaze/metrics";

/** Judgements of one stated confidence: how many, and how many of them were right. */
export interface ConfidenceLevel {
  readonly confidence: number;
  count: number;
  right: number;
}

/** Calibration of pooled judgements; each null without the data that it needs. See metrics' `summariseConfidence`. */
export interface Calibration {
  readonly ce: number | null;
  readonly bias: number | null;
  readonly brier: number | null;
  readonly ece: number | null;
  readonly auroc2: number | null;
}

/** The calibration numbers that have intervals, in the order of a table's columns. */
export const calibrationNames = [
  "ce",
  "bias",
  "brier",
  "ece",
  "auroc2",
] as const satisfies readonly (keyof Calibration)[];

/** Adds judgements up by their confidence: a bootstrap can then pool mazes without going through attempts. */
export function toLevels(judgements: readonly Judgement[]): readonly ConfidenceLevel[] {
  const levels = new Map<number, ConfidenceLevel>();
  for (const { confidence, correct } of judgements) {
    const level = levels.get(confidence) ?? { confidence, count: 0, right: 0 };
    levels.set(confidence, level);
    level.count += 1;
    if (correct) level.right += 1;
  }
  return [...levels.values()].sort((a, b) => a.confidence - b.confidence);
}

/** Pools the levels of several mazes; ascending. */
export function poolLevels(mazes: readonly (readonly ConfidenceLevel[])[]): readonly ConfidenceLevel[] {
  const pooled = new Map<number, ConfidenceLevel>();
  for (const levels of mazes) {
    for (const { confidence, count, right } of levels) {
      const level = pooled.get(confidence);
      if (level === undefined) pooled.set(confidence, { confidence, count, right });
      else {
        level.count += count;
        level.right += right;
      }
    }
  }
  return [...pooled.values()].sort((a, b) => a.confidence - b.confidence);
}

/** Prepares resamples of mazes: each call draws as many as there are and gives their calibration. `pooled`: of all of them. */
export function calibrationResampler(
  mazes: readonly (readonly ConfidenceLevel[])[],
  pooled: readonly ConfidenceLevel[],
): (random: Random) => Calibration {
  const places = new Map(pooled.map(({ confidence }, place) => [confidence, place]));
  // Maze by maze, three numbers a level: its place among all, how many judgements, how many of them right.
  const packed = mazes.map((levels) =>
    Float64Array.from(levels.flatMap(({ confidence, count, right }) => [places.get(confidence) ?? 0, count, right])),
  );
  const drawn = pooled.map(({ confidence }) => ({ confidence, count: 0, right: 0 }));
  return (random) => {
    for (const level of drawn) [level.count, level.right] = [0, 0];
    for (let draw = 0; draw < packed.length; draw++) {
      const own = packed[random.below(packed.length)] ?? new Float64Array();
      for (let at = 0; at < own.length; at += 3) {
        const level = drawn[own[at] ?? 0];
        if (level === undefined) continue;
        level.count += own[at + 1] ?? 0;
        level.right += own[at + 2] ?? 0;
      }
    }
    return calibrationOf(drawn);
  };
}

/** Calibration from pooled levels: what `summariseConfidence` gives of the judgements themselves. */
export function calibrationOf(levels: readonly ConfidenceLevel[]): Calibration {
  let [n, right, stated, error, squared] = [0, 0, 0, 0, 0];
  for (const { confidence, count, right: hits } of levels) {
    const misses = count - hits;
    n += count;
    right += hits;
    stated += count * confidence;
    error += hits * (1 - confidence) + misses * confidence;
    squared += hits * (1 - confidence) ** 2 + misses * confidence ** 2;
  }
  if (n === 0) return { ce: null, bias: null, brier: null, ece: null, auroc2: null };
  return {
    ce: error / n,
    bias: (stated - right) / n,
    brier: squared / n,
    ece: n < judgementsForEceMin ? null : binError(levels, n),
    auroc2: areaUnderCurve(levels, right, n - right),
  };
}

/** The bins of a reliability diagram from pooled levels; empty ones included. */
export function binsOf(levels: readonly ConfidenceLevel[]): readonly ReliabilityBin[] {
  return Array.from({ length: reliabilityBinCount }, (_, bin) => {
    const own = levels.filter(({ confidence }) => binOf(confidence) === bin);
    const total = own.reduce((sum, { count }) => sum + count, 0);
    const mean = (sum: number): number | null => (total === 0 ? null : sum / total);
    return {
      low: bin / reliabilityBinCount,
      high: (bin + 1) / reliabilityBinCount,
      count: total,
      meanConfidence: mean(own.reduce((sum, { confidence, count }) => sum + confidence * count, 0)),
      accuracy: mean(own.reduce((sum, { right }) => sum + right, 0)),
    };
  });
}

function binError(levels: readonly ConfidenceLevel[], n: number): number {
  const stated = new Float64Array(reliabilityBinCount);
  const right = new Float64Array(reliabilityBinCount);
  for (const level of levels) {
    const bin = binOf(level.confidence);
    stated[bin] = (stated[bin] ?? 0) + level.confidence * level.count;
    right[bin] = (right[bin] ?? 0) + level.right;
  }
  return stated.reduce((sum, value, bin) => sum + Math.abs(value - (right[bin] ?? 0)), 0) / n;
}

/** Confidences are read from decimals: 0.3 · 10 must fall into the bin that starts at 0.3. As in metrics. */
function binOf(confidence: number): number {
  return Math.max(0, Math.min(reliabilityBinCount - 1, Math.floor(confidence * reliabilityBinCount + 1e-9)));
}

/** The chance that a right attempt carries more confidence than a wrong one, equal ones counting half. */
function areaUnderCurve(levels: readonly ConfidenceLevel[], right: number, wrong: number): number | null {
  if (right === 0 || wrong === 0) return null;
  let [below, area] = [0, 0];
  for (const { count, right: hits } of levels) {
    const misses = count - hits;
    area += hits * (below + misses / 2);
    below += misses;
  }
  return area / (right * wrong);
}
