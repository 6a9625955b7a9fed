import type { LaneLimits, PlanEstimate } from "@hallumaze/engine";

/** What live calls of the rows that wait would take. */
export interface LiveDemand {
  readonly requests: number;
  /** Tokens of one request and its reply, as far as is known. */
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A batch that is cancelled still ends what has begun: this is waited for it, in ms. */
const cancelMs = 10 * 60_000;
/** Live calls meet 429s and retries: their time is taken for so much longer. */
const caution = 1.25;
/** A reply comes so fast at least, in tokens a second, and its head within this, in ms. */
const tokensPerSecond = 40;
const headMs = 5000;

/** How long live calls of a demand take in a lane of these limits, in ms; the last reply's end included. */
export function liveMs({ requests, inputTokens, outputTokens }: LiveDemand, limits: LaneLimits, slots: number): number {
  if (requests === 0) return 0;
  const replyMs = headMs + (outputTokens / tokensPerSecond) * 1000;
  const perMinute = {
    rpm: 1,
    inputTpm: inputTokens,
    outputTpm: outputTokens,
    tpm: inputTokens + outputTokens,
  } as const;
  const minutes = (["rpm", "inputTpm", "outputTpm", "tpm"] as const).map((dimension) => {
    const limit = limits[dimension];
    return limit === undefined ? 0 : (requests * perMinute[dimension]) / limit;
  });
  const inSlots = Math.ceil(requests / Math.min(slots, limits.concurrency ?? slots)) * replyMs;
  return Math.max(inSlots, Math.max(...minutes) * 60_000 + replyMs);
}

/**
 * The last moment at which what waits in batches can still be answered live before the deadline, in ms since the Unix
 * epoch. What lands meanwhile moves it back.
 */
export function turnLiveAtMs(deadlineMs: number, demand: LiveDemand, limits: LaneLimits, slots: number): number {
  return deadlineMs - caution * liveMs(demand, limits, slots) - cancelMs;
}

/** What mode auto comes to: two prices, and what a batch that is late costs. */
export interface AutoPlan {
  /** ISO date and time. */
  readonly deadline: string;
  /** Expected US dollars where all lands from batches, and where all is asked live; null: unknown. */
  readonly batchUsd: number | null;
  readonly liveUsd: number | null;
  readonly liveHours: number;
  /** What has not landed by then goes live; ISO date and time. Not after the deadline. */
  readonly turnsLiveAt: string;
  /** `meets`: also if no batch comes. `live`: too soon for batches, all is asked live. `misses`: not even that. */
  readonly risk: "meets" | "live" | "misses";
}

/**
 * Joins the estimates of a spec's two ways: as if all batches landed, and as if all were asked live. The cost lies between
 * them; it is expected where batches come in time.
 */
export function joinAuto(
  batch: PlanEstimate,
  live: PlanEstimate,
  { deadlineMs, nowMs }: { readonly deadlineMs: number; readonly nowMs: number },
): { readonly estimate: PlanEstimate; readonly auto: AutoPlan } {
  const leftMs = deadlineMs - nowMs;
  const expectedMs = live.hours.expected * 3_600_000;
  const atMs = deadlineMs - caution * live.hours.high * 3_600_000 - cancelMs;
  const risk = expectedMs > leftMs ? "misses" : atMs <= nowMs ? "live" : "meets";
  const isBatched = risk === "meets";
  const between = <Figure extends PlanEstimate["costUsd"]>(low: Figure, high: Figure): PlanEstimate["costUsd"] =>
    low === null || high === null
      ? null
      : { low: low.low, expected: (isBatched ? low : high).expected, high: Math.max(low.high, high.high) };
  const hoursLeft = Math.max(0, leftMs / 3_600_000);
  const hours = isBatched
    ? {
        low: batch.hours.low,
        expected: Math.min(batch.hours.expected, hoursLeft),
        high: Math.max(batch.hours.low, hoursLeft),
      }
    : live.hours;
  const models = batch.models.map((model, index) => {
    const other = live.models[index] ?? model;
    return { ...model, costUsd: between(model.costUsd, other.costUsd), hours: isBatched ? model.hours : other.hours };
  });
  return {
    estimate: {
      ...batch,
      models,
      costUsd: between(batch.costUsd, live.costUsd),
      hours,
      budget: isBatched ? batch.budget : live.budget,
    },
    auto: {
      deadline: new Date(deadlineMs).toISOString(),
      batchUsd: batch.costUsd?.expected ?? null,
      liveUsd: live.costUsd?.expected ?? null,
      liveHours: live.hours.expected,
      turnsLiveAt: new Date(Math.max(Math.min(atMs, deadlineMs), nowMs)).toISOString(),
      risk,
    },
  };
}
