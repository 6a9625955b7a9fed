import { enqueueTrials, type LimiterPort, type QueuePort, reconcile, type StorePort } from "@hallumaze/engine";
import { type JudgeStorePort, limiterLaneOf, reconcileJudges } from "@hallumaze/judging";
import { isKnownDead } from "@hallumaze/store";

import type { House } from "./house.ts";

/** What comparing ledger, queue and lanes put right. */
export interface RepairReport {
  /** Running trials whose worker is gone, put back. */
  readonly reclaimed: number;
  /** Deliveries of trials made again because the queue held too few. */
  readonly redelivered: number;
  /** Deliveries of requests to judges made again. */
  readonly judgements: number;
  /** Trials and requests put back that a lane had blocked which is no longer parked. */
  readonly unblocked: number;
}

/** What every worker does from time to time, once and now. */
export async function repairHouse(house: Pick<House, "store" | "queue" | "limiter">): Promise<RepairReport> {
  const report = await reconcile(house, isKnownDead);
  const judgements = await reconcileJudges(house, isKnownDead);
  let unblocked = 0;
  const count = (_lane: string, putBack: number): void => {
    unblocked += putBack;
  };
  await unblockLanes(house, count);
  await unblockJudgeLanes(house, count);
  return { ...report, judgements, unblocked };
}

interface Parts<Store> {
  readonly store: Store;
  readonly queue: Pick<QueuePort, "enqueue">;
  readonly limiter: Pick<LimiterPort, "use">;
}

/** Puts back the trials of lanes that are no longer parked; tells how many of each. */
export async function unblockLanes(
  { store, queue, limiter }: Parts<Pick<StorePort, "listBlockedLanes" | "unblockLane">>,
  tell: (lane: string, putBack: number) => void,
): Promise<void> {
  for (const lane of await findFree(limiter, await store.listBlockedLanes())) {
    const trials = await store.unblockLane(lane);
    await enqueueTrials(queue, trials);
    if (trials.length > 0) tell(lane, trials.length);
  }
}

/** The same for requests to judges; what a spent budget blocks is put back by whoever raises it. */
export async function unblockJudgeLanes(
  { store, queue, limiter }: Parts<Pick<JudgeStorePort, "listBlockedJudgeLanes" | "unblockJudges">>,
  tell: (lane: string, putBack: number) => void,
): Promise<void> {
  for (const lane of await findFree(limiter, await store.listBlockedJudgeLanes())) {
    const requests = await store.unblockJudges({ lane });
    await enqueueTrials(queue, requests);
    if (requests.length > 0) tell(lane, requests.length);
  }
}

/** Of these lanes, those that are not parked. */
export async function findFree(
  limiter: Pick<LimiterPort, "use">,
  lanes: readonly string[],
): Promise<readonly string[]> {
  if (lanes.length === 0) return [];
  const uses = await limiter.use(lanes.map(limiterLaneOf));
  const parked = new Set(uses.filter((use) => use.parked !== null).map((use) => use.lane));
  return lanes.filter((lane) => !parked.has(limiterLaneOf(lane)));
}
