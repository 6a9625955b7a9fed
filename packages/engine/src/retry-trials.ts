import type { QueuePort } from "./ports/queue.ts";
import type { StorePort, TrialSelector } from "./ports/store.ts";
import { enqueueTrials } from "./submit-sweep.ts";

/** Puts the selected trials back with a full new budget of tries and delivers them. Gives how many. */
export async function retryTrials(
  ports: { readonly store: Pick<StorePort, "requeue">; readonly queue: Pick<QueuePort, "enqueue"> },
  sweepId: string,
  selector: TrialSelector,
): Promise<number> {
  const trials = await ports.store.requeue(sweepId, selector);
  await enqueueTrials(ports.queue, trials);
  return trials.length;
}
