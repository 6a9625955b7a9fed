import { createRandom } from "@hallumaze/foundation";

/** A vendor's limits on a clock of `minuteMs`; `takenByOthers` of each refill goes to somebody else. */
export interface ServerLimits {
  readonly rpm?: number;
  readonly outputTpm?: number;
  readonly takenByOthers?: number;
}

/** A vendor's answer; headers as the limiter reads them. */
export interface ServerReply {
  readonly accepted: boolean;
  readonly outputTokens: number;
  readonly retryAfterMs: number;
  readonly headers: Readonly<Record<"requests" | "outputTokens", Meter | null>>;
}

interface Meter {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

interface Bucket {
  readonly name: "requests" | "outputTokens";
  limit: number;
  level: number;
  atMs: number;
}

/** What was counted, in milliseconds since the start. */
export interface Counted {
  readonly completions: readonly { readonly atMs: number; readonly tokens: number }[];
  readonly refusals: readonly number[];
  /** Requests in the order in which they were let in: their tokens, and the time they take. */
  readonly admitted: readonly { readonly atMs: number; readonly tokens: number; readonly takesMs: number }[];
}

/** What of the limit one request takes: itself, or its tokens. */
export type Unit = "requests" | "tokens";

/**
 * A vendor that enforces its limits as continuous buckets of a stated capacity (a share of a minute's allowance): a
 * request is charged when let in, its tokens when it ends, and it is let in while every bucket holds one.
 *
 * Outputs are lognormal (median 290, mean 400 at sigma 0.8; heavy tail cut at 4,000); a request takes 2 s and 20 ms a
 * token of a real minute.
 */
export function openLimitServer(minuteMs: number, capacityShare: number, first: ServerLimits, seed = 20_261_129) {
  const random = createRandom(seed);
  const startMs = performance.now();
  let limits = first;
  const completions: { atMs: number; tokens: number }[] = [];
  const refusals: number[] = [];
  const admitted: { atMs: number; tokens: number; takesMs: number }[] = [];
  const buckets: Bucket[] = [
    { name: "requests", limit: limits.rpm ?? Infinity, level: Infinity, atMs: 0 },
    { name: "outputTokens", limit: limits.outputTpm ?? Infinity, level: Infinity, atMs: 0 },
  ];
  const now = (): number => performance.now() - startMs;
  const refillPerMs = (bucket: Bucket): number => (bucket.limit * (1 - (limits.takenByOthers ?? 0))) / minuteMs;
  const capacityOf = (bucket: Bucket): number => Math.max(1, bucket.limit * capacityShare);
  const refill = (): void => {
    for (const bucket of buckets) {
      const atMs = now();
      bucket.level = Math.min(capacityOf(bucket), bucket.level + refillPerMs(bucket) * (atMs - bucket.atMs));
      bucket.atMs = atMs;
    }
  };
  const meters = (): ServerReply["headers"] => {
    const [requests = null, outputTokens = null] = buckets.map((bucket) =>
      Number.isFinite(bucket.limit)
        ? {
            limit: bucket.limit,
            remaining: Math.max(0, Math.floor(bucket.level)),
            resetMs: (capacityOf(bucket) - bucket.level) / refillPerMs(bucket),
          }
        : null,
    );
    return { requests, outputTokens };
  };

  return {
    /** A copy: what still comes does not change it. */
    counted: (): Counted => ({
      completions: [...completions],
      refusals: [...refusals],
      admitted: [...admitted],
    }),
    /** Buckets keep their share of fullness. */
    change: (next: ServerLimits): void => {
      refill();
      limits = next;
      for (const bucket of buckets) {
        const limit = (bucket.name === "requests" ? next.rpm : next.outputTpm) ?? Infinity;
        if (Number.isFinite(limit)) bucket.level = (bucket.level / bucket.limit) * limit;
        bucket.limit = limit;
      }
    },
    ask: async (): Promise<ServerReply> => {
      refill();
      const waits = buckets.map((bucket) => (1 - bucket.level) / refillPerMs(bucket)).filter((ms) => ms > 1e-6);
      if (waits.length > 0) {
        refusals.push(now());
        return { accepted: false, outputTokens: 0, retryAfterMs: Math.ceil(Math.max(...waits)), headers: meters() };
      }
      for (const bucket of buckets) if (bucket.name === "requests") bucket.level -= 1;
      const normal = Math.sqrt(-2 * Math.log(1 - random.fraction())) * Math.cos(2 * Math.PI * random.fraction());
      const outputTokens = Math.max(1, Math.min(4_000, Math.round(290 * Math.exp(0.8 * normal))));
      const takesMs = ((2_000 + 20 * outputTokens) * minuteMs) / 60_000;
      admitted.push({ atMs: now(), tokens: outputTokens, takesMs });
      await new Promise((resolve) => setTimeout(resolve, takesMs));
      refill();
      for (const bucket of buckets) if (bucket.name === "outputTokens") bucket.level -= outputTokens;
      completions.push({ atMs: now(), tokens: outputTokens });
      return { accepted: true, outputTokens, retryAfterMs: 0, headers: meters() };
    },
  };
}
