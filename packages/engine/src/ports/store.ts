import type { ProfileName, ProfileScores } from "@hallumaze/metrics";
import type { FinishReason, ReadingOutcome } from "@hallumaze/protocol";
import type { Cell, CellPlan } from "@hallumaze/sweep";

import type { ReplyHistory } from "../estimate-cells.ts";
import type { FailureOutcome, Outcome, RowPart, TrialState } from "../outcomes.ts";
import type { Usage } from "./provider.ts";
import type { Enqueue, LanePlaces } from "./queue.ts";

/** Where a sweep came from: enough to run it again. Never holds a key. */
export interface Provenance {
  readonly gitCommit: string | null;
  readonly gitDirty: boolean | null;
  readonly programVersion: string;
  readonly nodeVersion: string;
}

/** A sweep as stored. */
export interface SweepRecord {
  readonly sweepId: string;
  readonly name: string;
  /** The normalised spec, as JSON text. */
  readonly specJson: string;
  readonly createdAtMs: number;
  /** What the plan of the last submission with anything to run expected, as JSON text; null where none was kept. */
  readonly estimate: { readonly json: string; readonly sinceMs: number } | null;
  /** Since when an operator holds it back, and which aliases (empty: all); null: it goes on. */
  readonly paused: { readonly sinceMs: number; readonly models: readonly string[] } | null;
  /** When an operator cancelled it whole; null: not, or it was taken up again. */
  readonly cancelledAtMs: number | null;
  /** In force: a higher priority goes first; of one priority, each has its weight's share of a lane. */
  readonly priority: number;
  readonly weight: number;
}

/** What an insert of cells did. */
export interface InsertReport {
  readonly inserted: number;
  /** Rows that were there already. */
  readonly existing: number;
  /** Of the inserted: cells that another sweep of this database has answered; taken over, not run. */
  readonly reused: number;
}

/** A trial that waits to be delivered in its lane. */
export interface OpenTrial extends Enqueue {
  readonly lane: string;
}

/** One request that is about to be sent. */
export interface RequestIntent {
  readonly trialId: string;
  readonly fence: number;
  readonly turn: number;
  readonly tryNumber: number;
  readonly workerId: string;
  /** Most that it can cost, exact decimal US dollars; null where no price is known. */
  readonly boundUsd: string | null;
}

/** Whether a request may be sent, as far as money goes. */
export type RequestAdmission =
  /** Charged at its bound until its exchange is recorded; a worker that dies leaves it on the books. */
  | { readonly kind: "open" }
  /** The budget does not reach while others are under way: they may cost less than their bounds. */
  | { readonly kind: "later" }
  /** The budget does not reach, and nothing is under way. */
  | { readonly kind: "exhausted"; readonly budgetUsd: string; readonly committedUsd: string }
  /** The fence is old. */
  | { readonly kind: "lost" };

/** What a sweep's requests took from a moment on. */
export interface RequestTally {
  readonly requests: number;
  /** As the providers counted them, where they did. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Known cost, exact decimal US dollars; null where none is known. */
  readonly costUsd: string | null;
  readonly costUnknown: number;
  /** From the first request's start to the last one's end; null before the first. */
  readonly elapsedMs: number | null;
}

/** Where a sweep's money went; exact decimal US dollars. */
export interface SweepMoney {
  /** Null: no cap. */
  readonly budgetUsd: string | null;
  /** All requests recorded so far, at most where their cost is not known. */
  readonly spentUsd: string;
  /** Requests under way. */
  readonly open: { readonly count: number; readonly boundUsd: string };
  /** Requests whose worker ended before their reply was recorded (`worker_lost`): they may be on the bill. */
  readonly lost: { readonly count: number; readonly boundUsd: string; readonly unpriced: number };
}

/** A recorded exchange, read back. */
export interface RecordedReply {
  readonly exchangeId: string;
  readonly turn: number;
  readonly text: string;
  readonly reasoning: string | null;
  readonly finishReason: FinishReason | null;
  /** As the provider counted them; null where it does not say. */
  readonly inputTokens: number | null;
}

/** A failure that was recorded and whose try has not ended. */
export interface RecordedFailure {
  readonly outcome: FailureOutcome;
  readonly message: string;
}

