import type { BatchStanding, LaneDepth, LaneUse, TrialState } from "@hallumaze/engine";

/** Trials of one model of a sweep that share a state and an outcome. */
export interface TrialGroup {
  readonly sweep: string;
  readonly sweepId: string;
  /** The model's name in its sweep. */
  readonly alias: string;
  readonly lane: string;
  readonly state: TrialState;
  /** Null where the trials have not ended. */
  readonly outcome: string | null;
  readonly count: number;
  /** Since the first of them that may start now was given to the queue; null where none waits. */
  readonly oldestWaitingMs: number | null;
}

/** Requests to judges that share a state and an outcome. `sweep` is empty for results that stand in no sweep. */
export interface JudgeGroup {
  readonly sweep: string;
  readonly sweepId: string | null;
  readonly lane: string;
  readonly state: TrialState;
  readonly outcome: string | null;
  readonly count: number;
  readonly oldestWaitingMs: number | null;
}

/** Where a sweep stands as a whole; money in US dollars, rounded to a float, for showing only. */
export interface SweepFigures {
  readonly sweep: string;
  readonly sweepId: string;
  /** Null: no cap. */
  readonly budgetUsd: number | null;
  readonly spentUsd: number;
  /** What requests under way may cost at most. */
  readonly reservedUsd: number;
  /** The models that an operator holds back, none named for the sweep as a whole; null where it is not paused. */
  readonly paused: readonly string[] | null;
  /** When its last trial ended, by the server's clock; null where none has. */
  readonly lastFinishedAtMs: number | null;
}

/** How far a judge agrees with the people who rated a gold set's test half. */
export interface JudgeAgreement {
  readonly judge: string;
  readonly promptVersion: string;
  readonly items: number;
  readonly agreed: number;
  readonly open: boolean;
}

/** The whole ledger in figures: of the newest sweeps, so that their number is bounded. */
export interface LedgerFigures {
  /** The server's clock at the reading. */
  readonly atMs: number;
  readonly sweeps: readonly SweepFigures[];
  readonly trials: readonly TrialGroup[];
  readonly judges: readonly JudgeGroup[];
  readonly agreements: readonly JudgeAgreement[];
  /** By vendor, of all sweeps. */
  readonly batches: readonly BatchStanding[];
}

/** Connections of this process to the database. */
export interface PoolUse {
  readonly total: number;
  readonly idle: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
}

/** The part of the ledger that watching needs. */
export interface FiguresPort {
  /** Counts; on a large ledger this takes a while, so it is read through `openFiguresReader`. */
  readonly figures: (sweepLimit: number) => Promise<LedgerFigures>;
  readonly poolUse: () => PoolUse;
}

/** One lane, as limiter and queue tell of it. */
export interface LaneFigures {
  readonly lane: string;
  readonly role: "solve" | "judge";
  /** Null where the limiter did not answer, or limits nothing there. */
  readonly use: LaneUse | null;
  /** Null where the queue did not answer. */
  readonly depth: LaneDepth | null;
}

/** One look at everything. */
export interface Figures {
  readonly ledger: LedgerFigures;
  readonly lanes: readonly LaneFigures[];
}
