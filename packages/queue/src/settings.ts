/** Times of the queue. The defaults suit calls of seconds to minutes; tests shorten them. */
export interface QueueSettings {
  /** How long an enqueue, a depth or a start of a consumer may take before it is `queue-unreachable`. */
  readonly requestTimeoutMs: number;
  /** A delivery whose worker died is free again after this; renewed at half of it while the handler runs. */
  readonly lockMs: number;
  /** How often each worker looks for deliveries of dead workers. */
  readonly stalledCheckMs: number;
  /** Longest block on an empty lane. */
  readonly idlePollMs: number;
  /** Work that waits this long beside a free slot means a stuck worker. */
  readonly stuckAfterMs: number;
  /** Pause before a delivery whose handler threw comes again: doubles from the first to the second of these. */
  readonly retryDelayMinMs: number;
  readonly retryDelayMaxMs: number;
  /** How long a delivery with an unreadable payload rests before it is looked at again. */
  readonly unreadableDelayMs: number;
  /** How long aborted handlers get to end after the deadline of a close. */
  readonly closeGraceMs: number;
  /** The same error is reported once in this time. */
  readonly errorIntervalMs: number;
}

/** The settings used where a caller gives none. */
export const defaultQueueSettings: QueueSettings = {
  requestTimeoutMs: 10_000,
  lockMs: 30_000,
  stalledCheckMs: 10_000,
  idlePollMs: 5_000,
  stuckAfterMs: 10_000,
  retryDelayMinMs: 500,
  retryDelayMaxMs: 60_000,
  unreadableDelayMs: 30_000,
  closeGraceMs: 2_000,
  errorIntervalMs: 10_000,
};

/** Milliseconds to wait after the n-th throw of a handler (from 1): doubling, bounded, the upper half random. */
export function throwBackoffMs(throws: number, settings: QueueSettings, random: () => number = Math.random): number {
  const full = Math.min(settings.retryDelayMinMs * 2 ** Math.min(throws, 30), settings.retryDelayMaxMs);
  return Math.max(settings.retryDelayMinMs, Math.round((full / 2) * (1 + random())));
}
