import type {
  CallFacts,
  ChatRequest,
  ChatResult,
  InsistPorts,
  LimiterPort,
  ModelSettings,
  Outcome,
  QueuePort,
  StorePort,
} from "@hallumaze/engine";

import type {
  Batch,
  BatchReckoning,
  BatchRefusal,
  BatchRow,
  BatchStorePort,
  BatchVendorPort,
  TrialRow,
} from "./ports.ts";

/** What driving a batch needs from outside. */
export interface DrivePorts extends InsistPorts {
  readonly store: BatchStorePort & Pick<StorePort, "recordExchange" | "blockLane">;
  readonly limiter: Pick<LimiterPort, "park">;
  readonly judging: JudgingPort;
  /** Delivers what goes live. */
  readonly queue: Pick<QueuePort, "enqueue">;
  readonly vendor: BatchVendorPort;
  /** Prices of a row's model, at the batch tariff. */
  readonly settingsOf: (
    row: TrialRow["trial"] & { readonly lane: string },
  ) => Promise<Pick<ModelSettings, "costOf" | "boundOf">>;
  readonly workerId: string;
  /** A random number in [0, 1), for jitter only. */
  readonly fraction: () => number;
  readonly times: DriveTimes;
  readonly observe: DriveObserver;
}

/** What is done with the rows of judges, by those who know what a judgement is. */
export interface JudgingPort {
  /** Keeps what came of a row, and goes on with its request to a judge. Safe to repeat. */
  readonly land: (batch: Batch, row: BatchRow, request: ChatRequest, result: ChatResult) => Promise<void>;
  /** Blocks what waits in a judges' lane; gives how many. */
  readonly blockLane: (lane: string, outcome: Outcome, message: string) => Promise<number>;
  /** The lane whose limits a judges' lane takes. */
  readonly limiterLaneOf: (lane: string) => string;
}

/** Times of driving, in milliseconds. */
export interface DriveTimes {
  /** First wait between two looks; it grows by half to `lookAtMostMs`. */
  readonly lookMs: number;
  readonly lookAtMostMs: number;
  /** How long after a submission without an answer the batch must show at the vendor if it was made. */
  readonly settleMs: number;
  /** How long a vendor's list may lag behind at most: before that, a batch that it does not show may have been made. */
  readonly lagMs: number;
}

/** The times that ship. */
export const driveTimes: DriveTimes = { lookMs: 2000, lookAtMostMs: 60_000, settleMs: 60_000, lagMs: 600_000 };

/** Is told of each step, with ids; never of prompts or replies. */
export interface DriveObserver {
  readonly submitted: (batch: Batch, vendorId: string, how: "answered" | "found") => void;
  readonly refused: (batch: Batch, refusal: BatchRefusal) => void;
  readonly landed: (batch: Batch, row: TrialRow, call: CallFacts, fate: "recorded" | "late") => void;
  readonly finished: (batch: Batch, reckoning: BatchReckoning) => void;
  readonly dropped: (batch: Batch, rows: number) => void;
  readonly wentLive: (batch: Batch, trials: number) => void;
  readonly parked: (batch: Batch, reason: string, blocked: number) => void;
  readonly trouble: (batch: Batch, error: unknown) => void;
}
