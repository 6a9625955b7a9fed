import type { Claim, LaneLimits, OpenTrial, Outcome, StartPermit, TrialState } from "@hallumaze/engine";
import type { SeedRange } from "@hallumaze/sweep";

/** Selects trials of one sweep: those that meet every part that is given. */
export interface TrialSelector {
  readonly states?: readonly TrialState[];
  readonly outcomes?: readonly Outcome[];
  /** Aliases, or the models' own names with or without their provider. */
  readonly models?: readonly string[];
  readonly sizes?: readonly number[];
  readonly groups?: readonly string[];
  readonly mirage?: boolean;
  readonly languages?: readonly string[];
  readonly seeds?: readonly SeedRange[];
  /** Finished since a moment (milliseconds since the Unix epoch), or since so many milliseconds ago by the server's clock. */
  readonly since?: { readonly kind: "moment" | "ago"; readonly ms: number };
}

/** An operator's word on a lane, over every spec's. */
export interface LaneControl {
  readonly lane: string;
  /** By name; null: no such limit. A name that is absent follows the specs. */
  readonly limits: LimitChange;
  /** Null: not parked, or its time is over. */
  readonly parked: {
    readonly reason: string;
    readonly sinceMs: number;
    /** By the server's clock; null: until told to go on. */
    readonly untilMs: number | null;
    readonly leftMs: number | null;
  } | null;
}

/** New limits of a lane by name; null takes one away. */
export type LimitChange = Readonly<Partial<Record<keyof LaneLimits, number | null>>>;

/** What an operator says of a sweep's order; null: the spec's word holds again; absent: as it was. */
export interface Precedence {
  readonly priority?: number | null;
  readonly weight?: number | null;
}

/** What operators do to the ledger while workers run. Every method is safe to repeat, and takes effect at once everywhere. */
export interface SteeringPort {
  /** Holds back a sweep's trials of these models, or with none of them all of it, judges included. */
  readonly pauseSweep: (sweepId: string, models: readonly string[]) => Promise<void>;
  /** Lets a sweep go on; `held` are the models that stay held back. */
  readonly unpauseSweep: (sweepId: string, held: readonly string[]) => Promise<void>;
  /** Puts the open trials of these models (none: of all) back under a new generation, in pages to deliver. */
  readonly putBackOpen: (
    sweepId: string,
    models: readonly string[],
    pageSize: number,
  ) => AsyncIterable<readonly OpenTrial[]>;
  /** The same for a sweep's requests to judges. */
  readonly putBackJudges: (sweepId: string) => Promise<readonly OpenTrial[]>;
  /**
   * Cancels the selected trials that are open. What runs is asked to end with its call (`ending`), or loses its claim
   * `now`: its reply is then archived as late, with its cost.
   */
  readonly cancelTrials: (
    sweepId: string,
    selector: TrialSelector,
    options: { readonly now: boolean },
  ) => Promise<{ readonly cancelled: number; readonly ending: number }>;
  /** Marks a sweep as cancelled whole, and cancels its open requests to judges; gives how many. */
  readonly cancelJudges: (sweepId: string) => Promise<number>;
  /** Ends the mark of a sweep that was cancelled whole; its cancelled trials stay so. */
  readonly takeUp: (sweepId: string) => Promise<void>;
  /** Puts the selected failed, cancelled or blocked trials back with a full new budget of tries; gives them. */
  readonly requeue: (sweepId: string, selector: TrialSelector) => Promise<readonly OpenTrial[]>;
  readonly rankSweep: (sweepId: string, precedence: Precedence) => Promise<void>;
  /** Whether a claimed trial may send its next request. */
  readonly permitOf: (claim: Pick<Claim, "trialId" | "fence">) => Promise<StartPermit>;
  /** Whether a claimed request to a judge may send its call. */
  readonly judgePermitOf: (claim: { readonly requestId: string; readonly fence: number }) => Promise<StartPermit>;

  readonly laneControls: () => Promise<readonly LaneControl[]>;
  /** Stops a lane for everybody, for a time or until told, and blocks what waits in it; gives how many. */
  readonly parkLane: (lane: string, reason: string, forMs: number | null) => Promise<number>;
  /** True where an operator had parked it. */
  readonly unparkLane: (lane: string) => Promise<boolean>;
  /** Changes limits of a lane; null: the specs' hold again. */
  readonly limitLane: (lane: string, change: LimitChange | null) => Promise<void>;
}
