/** A value with its interval; null where it is not known. */
export interface Estimate {
  readonly value: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
}

/** How a result was drawn, so that anyone can draw it again. */
export interface Provenance {
  /** Text that all draws are seeded with; the stream of one estimate is seeded with `seed/experiment/estimate`. */
  readonly seed: string;
  readonly generator: "MT19937 seeded with the SHA-256 words of a text (foundation's createRandom)";
  /** How many streams were opened. */
  readonly streams: number;
  readonly resamples: number;
  readonly permutations: number;
  /** Two-sided confidence of the intervals. */
  readonly level: number;
  readonly interval: "bca" | "percentile" | "studentised";
  /** What is resampled: mazes within their size. */
  readonly unit: "maze";
  /** Intervals of means that were worked out from moments, as there were `mazesMin` or more; absent where all were drawn. */
  readonly expanded?: { readonly intervals: number; readonly mazesMin: number };
}
