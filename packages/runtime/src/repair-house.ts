import { enqueueTrials, reconcile } from "@hallumaze/engine";
import { limiterLaneOf, reconcileJudges } from "@hallumaze/judging";
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
  const unblocked = (await unblockLanes(house)) + (await unblockJudges(house));
  return { ...report, judgements, unblocked };
}

async function unblockLanes({ store, queue, limiter }: Pick<House, "store" | "queue" | "limiter">): Promise<number> {
  let unblocked = 0;
  for (const lane of await freeOf(limiter, await store.listBlockedLanes())) {
    const back = await store.unblockLane(lane);
    await enqueueTrials(queue, back);
    unblocked += back.length;
  }
  return unblocked;
}

async function unblockJudges({ store, queue, limiter }: Pick<House, "store" | "queue" | "limiter">): Promise<number> {
  let unblocked = 0;
  for (const lane of await freeOf(limiter, await store.listBlockedJudgeLanes())) {
    const back = await store.unblockJudges({ lane });
    await enqueueTrials(queue, back);
    unblocked += back.length;
  }
  return unblocked;
}

async function freeOf(limiter: House["limiter"], lanes: readonly string[]): Promise<readonly string[]> {
  if (lanes.length === 0) return [];
  const uses = await limiter.use(lanes.map(limiterLaneOf));
  const parked = new Set(uses.filter((use) => use.parked !== null).map((use) => use.lane));
  return lanes.filter((lane) => !parked.has(limiterLaneOf(lane)));
}
