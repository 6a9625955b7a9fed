/** The detectors, by the name that a finding carries. */
export const detectorNames = [
  "truncation",
  "thinking-exhausted",
  "prompt-cut",
  "identical-answers",
  "mirage-unseen",
  "served-change",
  "uneven-failures",
  "missing-usage",
  "non-answers",
  "confidence",
  "unknown-finish",
  "latency-jump",
] as const;

/** One of {@link detectorNames}. */
export type DetectorName = (typeof detectorNames)[number];

/**
 * Something that makes results mean less than they seem to, while nothing has failed. It holds counts, ids and names,
 * never text of a prompt or a reply.
 */
export interface Finding {
  readonly detector: DetectorName;
  /** `warning`: look before you use the figures. `info`: worth knowing, and expected of such models or settings. */
  readonly severity: "info" | "warning";
  /** The model's name in its sweep; null where several are meant. */
  readonly model: string | null;
  /** `size 11`, `mirage off` …; null where all are meant. */
  readonly condition: string | null;
  /** What was counted, a share 0 … 1 or a ratio: the message says which. */
  readonly observed: number;
  /** What a sound sweep would give; null where there is no such figure. */
  readonly expected: number | null;
  /** Trials, replies, pairs or models that `observed` stands on. */
  readonly n: number;
  /** One sentence: what was seen. */
  readonly message: string;
  /** One sentence: what to do. */
  readonly advice: string;
  /** Trials to look at; empty where none is an example. */
  readonly examples: readonly string[];
}
