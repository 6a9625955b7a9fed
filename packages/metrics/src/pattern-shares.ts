import type { Random } from "@hallumaze/foundation";

import {
  type ConfidencePattern,
  classifyPatterns,
  type PatternAttempt,
  type PatternThresholds,
  patternThresholds,
} from "./pattern.ts";

/** The patterns of error events as shares of those that can be classified; loops apart. */
export interface PatternShares {
  /** Error events, unclassifiable ones included. Under a permutation: the mean number. */
  readonly errorCount: number;
  readonly unclassifiable: number;
  /** Share of each pattern among the classifiable error events; null where there is none. */
  readonly shares: Readonly<Record<Exclude<ConfidencePattern, "unclassifiable">, number>> | null;
  /** Share of flat ones among the classifiable error events; null where there is none. */
  readonly flatShare: number | null;
  /** Runs of legal moves over directed edges already used. */
  readonly loopCount: number;
  /** Share of B-loop among the loops with a slope; null where there is none. */
  readonly loopSteadyShare: number | null;
}

/** Counts the patterns of many trials. SOURCE: spec section 6, pattern of an error event. */
export function patternShares(
  trials: readonly (readonly PatternAttempt[])[],
  thresholds: PatternThresholds = patternThresholds,
): PatternShares {
  const tally = newTally();
  for (const attempts of trials) count(tally, attempts, thresholds);
  return sharesOf(tally, 1);
}

/**
 * The shares that the same errors would have if confidence told nothing: within each trial the confidences are permuted
 * among the attempts that carry one, `rounds` times, and the events pooled. Deterministic in `random`.
 */
export function permutedPatternShares(
  trials: readonly (readonly PatternAttempt[])[],
  random: Random,
  options: { readonly rounds?: number; readonly thresholds?: PatternThresholds } = {},
): PatternShares {
  const { rounds = 200, thresholds = patternThresholds } = options;
  const tally = newTally();
  for (let round = 0; round < rounds; round += 1) {
    for (const attempts of trials) count(tally, permuted(attempts, random), thresholds);
  }
  return sharesOf(tally, rounds);
}

interface Tally {
  readonly errors: Record<ConfidencePattern, number>;
  readonly loops: Record<ConfidencePattern, number>;
  flat: number;
}

function newTally(): Tally {
  const none = { A: 0, "A-late": 0, B: 0, "B-loop": 0, mixed: 0, unclassifiable: 0 };
  return { errors: { ...none }, loops: { ...none }, flat: 0 };
}

function count(tally: Tally, attempts: readonly PatternAttempt[], thresholds: PatternThresholds): void {
  for (const event of classifyPatterns(attempts, thresholds)) {
    if (event.kind === "loop") tally.loops[event.pattern] += 1;
    else {
      tally.errors[event.pattern] += 1;
      if (event.flat) tally.flat += 1;
    }
  }
}

function sharesOf({ errors, loops, flat }: Tally, rounds: number): PatternShares {
  const { unclassifiable, ...classes } = errors;
  const classified = classes.A + classes["A-late"] + classes.B + classes["B-loop"] + classes.mixed;
  const sloped = loops["B-loop"] + loops.mixed;
  const none = classified === 0;
  return {
    errorCount: (classified + unclassifiable) / rounds,
    unclassifiable: unclassifiable / rounds,
    shares: none
      ? null
      : {
          A: classes.A / classified,
          "A-late": classes["A-late"] / classified,
          B: classes.B / classified,
          "B-loop": classes["B-loop"] / classified,
          mixed: classes.mixed / classified,
        },
    flatShare: none ? null : flat / classified,
    loopCount: (sloped + loops.unclassifiable) / rounds,
    loopSteadyShare: sloped === 0 ? null : loops["B-loop"] / sloped,
  };
}

function permuted(attempts: readonly PatternAttempt[], random: Random): PatternAttempt[] {
  const confidences = attempts.map(({ confidence }) => confidence).filter((confidence) => confidence !== null);
  for (let last = confidences.length - 1; last > 0; last -= 1) {
    const other = random.below(last + 1);
    const kept = confidences[last] as number;
    confidences[last] = confidences[other] as number;
    confidences[other] = kept;
  }
  let next = 0;
  return attempts.map((attempt) => {
    if (attempt.confidence === null) return attempt;
    next += 1;
    return { ...attempt, confidence: confidences[next - 1] as number };
  });
}
