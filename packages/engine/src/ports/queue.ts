/** One piece of work to deliver: ids only. */
export interface Delivery {
  readonly trialId: string;
  /** How often the trial was put back; a delivery of an older generation is dropped by the claim. */
  readonly generation: number;
}

/** A delivery to enqueue. */
export interface Enqueue extends Delivery {
  /** Milliseconds to hold it back. */
  readonly delayMs: number;
  /** -10 … 10: a higher one is delivered first; 0 unless told. */
  readonly priority?: number;
  /** Place within its priority: smaller ones first, about equal ones in the order enqueued. 0 unless told. */
  readonly turn?: number;
}

/** Where a sweep's next trials stand in its lanes. */
export interface LanePlaces {
  readonly priority: number;
  readonly weight: number;
  /** The first free turn by lane; 0 in a lane that is not named. */
  readonly turns: Readonly<Record<string, number>>;
}

/** What the worker tells the queue when a delivery was handled. */
export type DeliveryResult = { readonly kind: "done" } | { readonly kind: "again"; readonly afterMs: number };

/** How many deliveries a lane holds that have not been handled. */
export interface LaneDepth {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
}

/** A running consumer of one lane. */
export interface Consumer {
  /** How long work has waited beside a free slot with nothing started; 0 while it moves, or where the queue does not answer. */
  readonly standsStillForMs: () => number;
  /** Takes no new delivery, lets the handlers under way end (their signals fire at the deadline), then closes. */
  readonly close: (deadlineMs: number) => Promise<void>;
}

/** The queue only delivers ids; it may deliver twice, late, or lose all: the store's claim decides. */
export interface QueuePort {
  /** Idempotent by (trialId, generation) while that delivery is unhandled. Splits large inputs by itself. */
  readonly enqueue: (lane: string, items: readonly Enqueue[]) => Promise<void>;
  /** Calls `handle` for each delivery, at most `concurrency` at once. A handler that throws gets the delivery again later. */
  readonly consume: (
    lane: string,
    concurrency: number,
    handle: (delivery: Delivery, signal: AbortSignal) => Promise<DeliveryResult>,
  ) => Promise<Consumer>;
  readonly depth: (lane: string) => Promise<LaneDepth>;
  /** Resolves when the back end answers; rejects with a HalluMazeError within `timeoutMs` when it does not. */
  readonly ping: (timeoutMs: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** How a vendor's batches stand. */
export interface BatchStanding {
  readonly provider: string;
  /** Batches at the vendor or on their way there, and their rows that have not landed. */
  readonly underWay: number;
  readonly rows: number;
  /** When the oldest and the newest of them were submitted, milliseconds since the Unix epoch; null where none was. */
  readonly oldestAtMs: number | null;
  readonly newestAtMs: number | null;
  /** Trials and requests to judges that wait to be gathered, or are. */
  readonly waiting: number;
  /** The batch looked for in vain most often in a row, and what was said last; null where all answer. */
  readonly trouble: { readonly looks: number; readonly message: string } | null;
}
