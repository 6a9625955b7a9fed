import {
  enqueueTrials,
  type LaneLimits,
  type LimiterPort,
  operatorReason,
  type QueuePort,
  type StorePort,
} from "@hallumaze/engine";
import { type JudgeStorePort, limiterLaneOf } from "@hallumaze/judging";

import type { LimitChange, SteeringPort } from "./ports.ts";

/**
 * Parks a lane: its word stands in the ledger, where every claim reads it; the limiter stops those who wait there already.
 * Gives how many trials were blocked.
 */
export async function parkLane(
  ports: { readonly store: Pick<SteeringPort, "parkLane">; readonly limiter: Pick<LimiterPort, "park"> },
  lane: string,
  reason: string | null,
  forMs: number | null,
): Promise<number> {
  const said = reason === null ? operatorReason : `${operatorReason}: ${reason}`;
  const blocked = await ports.store.parkLane(lane, said, forMs);
  await ports.limiter.park(limiterLaneOf(lane), said, forMs);
  return blocked;
}

/** Lets a lane go on that an operator or its vendor had parked, and delivers what that blocked. */
export async function resumeLane(
  ports: {
    readonly store: Pick<SteeringPort, "unparkLane"> &
      Pick<StorePort, "unblockLane"> &
      Pick<JudgeStorePort, "unblockJudges">;
    readonly limiter: Pick<LimiterPort, "resume">;
    readonly queue: Pick<QueuePort, "enqueue">;
  },
  lane: string,
): Promise<{ readonly wasParked: boolean; readonly putBack: number }> {
  const byOperator = await ports.store.unparkLane(lane);
  const byVendor = await ports.limiter.resume(limiterLaneOf(lane));
  const back = [...(await ports.store.unblockLane(lane)), ...(await ports.store.unblockJudges({ lane }))];
  await enqueueTrials(ports.queue, back);
  return { wasParked: byOperator || byVendor, putBack: back.length };
}

/** A lane's limits under an operator's word: what he names stands over the specs', and null takes a limit away. */
export function limitsUnder(limits: LaneLimits, change: LimitChange): LaneLimits {
  const merged = Object.entries({ ...limits, ...change }).filter(([, value]) => typeof value === "number");
  return Object.fromEntries(merged);
}
