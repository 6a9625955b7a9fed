import { expandCells, type SweepSpec, specToJson } from "@hallumaze/sweep";

import { inBatches } from "./grid-batches.ts";
import type { QueuePort } from "./ports/queue.ts";
import type { OpenTrial, Provenance, StorePort, SweepRecord, TrialSelector } from "./ports/store.ts";

/** Cells a statement. Large enough to be fast, small enough to keep memory flat. */
const cellBatch = 1000;
/** Deliveries a call. */
const queueBatch = 2000;

/** What submitting a spec did. */
export interface SubmitReport {
  readonly sweep: SweepRecord;
  /** Cells of the grid now. */
  readonly cells: number;
  readonly inserted: number;
  readonly existing: number;
  /** Of the inserted: taken over from another sweep of this database. */
  readonly reused: number;
  /** Rows that left the grid with this spec: kept, not run. */
  readonly leftGrid: number;
  readonly enqueued: number;
}

/** Called while a long submission goes on. */
export type SubmitProgress = (done: { readonly cells: number; readonly enqueued: number }) => void;

/**
 * Writes the grid into the ledger, then hands the ids to the queue. Interrupted at any point and repeated, it ends in
 * the same state: rows have content ids, and deliveries are made from rows.
 */
export async function submitSweep(
  ports: { readonly store: StorePort; readonly queue: QueuePort },
  spec: SweepSpec,
  options: {
    readonly provenance: Provenance;
    readonly fresh: boolean;
    readonly rehearsal: boolean;
    readonly signal: AbortSignal;
    readonly onProgress?: SubmitProgress;
    /** What the plan expects of this submission, as JSON text, to be compared with what it takes. */
    readonly estimateJson?: string | null;
  },
): Promise<SubmitReport> {
  const { store, queue } = ports;
  const sweep = await store.openSweep({
    name: spec.name,
    specJson: specToJson(spec),
    provenance: options.provenance,
    maxTries: spec.retries.tries,
    maxEmptyRetries: spec.retries.empty,
    fresh: options.fresh,
    budgetUsd: spec.budgetUsd === null ? null : String(spec.budgetUsd),
    estimateJson: options.estimateJson ?? null,
  });
  const revision = await store.beginGrid(sweep.sweepId);
  const sums = { cells: 0, inserted: 0, existing: 0, reused: 0 };
  for (const cells of inBatches(expandCells(spec, { rehearsal: options.rehearsal }), cellBatch)) {
    options.signal.throwIfAborted();
    const report = await store.insertCells(sweep.sweepId, revision, cells);
    sums.cells += cells.length;
    sums.inserted += report.inserted;
    sums.existing += report.existing;
    sums.reused += report.reused;
    options.onProgress?.({ cells: sums.cells, enqueued: 0 });
  }
  const leftGrid = await store.closeGrid(sweep.sweepId, revision);
  // A raised budget lets go on what a smaller one has stopped.
  const unblocked = await store.unblockBudget(sweep.sweepId);
  await enqueueTrials(queue, unblocked);
  const enqueued = await enqueuePlanned({ store, queue }, sweep.sweepId, options.signal, (count) =>
    options.onProgress?.({ cells: sums.cells, enqueued: count }),
  );
  return { sweep, ...sums, leftGrid, enqueued: enqueued + unblocked.length };
}

/** Hands all planned trials of a sweep to the queue, in each lane's shuffled order. Gives how many. */
export async function enqueuePlanned(
  ports: { readonly store: Pick<StorePort, "listPlanned" | "markQueued">; readonly queue: Pick<QueuePort, "enqueue"> },
  sweepId: string,
  signal: AbortSignal,
  onProgress?: (enqueued: number) => void,
): Promise<number> {
  let enqueued = 0;
  for (;;) {
    signal.throwIfAborted();
    const planned = await ports.store.listPlanned(sweepId, queueBatch);
    if (planned.length === 0) return enqueued;
    await enqueueTrials(ports.queue, planned);
    await ports.store.markQueued(planned.map((trial) => trial.trialId));
    enqueued += planned.length;
    onProgress?.(enqueued);
  }
}

/** Enqueues open trials, lane by lane, in the order given. */
export async function enqueueTrials(queue: Pick<QueuePort, "enqueue">, trials: readonly OpenTrial[]): Promise<void> {
  const lanes = new Map<string, OpenTrial[]>();
  for (const trial of trials) {
    const items = lanes.get(trial.lane);
    if (items) items.push(trial);
    else lanes.set(trial.lane, [trial]);
  }
  for (const [lane, items] of lanes) await queue.enqueue(lane, items);
}

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