/** The right to run one trial until the lease ends. Every write is checked against the fence. */
export interface Claim {
  readonly trialId: string;
  readonly sweepId: string;
  /** The model's name in its sweep. */
  readonly alias: string;
  readonly lane: string;
  readonly plan: CellPlan;
  /** Fencing token: rises with every claim. */
  readonly fence: number;
  /** Tries spent on provider failures before this one. */
  readonly tries: number;
  /** 429 waits before this one; they spend no try. */
  readonly waits: number;
  /** How many tries this trial may take in all, and how many of them after an empty reply. */
  readonly maxTries: number;
  readonly maxEmptyRetries: number;
  readonly emptyRetries: number;
  /** Milliseconds that the delivery waited in the queue; null where unknown. */
  readonly queueMs: number | null;
  /**
   * Replies that an earlier, lost run has recorded and whose try has not ended, by turn: they are scored instead of
   * asking again. A try that ended (done, retry, failed) has consumed its replies, but for outcome `internal`: there
   * the scoring broke, and a retry scores the recorded reply.
   */
  readonly recorded: readonly RecordedReply[];
  /** The last failure that a lost run has recorded and whose try has not ended: it counts, without another request. */
  readonly recordedFailure: RecordedFailure | null;
}

/** Answer to a claim: ours to run, or why not. */
export type ClaimResult =
  | { readonly kind: "claimed"; readonly claim: Claim }
  /** Finished, cancelled, gone, out of the grid, answered by another sweep in the meantime, or an older generation. */
  | { readonly kind: "nothing" }
  /** Another worker runs it, or it must wait. */
  | { readonly kind: "later"; readonly afterMs: number };

/** One exchange to keep, before anything can fail on it. */
export interface ExchangeRecord {
  readonly trialId: string;
  readonly fence: number;
  readonly turn: number;
  /** 1-based number of the try. */
  readonly tryNumber: number;
  readonly workerId: string;
  /** The request as sent, keys redacted, as JSON text. */
  readonly requestJson: string;
  readonly rawBody: string | null;
  readonly text: string | null;
  readonly reasoning: string | null;
  readonly finishReason: FinishReason | null;
  readonly outcome: FailureOutcome | null;
  readonly errorMessage: string | null;
  readonly servedModel: string | null;
  readonly effectiveParamsJson: string;
  readonly usage: Usage;
  readonly queueMs: number | null;
  readonly limiterMs: number | null;
  readonly httpMs: number;
  readonly ttftMs: number | null;
  /** Fingerprint or host; null where not told. */
  readonly servedBy: string | null;
  readonly nativeFinishReason: string | null;
  /** Requests of the same try before this one (resend, repair), as JSON text; null where there were none. */
  readonly sideRequestsJson: string | null;
  /** Exact decimal US dollars with the day of the price; null where unknown. */
  readonly costUsd: string | null;
  readonly priceDate: string | null;
  /** Most that it can have cost where that is not known; null where it cost nothing or no price is known. */
  readonly costBoundUsd: string | null;
  /** Its batch, and the id it has had since it was put there; absent for a live call. */
  readonly batch?: { readonly batchId: string; readonly exchangeId: string };
}

/** What the pure part made of a reply. */
export interface ScoredTrial {
  readonly outcome: ReadingOutcome;
  readonly readerVersion: string;
  /** Summary of the strict and the lenient reading and the walk, as JSON text: spec `walk`, flags, claims, confidence. */
  readonly readingJson: string;
  readonly profiles: Readonly<Record<ProfileName, { readonly version: string; readonly scores: ProfileScores }>>;
}

/** How a try ended. */
export type TrialEnd =
  | {
      readonly kind: "done";
      readonly scored: ScoredTrial;
      /** The scores stand on the replies of turns below this number, and on no later one; on all where it is not told. */
      readonly keptTurns?: number;
    }
  | ({
      readonly kind: "retry";
      readonly afterMs: number;
      readonly spends: "try" | "empty" | "wait";
    } & Unanswered)
  | ({ readonly kind: "failed" } & Unanswered)
  /** The lane is parked or the budget does not reach: no try is spent, and the trial goes on when it can. */
  | ({ readonly kind: "blocked" } & Unanswered);

/** An end without a result. */
export type UnansweredEnd = Exclude<TrialEnd, { readonly kind: "done" }>;

/** What is said of a try that ended without a result. */
export interface Unanswered {
  readonly outcome: Outcome;
  readonly message: string;
  /** Replies of turns below this number stand: a further try asks for the later ones only. 0 unless told. */
  readonly keptTurns?: number;
}

