import { expandCells, hasAbsoluteDeadlines, isBatchLane, type SweepSpec, specToJson } from "@hallumaze/sweep";

import { inBatches } from "./grid-batches.ts";
import type { LanePlaces, QueuePort } from "./ports/queue.ts";
import type { OpenTrial, Provenance, StorePort, SweepRecord } from "./ports/store.ts";

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
 * the same state: rows have content ids, and deliveries are made from rows. A deadline by the clock is the submitter's to
 * make a date and time of (`withAbsoluteDeadlines`): others do not know the time zone.
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
  if (!hasAbsoluteDeadlines(spec)) throw new Error(`the sweep ${spec.name} has a deadline without its day`);
  const sweep = await store.openSweep({
    name: spec.name,
    specJson: specToJson(spec),
    provenance: options.provenance,
    maxTries: spec.retries.tries,
    maxEmptyRetries: spec.retries.empty,
    fresh: options.fresh,
    budgetUsd: spec.budgetUsd === null ? null : String(spec.budgetUsd),
    estimateJson: options.estimateJson ?? null,
    priority: spec.priority,
    weight: spec.weight,
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

/**
 * Hands all planned trials of a sweep to the queue, in each lane's shuffled order, each with its turn among those of the
 * other sweeps there. Gives how many.
 */
export async function enqueuePlanned(
  ports: {
    readonly store: Pick<StorePort, "listPlanned" | "markQueued" | "findPlaces">;
    readonly queue: Pick<QueuePort, "enqueue">;
  },
  sweepId: string,
  signal: AbortSignal,
  onProgress?: (enqueued: number) => void,
): Promise<number> {
  let enqueued = 0;
  let take: ((trial: OpenTrial) => OpenTrial) | null = null;
  for (;;) {
    signal.throwIfAborted();
    const planned = await ports.store.listPlanned(sweepId, queueBatch);
    if (planned.length === 0) return enqueued;
    take ??= takePlaces(await ports.store.findPlaces(sweepId));
    const placed = planned.map(take);
    await enqueueTrials(ports.queue, placed);
    await ports.store.markQueued(
      placed.map(({ trialId }) => trialId),
      placed.map(({ turn = 0 }) => turn),
    );
    enqueued += planned.length;
    onProgress?.(enqueued);
  }
}

/** Start-time fair queueing: a sweep's next turn in a lane is its last one and 1 over its weight. */
function takePlaces({ priority, weight, turns }: LanePlaces): (trial: OpenTrial) => OpenTrial {
  const next = new Map(Object.entries(turns));
  return (trial) => {
    const turn = next.get(trial.lane) ?? 0;
    next.set(trial.lane, turn + 1 / weight);
    return { ...trial, priority, turn };
  };
}

/** Enqueues open trials, lane by lane, in the order given. Those of batches are read from the ledger. */
export async function enqueueTrials(queue: Pick<QueuePort, "enqueue">, trials: readonly OpenTrial[]): Promise<void> {
  const lanes = new Map<string, OpenTrial[]>();
  for (const trial of trials) {
    if (isBatchLane(trial.lane)) continue;
    const items = lanes.get(trial.lane);
    if (items) items.push(trial);
    else lanes.set(trial.lane, [trial]);
  }
  for (const [lane, items] of lanes) await queue.enqueue(lane, items);
}
