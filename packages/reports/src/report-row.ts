import type { ProfileName, ProfileScores } from "@hallumaze/metrics";
import type { CellPlan } from "@hallumaze/sweep";

/**
 * One trial as reports read it. The ledger's rows have this shape and more; it is stated here because reports know no
 * ledger.
 */
export interface ReportRow {
  readonly trialId: string;
  readonly cellId: string;
  readonly sweep: string;
  /** The model's name in its sweep. */
  readonly alias: string;
  readonly plan: CellPlan;
  /** `done` has an answer; every other state is an answer that is missing. */
  readonly state: string;
  /** How the last try ended; null before the first. */
  readonly outcome: string | null;
  readonly tries: number;
  readonly message: string | null;
  /** True where the answer was taken over from another sweep. */
  readonly reused: boolean;
  readonly scores: Readonly<Partial<Record<ProfileName, ProfileScores>>>;
  /** Summary of the readings and the walk as JSON text; null without an answer. */
  readonly readingJson: string | null;
  readonly usage: {
    readonly inputTokens: number | null;
    readonly outputTokens: number | null;
    readonly cachedTokens: number | null;
    readonly reasoningTokens: number | null;
  } | null;
  readonly servedModel: string | null;
  /** Known cost of all its requests, exact decimal US dollars; null where none is known. */
  readonly costUsd: string | null;
  readonly latencyMs: number | null;
  readonly finishedAtMs: number | null;
  /** What the judges make of it; absent or null where none was asked. */
  readonly judge?: ReportJudge | null;
}

/** The judges' verdicts on a trial, brought together. */
export interface ReportJudge {
  /** 1 … 3; null where there is none: `unscoredReason` says why. */
  readonly level: 1 | 2 | 3 | null;
  readonly unscoredReason: string | null;
  readonly confidence: number | null;
  readonly spread: number | null;
  readonly decidedBy: string;
  readonly verdicts: number;
  readonly models: readonly string[];
  readonly promptVersion: string;
  readonly rubricVersion: string;
  readonly counterArgument: string | null;
  readonly flags: readonly string[];
}

/** Pages of rows, as the ledger streams them. */
export type ReportPages = AsyncIterable<readonly ReportRow[]>;
