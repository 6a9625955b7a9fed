import { enqueueTrials, type QueuePort } from "@hallumaze/engine";

import type { Precedence, SteeringPort, TrialSelector } from "./ports.ts";

/** Trials a statement, and deliveries a call. */
const pageSize = 5000;

type Queue = Pick<QueuePort, "enqueue">;

/** Puts the selected trials back with a full new budget of tries and delivers them. Gives how many. */
export async function retryTrials(
  ports: { readonly store: Pick<SteeringPort, "requeue">; readonly queue: Queue },
  sweepId: string,
  selector: TrialSelector,
): Promise<number> {
  const trials = await ports.store.requeue(sweepId, selector);
  await enqueueTrials(ports.queue, trials);
  return trials.length;
}

/**
 * Lets a paused sweep go on; `held` are the models that stay held back. What waits is delivered again under a new
 * generation: its deliveries were dropped while it was paused, and one on its way must not stand for it. Gives how many.
 */
export async function resumeSweep(
  ports: {
    readonly store: Pick<SteeringPort, "unpauseSweep" | "putBackOpen" | "putBackJudges">;
    readonly queue: Queue;
  },
  sweepId: string,
  models: { readonly resumed: readonly string[]; readonly held: readonly string[] },
): Promise<number> {
  await ports.store.unpauseSweep(sweepId, models.held);
  const judges = await ports.store.putBackJudges(sweepId);
  await enqueueTrials(ports.queue, judges);
  return judges.length + (await deliverAgain(ports, sweepId, models.resumed));
}

/** Gives a sweep another priority or weight: what waits is delivered again in its new place. Gives how many. */
export async function prioritizeSweep(
  ports: { readonly store: Pick<SteeringPort, "rankSweep" | "putBackOpen">; readonly queue: Queue },
  sweepId: string,
  precedence: Precedence,
): Promise<number> {
  await ports.store.rankSweep(sweepId, precedence);
  return deliverAgain(ports, sweepId, []);
}

/** What cancelling did. */
export interface CancelReport {
  readonly cancelled: number;
  /** Trials whose call is under way: they end with it. */
  readonly ending: number;
  /** Requests to judges. */
  readonly judgements: number;
}

/** Cancels the selected open trials; with no part of a selector given, the sweep as a whole, judges included. */
export async function cancelSweep(
  store: Pick<SteeringPort, "cancelTrials" | "cancelJudges">,
  sweepId: string,
  selector: TrialSelector,
  options: { readonly now: boolean },
): Promise<CancelReport> {
  // First, so that no judge is asked about a trial that ends meanwhile.
  const judgements = Object.keys(selector).length === 0 ? await store.cancelJudges(sweepId) : 0;
  return { ...(await store.cancelTrials(sweepId, selector, options)), judgements };
}

async function deliverAgain(
  { store, queue }: { readonly store: Pick<SteeringPort, "putBackOpen">; readonly queue: Queue },
  sweepId: string,
  models: readonly string[],
): Promise<number> {
  let delivered = 0;
  for await (const page of store.putBackOpen(sweepId, models, pageSize)) {
    await enqueueTrials(queue, page);
    delivered += page.length;
  }
  return delivered;
}
