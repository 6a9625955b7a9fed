import { createRandom, type Random } from "@hallumaze/foundation";
import {
  bootstrapGroups,
  expandedFrom,
  expandedInterval,
  type GroupMean,
  type Interval,
  type IntervalMethod,
  type MeanEstimate,
} from "@hallumaze/statistics";

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
  /** The mean over groups with the interval that the options ask for, drawn from the stream of that name. */
  readonly mean: (groups: readonly GroupMean[], estimate: string) => MeanEstimate;
  /** The percentile interval of a mean of units by stratum, where they are so many that none is drawn; else null. */
  readonly expand: (strata: readonly (readonly number[])[]) => Interval | null;
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
  let [streams, expanded] = [0, 0];
  const { seed, resamples, permutations, level, interval } = complete;
  const stream = (estimate: string): Random => {
    streams += 1;
    return createRandom(`${seed}/${experiment}/${estimate}`);
  };
  return {
    options: complete,
    stream,
    mean: (groups, estimate) => {
      const mean = bootstrapGroups(groups, { random: stream(estimate), resamples, level, method: interval });
      if (mean.isExpanded) expanded += 1;
      return mean;
    },
    expand: (strata) => {
      const found = expandedInterval(strata, { level, method: "percentile" });
      if (found !== null) expanded += 1;
      return found;
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
      ...(expanded > 0 && { expanded: { intervals: expanded, mazesMin: expandedFrom } }),
    }),
  };
}
