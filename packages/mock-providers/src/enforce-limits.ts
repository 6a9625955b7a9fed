import type { Clock } from "@hallumaze/foundation";

import type { LimitDimension, LimitMeter } from "./dialect.ts";
import { matchesPattern } from "./play-script.ts";

/** Limits that the server enforces on one lane. A limit that is left out does not exist. */
export interface LaneLimits {
  /** Requests a minute. */
  readonly rpm?: number | undefined;
  /** Requests a second, beside `rpm`: the smoothing that some vendors do. */
  readonly rps?: number | undefined;
  readonly inputTpm?: number | undefined;
  readonly outputTpm?: number | undefined;
  /** Input and output tokens together. */
  readonly tpm?: number | undefined;
  readonly concurrency?: number | undefined;
  /** Capacity of each bucket as a share of a minute's allowance (of a second's for `rps`). Default 1. */
  readonly capacityShare?: number | undefined;
  /** Share of each allowance that an outside tenant of the same key takes, evenly, 0 … 1. Default 0. */
  readonly takenByOthers?: number | undefined;
}

/** Limits by `vendor/model`; `*` stands for any text, the first pattern that fits counts. */
export type LimitTable = Readonly<Record<string, LaneLimits>>;

/** Answer to a request that wants in. */
export type Admission =
  | { readonly admitted: true }
  | { readonly admitted: false; readonly dimension: LimitDimension; readonly waitMs: number };

/** The limits of one (vendor, key, model). */
export interface LaneGate {
  /** Lets a request in and charges it to the request limits, or says which limit is used up and for how long. */
  readonly admit: () => Admission;
  /** Ends an admitted request and charges its tokens. A bucket may fall below zero: its debt must be paid off first. */
  readonly settle: (inputTokens: number, outputTokens: number) => void;
  readonly meters: () => readonly LimitMeter[];
}

interface Bucket {
  readonly dimension: Exclude<LimitDimension, "concurrency">;
  readonly limit: number;
  readonly spanMs: number;
  readonly capacity: number;
  level: number;
  atMs: number;
}

/**
 * Enforces limits as continuous buckets, one set a (vendor, key, model). A request is charged when it is let in, its
 * tokens when it ends; it is let in only while every bucket holds something. Refused requests cost nothing.
 */
export function openLimits(table: LimitTable, clock: Clock) {
  let current = table;
  let version = 0;
  const lanes = new Map<string, LaneGate>();
  return {
    /** Replaces all limits at once; buckets keep their level where the limit stays. */
    set: (next: LimitTable): void => {
      current = next;
      version += 1;
    },
    table: (): LimitTable => current,
    lane: (vendor: string, keyId: string, model: string): LaneGate => {
      const id = `${vendor} ${keyId} ${model}`;
      const known = lanes.get(id);
      if (known !== undefined) return known;
      const find = (): LaneLimits => findLimits(current, `${vendor}/${model}`);
      const made = openLane(find, () => version, clock);
      lanes.set(id, made);
      return made;
    },
  };
}

function findLimits(table: LimitTable, name: string): LaneLimits {
  return Object.entries(table).find(([pattern]) => matchesPattern(pattern, name))?.[1] ?? {};
}

function openLane(find: () => LaneLimits, versionNow: () => number, clock: Clock): LaneGate {
  let version = versionNow();
  let limits = find();
  let buckets = bucketsOf(limits, [], clock());
  let inFlight = 0;
  const refresh = (): void => {
    const nowMs = clock();
    for (const bucket of buckets) refill(bucket, limits, nowMs);
    if (version === versionNow()) return;
    version = versionNow();
    limits = find();
    buckets = bucketsOf(limits, buckets, nowMs);
  };
  return {
    admit: () => {
      refresh();
      if (limits.concurrency !== undefined && inFlight >= limits.concurrency) {
        return { admitted: false, dimension: "concurrency", waitMs: 1000 };
      }
      const refusal = worstRefusal(buckets, limits);
      if (refusal !== null) return refusal;
      for (const bucket of buckets) if (bucket.dimension === "requests") bucket.level -= 1;
      inFlight += 1;
      return { admitted: true };
    },
    settle: (inputTokens, outputTokens) => {
      refresh();
      inFlight -= 1;
      for (const bucket of buckets) bucket.level -= costOf(bucket, inputTokens, outputTokens);
    },
    meters: () => {
      refresh();
      // The per-second bucket has no header of its own.
      return buckets
        .filter((bucket) => bucket.spanMs === 60_000)
        .map(({ dimension, limit, capacity, level }) => ({
          dimension,
          limit,
          remaining: Math.max(0, Math.floor(level)),
          resetMs: Math.max(0, ((capacity - level) * 60_000) / refillOf(limit, limits)),
        }));
    },
  };
}

function bucketsOf(limits: LaneLimits, old: readonly Bucket[], nowMs: number): Bucket[] {
  const share = limits.capacityShare ?? 1;
  const wanted = [
    ["requests", limits.rpm, 60_000],
    ["requests", limits.rps, 1000],
    ["inputTokens", limits.inputTpm, 60_000],
    ["outputTokens", limits.outputTpm, 60_000],
    ["tokens", limits.tpm, 60_000],
  ] as const;
  return wanted.flatMap(([dimension, limit, spanMs]) => {
    if (limit === undefined) return [];
    // A bucket below one request would let nothing through.
    const capacity = Math.max(1, limit * share);
    const before = old.find((bucket) => bucket.dimension === dimension && bucket.spanMs === spanMs);
    // A bucket that was part full stays so by share: halving a limit does not hand out the old allowance.
    const level = before === undefined ? capacity : Math.min(capacity, (before.level / before.capacity) * capacity);
    return [{ dimension, limit, spanMs, capacity, level, atMs: nowMs }];
  });
}

function refill(bucket: Bucket, limits: LaneLimits, nowMs: number): void {
  const gained = (Math.max(0, nowMs - bucket.atMs) * refillOf(bucket.limit, limits)) / bucket.spanMs;
  bucket.level = Math.min(bucket.capacity, bucket.level + gained);
  bucket.atMs = nowMs;
}

function refillOf(limit: number, limits: LaneLimits): number {
  return Math.max(1e-9, limit * (1 - (limits.takenByOthers ?? 0)));
}

function worstRefusal(buckets: readonly Bucket[], limits: LaneLimits): Admission | null {
  let worst: { admitted: false; dimension: LimitDimension; waitMs: number } | null = null;
  for (const bucket of buckets) {
    // One request or one token must be there, less the rounding of a refill to 0.9999999999.
    const missing = 1 - bucket.level - 1e-8;
    if (missing <= 0) continue;
    const waitMs = Math.max(1, Math.ceil((missing * bucket.spanMs) / refillOf(bucket.limit, limits)));
    if (worst === null || waitMs > worst.waitMs) worst = { admitted: false, dimension: bucket.dimension, waitMs };
  }
  return worst;
}

function costOf({ dimension }: Bucket, inputTokens: number, outputTokens: number): number {
  switch (dimension) {
    case "requests":
      return 0;
    case "inputTokens":
      return inputTokens;
    case "outputTokens":
      return outputTokens;
    case "tokens":
      return inputTokens + outputTokens;
  }
}