/** Counts of one model in one sweep. */
export interface ModelProgress {
  readonly alias: string;
  readonly lane: string;
  /** Trials of the current grid by state. */
  readonly states: Readonly<Record<TrialState, number>>;
  /** Of `states.done`: taken over from another sweep. */
  readonly reused: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Done or failed per second, over the last 60 s or since the first of them where that is shorter; 0 where none. */
  readonly finishedPerSecond: number;
  /** Known cost of all its requests, exact decimal US dollars; null where none is known. */
  readonly costUsd: string | null;
  /** Requests whose cost is not known. */
  readonly costUnknown: number;
  /** Requests that were answered or failed, in all; of them: later turns of a conversation, and failed ones. */
  readonly requests: number;
  readonly followUps: number;
  readonly failedRequests: number;
  /** Milliseconds that requests waited for the lane's limits, in all. */
  readonly limiterMs: number;
}

/** Failures of one kind. */
export interface FailureGroup {
  readonly alias: string;
  readonly outcome: string;
  readonly count: number;
  readonly firstMessage: string;
}

/** All that a person wants to know of a sweep under way. */
export interface SweepProgress {
  readonly sweep: SweepRecord;
  readonly models: readonly ModelProgress[];
  readonly failures: readonly FailureGroup[];
  /** Rows that a changed spec no longer asks for: kept, not run. */
  readonly leftGrid: number;
  readonly lateDuplicates: number;
  readonly money: SweepMoney;
}

/** One trial with its scores, for tables and exports. */
export interface TrialRow {
  readonly trialId: string;
  readonly cellId: string;
  readonly sweep: string;
  readonly alias: string;
  readonly plan: CellPlan;
  readonly state: TrialState;
  readonly outcome: Outcome | null;
  readonly tries: number;
  readonly message: string | null;
  readonly reused: boolean;
  readonly scores: Readonly<Partial<Record<ProfileName, ProfileScores>>>;
  readonly readingJson: string | null;
  readonly usage: Usage | null;
  readonly servedModel: string | null;
  /** Of all its requests; null where none is known. */
  readonly costUsd: string | null;
  readonly latencyMs: number | null;
  readonly finishedAtMs: number | null;
}

/** A done trial's stored conversation, for rescoring: the first answer, and those that followed it, by turn. */
export interface StoredReply {
  readonly trialId: string;
  readonly plan: CellPlan;
  readonly replies: readonly { readonly text: string; readonly finishReason: FinishReason | null }[];
  /** Whether the trial was held in a sweep that gives group A its neutral turn; a sweep's groups may change later. */
  readonly shadow: boolean;
  /** True where a text of it was pruned: what was scored stands, and cannot be scored again. */
  readonly isPruned: boolean;
}

/** The ledger. Every method is safe to repeat. */
export interface StorePort {
  /** Finds the sweep of that name or makes it; stores the spec and provenance of this submission. */
  readonly openSweep: (sweep: {
    readonly name: string;
    readonly specJson: string;
    readonly provenance: Provenance;
    readonly maxTries: number;
    readonly maxEmptyRetries: number;
    readonly fresh: boolean;
    /** Exact decimal US dollars; null: no cap. */
    readonly budgetUsd?: string | null;
    readonly estimateJson?: string | null;
    /** Of the spec; 0 and 1 unless told. An operator's own stand over them. */
    readonly priority?: number;
    readonly weight?: number;
  }) => Promise<SweepRecord>;
  readonly findSweep: (name: string) => Promise<SweepRecord | null>;
  readonly listSweeps: () => Promise<readonly SweepRecord[]>;
  /** Adds the cells that are missing, in one statement a call; marks those seen as of the grid of `revision`. */
  readonly insertCells: (sweepId: string, revision: number, cells: readonly Cell[]) => Promise<InsertReport>;
  /** Starts a revision of the grid: the number to pass to insertCells and closeGrid. */
  readonly beginGrid: (sweepId: string) => Promise<number>;
  /** Takes the rows that `revision` has not seen out of the grid; gives how many left with it. */
  readonly closeGrid: (sweepId: string, revision: number) => Promise<number>;
  /** Of these cells, those with a finished answer: in this sweep, or in any sweep. For `plan`. */
  readonly findAnswered: (
    sweepName: string,
    cellIds: readonly string[],
  ) => Promise<{
    readonly inSweep: readonly string[];
    readonly elsewhere: readonly string[];
    readonly known: readonly string[];
  }>;

