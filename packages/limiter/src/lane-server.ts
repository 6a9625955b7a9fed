/** A lane's limits in the order of the scripts: requests, input, output, all tokens a minute, concurrency; null: none. */
export type LimitRow = readonly (number | null)[];

/** What a reservation asks of the server. */
export interface ReserveCall {
  readonly lane: string;
  readonly id: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly tenant: string;
  readonly weight: number;
  /** What this process configured, for a server that lost its memory; nulls where it configured nothing. */
  readonly configured: LimitRow;
}

/** A server's answer to a reservation; `dimension` counts from 1 in the order of `limitDimensions`, null where granted. */
export interface ReserveReply {
  readonly kind: string;
  readonly afterMs: number;
  readonly dimension: number | null;
  readonly amount: number | null;
  readonly limit: number | null;
}

/** A server on which lanes live: one atomic step a call, all times by its own clock. */
export interface LaneServer {
  readonly reserve: (call: ReserveCall) => Promise<ReserveReply>;
  readonly configure: (lane: string, limits: LimitRow) => Promise<void>;
  readonly settle: (lane: string, id: string, input: number | null, output: number | null) => Promise<void>;
  readonly cancel: (lane: string, id: string) => Promise<void>;
  readonly renew: (lane: string, ids: readonly string[]) => Promise<void>;
  readonly cool: (lane: string, forMs: number, shrink: boolean) => Promise<void>;
  /** For each of four dimensions: limit, remaining, milliseconds to the reset. */
  readonly learn: (lane: string, readings: readonly LimitRow[]) => Promise<void>;
  readonly park: (lane: string, reason: string, afterMs: number | null) => Promise<boolean>;
  readonly resume: (lane: string) => Promise<boolean>;
  /** The lane's use as the scripts tell it; `readUse` gives it a shape. */
  readonly use: (lane: string) => Promise<unknown>;
  readonly close: () => Promise<void>;
}
