import { createRandom, type Random } from "@hallumaze/foundation";
import type { IntervalMethod } from "@hallumaze/statistics";

import type { Provenance } from "./estimate.ts";

/** How an experiment is computed. */
export interface ExperimentOptions {
  /** Text that every draw is seeded with; by default `hallumaze`. */
  readonly seed?: string;
  /** Bootstrap resamples; by default 10,000. */
  readonly resamples?: number;
  /** Sign patterns drawn for a permutation test; by default 10,000. */
  readonly permutations?: number;
  /** Two-sided confidence of intervals, in (0, 1); by default 0.95. Tests are read at 1 - level. */
  readonly level?: number;
  /** How intervals of means are read off the resamples; by default `bca`. */
  readonly interval?: IntervalMethod;
}

/** The draws of one experiment: each estimate has a stream of its own, so that a further model moves no other's interval. */
export interface Draws {
  readonly options: Required<ExperimentOptions>;
  /** The stream of one estimate, named by what it estimates. */
  readonly stream: (estimate: string) => Random;
  readonly provenance: () => Provenance;
}

/** Opens the draws of an experiment; its name is part of each stream's seed. */
export function openDraws(experiment: string, options: ExperimentOptions): Draws {
  const complete: Required<ExperimentOptions> = {
    seed: options.seed ?? "hallumaze",
    resamples: options.resamples ?? 10_000,
    permutations: options.permutations ?? 10_000,
    level: options.level ?? 0.95,
    interval: options.interval ?? "bca",
  };
  let streams = 0;
  const { seed, resamples, permutations, level, interval } = complete;
  return {
    options: complete,
    stream: (estimate) => {
      streams += 1;
      return createRandom(`${seed}/${experiment}/${estimate}`);
    },
    provenance: () => ({
      seed,
      generator: "MT19937 seeded with the SHA-256 words of a text (foundation's createRandom)",
      streams,
      resamples,
      permutations,
      level,
      interval,
      unit: "maze",
    }),
  };
}