  /** Trials in state `planned`, in lane and ordinal order, at most `limit`, after the cursor. */
  readonly listPlanned: (sweepId: string, limit: number) => Promise<readonly OpenTrial[]>;
  /** `turns`: the place of each in its lane; 0 unless told. */
  readonly markQueued: (trialIds: readonly string[], turns?: readonly number[]) => Promise<void>;
  /** Where a sweep's next trials stand: behind its own, level with other sweeps of its priority. */
  readonly findPlaces: (sweepId: string) => Promise<LanePlaces>;
  /** Open trials of a lane (planned or queued), in ordinal order, streamed in pages. */
  readonly listOpen: (lane: string, pageSize: number) => AsyncIterable<readonly OpenTrial[]>;
  /** Lanes with trials that are not finished, with their count. */
  readonly listOpenLanes: (
    sweepId: string | null,
  ) => Promise<readonly { readonly lane: string; readonly open: number }[]>;
  /**
   * Puts back the running trials whose lease has ended, and those whose worker the caller knows to be dead; raises
   * their generation. Gives what it put back.
   */
  readonly reclaimLost: (isDead: (workerId: string) => boolean) => Promise<readonly OpenTrial[]>;

  readonly claim: (delivery: {
    readonly trialId: string;
    readonly generation: number;
    readonly workerId: string;
    readonly leaseMs: number;
  }) => Promise<ClaimResult>;
  /** Prolongs the leases of these claims; gives the ids of those that were lost meanwhile. */
  readonly renew: (
    claims: readonly { readonly trialId: string; readonly fence: number }[],
    leaseMs: number,
  ) => Promise<readonly string[]>;
  /** Charges a request to its sweep before it is sent, atomically over all processes. Repeating it charges once. */
  readonly openRequest: (request: RequestIntent) => Promise<RequestAdmission>;
  /** Takes back a request that was not sent. */
  readonly cancelRequest: (request: Omit<RequestIntent, "workerId" | "boundUsd">) => Promise<void>;
  /** Keeps an exchange, and settles its open request with what it cost. `late` means: the fence is old; it was archived as `late_duplicate`. */
  readonly recordExchange: (exchange: ExchangeRecord) => Promise<"recorded" | "late">;
  /** Ends a try. `lost` means: the fence is old and nothing was changed. */
  readonly endTry: (trialId: string, fence: number, end: TrialEnd) => Promise<"ended" | "lost">;
  /** Blocks the waiting trials of a parked lane; gives how many. */
  readonly blockLane: (lane: string, outcome: Outcome, message: string) => Promise<number>;
  /** Puts the blocked trials of a lane back; gives them. */
  readonly unblockLane: (lane: string) => Promise<readonly OpenTrial[]>;
  /** Puts the trials that a sweep's budget blocks back where it reaches again; gives them. */
  readonly unblockBudget: (sweepId: string) => Promise<readonly OpenTrial[]>;
  readonly listBlockedLanes: () => Promise<readonly string[]>;
  /** Gives the claim back unspent (drain). */
  readonly release: (trialId: string, fence: number) => Promise<void>;

  /** What first replies to plans like these took, for estimates. */
  readonly replyHistory: ReplyHistory;
  /** Sums the requests that were recorded from `sinceMs` on. */
  readonly tally: (sweepId: string, sinceMs: number) => Promise<RequestTally>;
  readonly progress: (sweepId: string) => Promise<SweepProgress>;
  /** In a fixed order (alias, size, seed, …), of the current grid. */
  readonly streamTrials: (sweepId: string, pageSize: number, of?: RowPart) => AsyncIterable<readonly TrialRow[]>;
  readonly streamReplies: (sweepId: string, pageSize: number) => AsyncIterable<readonly StoredReply[]>;
  readonly repliesOf: (trialIds: readonly string[]) => Promise<readonly StoredReply[]>;
  readonly saveScores: (scored: readonly { readonly trialId: string; readonly scored: ScoredTrial }[]) => Promise<void>;

  /** Counts anew what is kept as counts beside the rows; writers wait meanwhile. */
  readonly recount: () => Promise<void>;
  /** The database server's clock, in milliseconds since the Unix epoch. */
  readonly serverTimeMs: () => Promise<number>;
  readonly ping: (timeoutMs: number) => Promise<void>;
  readonly close: () => Promise<void>;
}
