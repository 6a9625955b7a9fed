/** Limits of a lane, shared by all processes. An absent one does not bind. Per minute where per time. */
export interface LaneLimits {
  readonly rpm?: number;
  readonly inputTpm?: number;
  readonly outputTpm?: number;
  /** One limit for input and output together, as some vendors count. */
  readonly tpm?: number;
  readonly concurrency?: number;
}

/** What may bind a lane. */
export type LimitDimension = keyof LaneLimits | "cooldown" | "parked";

/** What one request will take, before it is sent. */
export interface ReservationRequest {
  /** The try's own id: reserving it twice charges once. */
  readonly id: string;
  readonly inputTokens: number;
  /** Expected, not the limit: settled with the real count afterwards. */
  readonly outputTokens: number;
  /** Fair share between tenants of one lane (sweeps, judge): the tenant's name and weight. */
  readonly tenant: string;
  readonly weight: number;
}

/** Answer to a reservation. */
export type ReservationAnswer =
  | { readonly kind: "granted" }
  /** Not now: come again after this long; nothing was charged and nothing is held. */
  | { readonly kind: "wait"; readonly afterMs: number; readonly binding: LimitDimension }
  /** Larger than the lane can ever admit. */
  | { readonly kind: "never"; readonly binding: LimitDimension; readonly message: string };

/** What a lane allowed and used. */
export interface LaneUse {
  readonly lane: string;
  readonly limits: LaneLimits;
  /** Limits in force now: learned from headers, shrunk after a 429, growing back. */
  readonly effective: LaneLimits;
  readonly inFlight: number;
  /** Accepted over allowed in the last 60 s, 0 … 1 and a little more, for the binding dimension; null before any use. */
  readonly utilisation: number | null;
  readonly binding: LimitDimension | null;
  readonly granted: number;
  readonly limited: number;
  readonly parked: { readonly reason: string; readonly sinceMs: number; readonly resumesAtMs: number | null } | null;
}

/** Shared limits: reserved atomically before sending, settled with the real usage after. All times by the server's clock. */
export interface LimiterPort {
  /** Sets a lane's configured limits (the last word of any process holds). */
  readonly configure: (lane: string, limits: LaneLimits) => Promise<void>;
  readonly reserve: (lane: string, request: ReservationRequest) => Promise<ReservationAnswer>;
  /** Settles a reservation with the real counts (null: unknown, the estimate stands) and frees its slot. Idempotent. */
  readonly settle: (
    lane: string,
    id: string,
    used: { readonly inputTokens: number | null; readonly outputTokens: number | null },
  ) => Promise<void>;
  /** Gives back a reservation whose request was never sent. Idempotent. */
  readonly cancel: (lane: string, id: string) => Promise<void>;
  /** Prolongs the slots of requests under way. */
  readonly renew: (lane: string, ids: readonly string[]) => Promise<void>;
  /** After a 429 or an overload: nothing starts in the lane for this long; `shrink` also lowers the effective limits. */
  readonly cool: (lane: string, forMs: number, shrink: boolean) => Promise<void>;
  /** Takes over what a reply's headers tell: limit, remaining, milliseconds to reset, by dimension. */
  readonly learn: (
    lane: string,
    readings: Readonly<
      Partial<
        Record<
          "requests" | "tokens" | "inputTokens" | "outputTokens",
          { readonly limit: number | null; readonly remaining: number | null; readonly resetMs: number | null }
        >
      >
    >,
  ) => Promise<void>;
  /** Stops a lane until told or until its time; true where this call parked it (so it is said once). */
  readonly park: (lane: string, reason: string, resumeAfterMs: number | null) => Promise<boolean>;
  /** Lets a parked lane go on; true where it was parked. */
  readonly resume: (lane: string) => Promise<boolean>;
  readonly use: (lanes: readonly string[]) => Promise<readonly LaneUse[]>;
  readonly close: () => Promise<void>;
}
