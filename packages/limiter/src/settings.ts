/** Times of a limiter, in milliseconds. All processes of a lane must use the same. */
export interface LimiterSettings {
  /** What "per minute" means: 60,000, or less where a rehearsal runs on a faster clock. */
  readonly minuteMs: number;
  /** A concurrency slot that is neither renewed nor settled is free again after this. */
  readonly leaseMs: number;
  /** A reservation that is neither renewed nor settled is forgotten after this; its charge stays. */
  readonly reservationMs: number;
  /** Longest wait for an answer of the server. */
  readonly requestTimeoutMs: number;
}

/** Times that a limiter uses unless told: a lease of 60 s, so renew every 20 s. */
export const defaultLimiterSettings: LimiterSettings = {
  minuteMs: 60_000,
  leaseMs: 60_000,
  reservationMs: 900_000,
  requestTimeoutMs: 10_000,
};
