import { isBatchLane } from "@hallumaze/sweep";

import type { QueuePort } from "./ports/queue.ts";
import type { StorePort } from "./ports/store.ts";
import { enqueueTrials } from "./submit-sweep.ts";

const pageSize = 2000;

/** What a comparison of ledger and queue put right. */
export interface ReconcileReport {
  /** Running trials whose worker is gone, put back. */
  readonly reclaimed: number;
  /** Deliveries made again because the queue held fewer than the ledger has open trials. */
  readonly redelivered: number;
}

/**
 * Compares the ledger with the queue and repairs the queue: the ledger is the truth. Cheap where all is well (one count
 * a lane), so it runs at each start and every half minute in each worker; several at once do no harm, since deliveries
 * are idempotent and the claim decides.
 *
 * Heals lost Redis data, an interrupted enqueue, a dead worker, and jobs that BullMQ gave up on.
 */
export async function reconcile(
  ports: { readonly store: Pick<StorePort, "reclaimLost" | "listOpenLanes" | "listOpen">; readonly queue: QueuePort },
  isDead: (workerId: string) => boolean,
): Promise<ReconcileReport> {
  const reclaimed = await ports.store.reclaimLost(isDead);
  await enqueueTrials(ports.queue, reclaimed);
  return { reclaimed: reclaimed.length, redelivered: await refillQueue(ports) };
}

/**
 * Delivers again what the queue lost, and leaves running trials to their workers: safe at any time, also when leases have
 * ended because nobody could renew them. Gives the number of deliveries.
 */
export async function refillQueue({
  store,
  queue,
}: {
  readonly store: Pick<StorePort, "listOpenLanes" | "listOpen">;
  readonly queue: QueuePort;
}): Promise<number> {
  let redelivered = 0;
  for (const { lane, open } of await store.listOpenLanes(null)) {
    if (isBatchLane(lane)) continue;
    const depth = await queue.depth(lane);
    if (depth.waiting + depth.active + depth.delayed >= open) continue;
    for await (const page of store.listOpen(lane, pageSize)) {
      await queue.enqueue(lane, page);
      redelivered += page.length;
    }
  }
  return redelivered;
}
