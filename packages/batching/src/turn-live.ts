import { enqueueTrials, type QueuePort } from "@hallumaze/engine";

import type { BatchStorePort, OpenCount } from "./ports.ts";

/** A model of a sweep that is asked in batches as long as its deadline can be met. */
export interface AutoModel {
  readonly sweepId: string;
  readonly alias: string;
  readonly lane: string;
  readonly liveLane: string;
  /** Milliseconds since the Unix epoch. */
  readonly deadlineMs: number;
}

/** What turning to live calls needs from outside. */
export interface TurnLivePorts {
  readonly store: Pick<BatchStorePort, "countOpen" | "moveLive">;
  readonly queue: Pick<QueuePort, "enqueue">;
  /** The wall clock that deadlines go by. */
  readonly now: () => number;
  /** Hours, at the most that is expected, for a model's live lane to answer what is open there or may come there. */
  readonly liveHours: (model: AutoModel, open: readonly OpenCount[]) => Promise<number>;
  readonly observe: (model: AutoModel, trials: number, isLate: boolean) => void;
}

/**
 * How long what has to happen before the first live call may take, and what no estimate holds, in ms: the vendor cancels
 * (OpenAI: within ten minutes), a look every minute sees it, a lost submission is found first; a failed call is repeated.
 * SOURCE: https://developers.openai.com/api/reference/go/resources/batches/methods/cancel/, read 2026-11-30.
 */
export const hurryMs = 20 * 60_000;
/** A lane is slower than its estimate: 429s, other programs on the same key. */
const caution = 1.25;

/**
 * The last moment at which what waits in batches can still be answered live before the deadline, in ms since the Unix
 * epoch, where that takes `liveHours` at the most. What lands meanwhile moves it back.
 */
export function turnLiveAtMs(deadlineMs: number, liveHours: number): number {
  return deadlineMs - neededMs(liveHours) - hurryMs;
}

/** What live calls of so many hours are given, in ms. */
export function neededMs(liveHours: number): number {
  return caution * liveHours * 3_600_000;
}

/**
 * Sends live what a batch has failed once, and all that cannot be waited for any longer: batches that hold it are late
 * from then on. Gives the moment at which the next model's batches will be late as things stand; null: none waits.
 */
export async function turnLive(ports: TurnLivePorts, models: readonly AutoModel[]): Promise<number | null> {
  if (models.length === 0) return null;
  const open = await ports.store.countOpen([...new Set(models.flatMap(({ lane, liveLane }) => [lane, liveLane]))]);
  let nextMs: number | null = null;
  for (const model of models) {
    const { sweepId, alias, lane, liveLane } = model;
    if (!open.some((count) => count.sweepId === sweepId && count.alias === alias && count.lane === lane)) continue;
    const atMs = turnLiveAtMs(model.deadlineMs, await ports.liveHours(model, open));
    const isLate = ports.now() >= atMs;
    const trials = await ports.store.moveLive(sweepId, lane, liveLane, { aliases: [alias], isLate });
    await enqueueTrials(ports.queue, trials);
    if (trials.length > 0) ports.observe(model, trials.length, isLate);
    if (!isLate) nextMs = Math.min(nextMs ?? atMs, atMs);
  }
  return nextMs;
}
