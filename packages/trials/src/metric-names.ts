import type { ProfileScores } from "@hallumaze/metrics";

import type { TrialSource } from "./trial-source.ts";

/** A number that a trial may have. Those without a profile in their name are the `seed` profile's. */
export type Metric =
  | keyof ProfileScores
  | "hrrRobust"
  | "meiRobust"
  | "scoreRobust"
  | `${"sr" | "hrr" | "mei" | "brs" | "score"}Published`
  | "mirageResistance"
  | "reached"
  | "level";

/** All metrics, in the order of a table's columns. */
export const metrics: readonly Metric[] = [
  ...(["sr", "hc", "fhr", "bt", "lt", "hrr", "mei", "ce", "brs", "score"] as const),
  ...(["hrrRobust", "meiRobust", "scoreRobust"] as const),
  ...(["srPublished", "hrrPublished", "meiPublished", "brsPublished", "scorePublished"] as const),
  ...(["mirageResistance", "reached", "level"] as const),
];

/** The range of a metric that has one on both sides, for bounds over what is missing. */
export const unitRange = { lo: 0, hi: 1 } as const;

/** What the stored summary of a reading says of its walk, as far as experiments ask. */
export interface WalkNumbers {
  readonly mirageResistance: number | null;
  readonly solutionMovesReached: number;
}

/** A trial's numbers by metric; null is unknown. `solutionMoves` is the maze's. */
export function metricValues(
  row: TrialSource,
  walk: WalkNumbers | null,
  solutionMoves: number,
): Readonly<Record<Metric, number | null>> {
  const { seed, robust, published } = row.scores;
  const own = (scores: ProfileScores | undefined, name: keyof ProfileScores): number | null => scores?.[name] ?? null;
  return {
    sr: own(seed, "sr"),
    hc: own(seed, "hc"),
    fhr: own(seed, "fhr"),
    bt: own(seed, "bt"),
    lt: own(seed, "lt"),
    hrr: own(seed, "hrr"),
    mei: own(seed, "mei"),
    ce: own(seed, "ce"),
    brs: own(seed, "brs"),
    score: own(seed, "score"),
    hrrRobust: own(robust, "hrr"),
    meiRobust: own(robust, "mei"),
    scoreRobust: own(robust, "score"),
    srPublished: own(published, "sr"),
    hrrPublished: own(published, "hrr"),
    meiPublished: own(published, "mei"),
    brsPublished: own(published, "brs"),
    scorePublished: own(published, "score"),
    mirageResistance: walk?.mirageResistance ?? null,
    reached: seed?.sr === 1 ? 1 : walk === null ? null : (walk.solutionMovesReached / solutionMoves) ** 2,
    level: row.judge?.level ?? null,
  };
}
