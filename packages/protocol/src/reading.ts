import type { Cell, Direction } from "@hallumaze/maze";

/** The language of a prompt. */
export type Language = "ko" | "en";

/** How far the reader may go to make sense of a log: `strict` never changes coordinates, `lenient` may, globally. */
export type ReadingMode = "strict" | "lenient";

/** How a reply ended, as the provider reports it in our own words; null where it does not say. */
export type FinishReason = "stop" | "length" | "content_filter" | "refusal" | "other";

/** What a reply is, before any score. The first three carry a walk or a cut-off one; the others are non-answers. */
export type ReadingOutcome =
  | "ok"
  | "truncated"
  | "truncated_in_reasoning"
  | "empty"
  | "refused"
  | "filtered"
  | "parse_failed";

/** What the reader noticed about one attempt. */
export type AttemptFlag =
  | "multiMove"
  | "numberingAnomaly"
  | "outOfRange"
  | "verbal"
  | "ambiguousConfidence"
  | "confidenceRange"
  | "confidenceMismatch"
  | "contradiction"
  | "ambiguousDirection"
  | "derivedDirection"
  | "rejected";

/** One move that the log claims, in order of appearance. A line with several moves gives several, of one `line`. */
export interface Attempt {
  /** The step number printed on the line; null where there is none. */
  readonly index: number | null;
  readonly from: Cell | null;
  readonly dir: Direction | null;
  readonly to: Cell | null;
  /** 0 … 1; null where none can be read (`confidenceText` then keeps what stood there). */
  readonly confidence: number | null;
  readonly confidenceText: string | null;
  readonly flags: readonly AttemptFlag[];
  /** Ordinal of the log line that this attempt stands on: attempts of one line share it. 0-based, increasing. */
  readonly line: number;
  /** Where the line stands in the raw reply, in UTF-16 code units: [start, end). */
  readonly span: readonly [start: number, end: number];
}

/** Something that the log says in words about itself; compared with the walk, never scored by itself. */
export interface Claim {
  readonly kind: "deadEnd" | "loop" | "strategyChange" | "wall";
  readonly at: Cell | null;
  readonly seenAtStep: number | null;
  /**
   * `protocol` where it stands as a protocol line or label (`LOOP detected at (1,1)`); `words` where a sentence or a
   * step's reason says it. Only the first kind may be verified into a metric; a sentence's cell is not tied to it.
   */
  readonly form: "protocol" | "words";
  /** How many attempts stood before it in the log: 0 means before the first. */
  readonly afterAttempt: number;
}

/** What the reader noticed about the reply as a whole. */
export type ReadingFlag =
  | "capped"
  | "multipleFinal"
  | "incompleteFinal"
  | "templateEcho"
  | "promptEcho"
  | "numberingAnomaly"
  | "confidenceMismatch"
  | "partialConfidenceLog"
  | "truncated"
  | "giveUp"
  | "indexShifted"
  | "transposed"
  | "simulatedMoveList";

/** What was read from one reply. */
export interface Reading {
  readonly mode: ReadingMode;
  readonly outcome: ReadingOutcome;
  readonly attempts: readonly Attempt[];
  /** The last complete candidate outside reasoning; null where there is none or the model gave up. */
  readonly finalPath: readonly Cell[] | null;
  /** True where the model explicitly says that it found no path. */
  readonly gaveUp: boolean;
  readonly claims: readonly Claim[];
  readonly flags: readonly ReadingFlag[];
  readonly selfReport: { readonly backtracks: number | null; readonly hallucinations: number | null };
  /** CONFIDENCE_LOG as read, 0 … 1 by step number. */
  readonly confidenceLog: readonly { readonly step: number; readonly confidence: number }[];
  /** Lines ignored because they repeat the template. */
  readonly templateEchoes: number;
  /** Reasoning that was set apart, for display only; null where there is none. */
  readonly reasoning: string | null;
}
