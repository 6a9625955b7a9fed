import type { CallFacts, InsistPorts, LimiterPort, ModelSettings, QueuePort, StorePort } from "@hallumaze/engine";

import type { Batch, BatchReckoning, BatchRefusal, BatchRow, BatchStorePort, BatchVendorPort } from "./ports.ts";

/** What driving a batch needs from outside. */
export interface DrivePorts extends InsistPorts {
  readonly store: BatchStorePort & Pick<StorePort, "recordExchange" | "blockLane">;
  readonly limiter: Pick<LimiterPort, "park">;
  /** Delivers what goes live. */
  readonly queue: Pick<QueuePort, "enqueue">;
  readonly vendor: BatchVendorPort;
  /** Prices of a row's model, at the batch tariff. */
  readonly settingsOf: (
    row: BatchRow["trial"] & { readonly lane: string },
  ) => Promise<Pick<ModelSettings, "costOf" | "boundOf">>;
  readonly workerId: string;
  /** A random number in [0, 1), for jitter only. */
  readonly fraction: () => number;
  readonly times: DriveTimes;
  readonly observe: DriveObserver;
}

/** Times of driving, in milliseconds. */
export interface DriveTimes {
  /** First wait between two looks; it grows by half to `lookAtMostMs`. */
  readonly lookMs: number;
  readonly lookAtMostMs: number;
  /** How long after a submission without an answer the batch must show at the vendor if it was made. */
  readonly settleMs: number;
}

/** The times that ship. */
export const driveTimes: DriveTimes = { lookMs: 2000, lookAtMostMs: 60_000, settleMs: 60_000 };

/** Is told of each step, with ids; never of prompts or replies. */
export interface DriveObserver {
  readonly submitted: (batch: Batch, vendorId: string, how: "answered" | "found") => void;
  readonly refused: (batch: Batch, refusal: BatchRefusal) => void;
  readonly landed: (batch: Batch, row: BatchRow, call: CallFacts, fate: "recorded" | "late") => void;
  readonly finished: (batch: Batch, reckoning: BatchReckoning) => void;
  readonly dropped: (batch: Batch, rows: number) => void;
  readonly wentLive: (batch: Batch, trials: number) => void;
  readonly parked: (batch: Batch, reason: string, blocked: number) => void;
  readonly trouble: (batch: Batch, error: unknown) => void;
}
