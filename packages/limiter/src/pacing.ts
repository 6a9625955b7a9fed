/**
 * Numbers that both servers compute with; each script takes them from here, so that Redis and Postgres cannot drift apart.
 *
 * Shares are of a limit a minute, times are in minutes of the limiter (60 s unless the clock is scaled).
 * Why these values: .github/decisions/0008-limits-as-leaky-buckets-with-tickets.md.
 */
export const pacing = {
  /** Refill over limit: what stays unused lets the vendor's own bucket recover from jitter on the way. */
  refillShare: 0.99,
  /** Most that an idle lane banks. With the refill it bounds any minute to 1.01 × the limit, before a single cost. */
  burstShare: 0.02,
  /** Below this many requests a minute one request is the whole burst: a second would already be 5 % too many. */
  burstFromRequests: 20,
  /** What a token bucket must hold for a larger request, of its burst: the rest is there to use for a waiter that is late. */
  needShare: 0.5,
  /** What a token bucket holds at first, of its burst; a request bucket holds one request. */
  startShare: 1 / 3,
  /** What a low reading or a 429 leaves of the burst: taking the accrual of the next request too would starve a lane. */
  keepShare: 1 / 4,
  /** Effective over former limit after a 429. */
  shrinkTo: 0.85,
  /** Growth back per cubic minute: slow around the level that failed last, fast away from it; half to whole in 28 s. */
  growth: 17.28,
  /** No 429 lowers a lane further than this. */
  factorMin: 0.05,
  /** 429s within this time of a shrink belong to it: they were sent before it. */
  shrinkOnceMinutes: 1 / 30,
  /** A waiter this late still holds its turn against those who are there. */
  graceMinutes: 1 / 240,
  /** A waiter this late lost its place. */
  ticketMinutes: 1,
  /** Waits up to this are told whole; of longer ones half, so that freed or raised limits find somebody awake. */
  wholeWaitMinutes: 1 / 60,
  longestWaitMinutes: 5,
  /** A reset farther away than this tells of a deep bucket that is drained, not of a shallow one in use. */
  deepResetMinutes: 1 / 20,
  /** Below this share of the most that was ever left at the vendor, the lane follows the refill that his reset implies. */
  followBelow: 0.3,
  /** Of that refill: 0.9 at nothing left, more the more is left, so that the vendor's bucket settles at a seventh. */
  followAtZero: 0.9,
  followSlope: 2 / 3,
  /** A reading older than this is followed no longer. */
  followMinutes: 1 / 6,
  /** Use is counted in slots of a twelfth of a minute. */
  useSlots: 12,
  /** Weight of the newest in the mean time that a slot is held. */
  holdWeight: 0.1,
} as const;
