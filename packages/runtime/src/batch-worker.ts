import { randomUUID } from "node:crypto";

import {
  type AutoModel,
  type Batch,
  type BatchStorePort,
  type BatchVendorPort,
  driveBatch,
  type DrivePorts,
  type DriveTimes,
  type Gatherer,
  type GatherSource,
  driveTimes,
  openGatherer,
  trialSource,
  turnLive,
} from "@hallumaze/batching";
import { type Claim, type LimiterPort, type QueuePort, reconcile, type StorePort } from "@hallumaze/engine";
import type { Clock } from "@hallumaze/foundation";
import type { JudgeStorePort } from "@hallumaze/judging";
import type { SteeringPort } from "@hallumaze/steering";
import { isKnownDead } from "@hallumaze/store";
import { isBatchLane, isRehearsalLane } from "@hallumaze/sweep";
import type { Metrics, Tracing } from "@hallumaze/telemetry";

import { openBatchJudgements } from "./batch-judgements.ts";
import { openJudgeCatalog } from "./judge-catalog.ts";
import { openLaneCatalog } from "./lane-catalog.ts";
import { openLiveTimes } from "./live-times.ts";
import type { Logger } from "./logger.ts";
import { repeat } from "./loops.ts";
import { defaultSlots } from "./plan-house.ts";
import { whyNotConsuming } from "./readiness.ts";
import { findFree, unblockLanes } from "./repair-house.ts";
import { type Held, parkedBy, type SolveWorker, trialPorts, type WorkerTimes, workerTimes } from "./worker.ts";

/** What a batch worker works on, with what. */
export interface BatchWorkerOptions {
  readonly store: StorePort &
    BatchStorePort &
    JudgeStorePort &
    Pick<SteeringPort, "laneControls" | "permitOf" | "judgePermitOf">;
  readonly queue: QueuePort;
  readonly vendor: BatchVendorPort;
  readonly limiter: LimiterPort;
  readonly logger: Logger;
  /** Only these lanes are gathered; null for all. */
  readonly lanes: readonly string[] | null;
  /** True where `vendor` is a rehearsal's. */
  readonly rehearsal: boolean;
  /** False where a solve worker of this process compares ledger and queue: it alone knows what it holds. */
  readonly repairs: boolean;
  /** Trials at once in each lane where solve workers work: what goes live takes its time by it. As shipped unless told. */
  readonly concurrency?: number;
  /** The wall clock that deadlines go by; the process' own unless told. */
  readonly clock?: Clock;
  readonly times?: WorkerTimes;
  readonly batchTimes?: BatchTimes;
  readonly metrics?: Metrics;
  readonly tracing?: Tracing | null;
}

/** Times of batches, in milliseconds. */
export interface BatchTimes extends DriveTimes {
  /** How long a batch waits for more, after its last request and in all. */
  readonly quietMs: number;
  readonly longestMs: number;
}

/** The times that ship. */
const batchTimes: BatchTimes = { ...driveTimes, quietMs: 3000, longestMs: 60_000 };

/** Batches that are driven at once: one may be landing while another is looked at. */
const drivers = 2;
/** A step that failed comes again after so long. */
const troubledMs = 5000;

/**
 * Starts a batch worker: gathers the open trials of batch lanes into batches, submits them, looks after them, and lands
 * what comes back. Beside other workers or alone; what one leaves, another takes up.
 */
export function startBatchWorker(options: BatchWorkerOptions): SolveWorker {
  const { store, queue, limiter, logger, rehearsal } = options;
  const times = options.times ?? workerTimes;
  const stop = new AbortController();
  const hardStop = new AbortController();
  const held: Held = { claims: new Map<string, Claim>(), reservations: new Map() };
  const catalog = openLaneCatalog(store, limiter);
  const noCalls = {
    complete: async () => {
      throw new Error("a batch worker sends no single requests");
    },
  };
  const trial = {
    ...trialPorts({ ...options, provider: noCalls }, times, held, catalog),
    isDraining: () => stop.signal.aborted,
  };
  const shipped = options.batchTimes ?? batchTimes;
  const judges = openJudgeCatalog(store, limiter, { rehearsal, now: Date.now });
  const judgements = openBatchJudgements(options, times, judges, () => gatherer, trial.isDraining);
  const gatherer: Gatherer = openGatherer({
    ...trial,
    store,
    vendor: options.vendor,
    newId: randomUUID,
    quietMs: shipped.quietMs,
    longestMs: shipped.longestMs,
    observe: {
      sealed: (batchId, lane, rows) => logger.info({ batchId, lane, rows }, "batch gathered"),
      trouble: (subjectId, error) => logger.error({ subjectId, err: error }, "what waits could not be gathered"),
    },
  });
  const trials = trialSource({ ...trial, store }, gatherer);
  const ports: DrivePorts = {
    ...trial,
    store,
    limiter,
    queue,
    judging: judgements.port,
    vendor: options.vendor,
    settingsOf: catalog.settingsOf,
    times: shipped,
    observe: observer(options),
  };
  const busy = new Set<Promise<void>>();
  const tracked = (work: () => Promise<void>) => async (): Promise<void> => {
    if (stop.signal.aborted) return;
    const running = work();
    busy.add(running);
    try {
      await running;
    } finally {
      busy.delete(running);
    }
  };

  let isRepaired = !options.repairs;
  let lookedAtMs: number | null = null;
  const repair = async (): Promise<void> => {
    const report = await reconcile({ store, queue }, isKnownDead);
    if (report.reclaimed + report.redelivered > 0) logger.warn(report, "queue repaired from the ledger");
    isRepaired = true;
    await unblockLanes(options, (lane, trials) => logger.info({ lane, trials }, "lane resumed"));
  };
  const now = options.clock ?? Date.now;
  const slots = options.concurrency ?? defaultSlots;
  const liveHours = openLiveTimes({ ...catalog, store, slots, rehearsal, now });
  const turning = {
    store,
    queue,
    now,
    liveHours,
    observe: ({ sweepId, alias, liveLane }: AutoModel, trials: number, isLate: boolean): void =>
      logger.info({ sweepId, model: alias, lane: liveLane, trials, isLate }, "trials go live"),
  };
  const gather = tracked(async () => {
    if (!isRepaired) return;
    await catalog.refresh();
    await turnLive(turning, catalog.autoModels(rehearsal));
    const gatherFrom = async (open: readonly { readonly lane: string }[], source: GatherSource): Promise<void> => {
      const lanes = open
        .map(({ lane }) => lane)
        .filter((lane) => isBatchLane(lane) && isRehearsalLane(lane) === rehearsal)
        .filter((lane) => options.lanes === null || options.lanes.includes(lane));
      // A parked lane rests: what a refused batch gives back there is blocked, not gathered again.
      const free = new Set(await findFree(limiter, lanes));
      for (const lane of lanes) {
        if (!stop.signal.aborted) await gatherer.gather(lane, source, hardStop.signal, !free.has(lane));
      }
    };
    await gatherFrom(await store.listOpenLanes(null), trials);
    const judged = await store.listOpenJudgeLanes(null);
    if (judged.some(({ lane }) => isBatchLane(lane))) await judges.refresh();
    await gatherFrom(judged, judgements.source);
    lookedAtMs = performance.now();
  });
  const drive = tracked(async () => {
    const { workerId } = trial;
    while (!stop.signal.aborted) {
      const batch = await store.takeBatch({ workerId, leaseMs: times.leaseMs, rehearsal, isDead: isKnownDead });
      if (batch === null) return;
      await driveOne(ports, batch, hardStop.signal);
    }
  });
  const renew = (): Promise<void> => store.renewBatches(trial.workerId, times.leaseMs);

  const every = times.discoverEveryMs;
  const loops = [
    ...(options.repairs ? [repeat(repair, times.reconcileEveryMs, stop.signal, logger, "reconcile")] : []),
    repeat(gather, () => (isRepaired ? every : untilRepairedMs), stop.signal, logger, "gather batches"),
    ...Array.from({ length: drivers }, () => repeat(drive, every, stop.signal, logger, "drive batches")),
    repeat(renew, Math.floor(times.leaseMs / 3), stop.signal, logger, "renew batches", true),
  ];
  const broken = Promise.race(loops);
  broken.catch(() => undefined);
  return {
    lanes: () => [],
    inFlight: () => busy.size,
    whyNotReady: () =>
      whyNotConsuming({
        isDraining: stop.signal.aborted,
        isRepaired,
        lookAgeMs: lookedAtMs === null ? null : performance.now() - lookedAtMs,
        consumers: new Map(),
      }),
    broken,
    drain: async (deadlineMs) => {
      stop.abort();
      const timer = setTimeout(() => hardStop.abort(), deadlineMs);
      const renewals = setInterval(() => void renew().catch(() => undefined), Math.floor(times.leaseMs / 3));
      try {
        await Promise.allSettled(busy);
        await gatherer.drop();
      } finally {
        clearTimeout(timer);
        clearInterval(renewals);
      }
    },
  };
}

const untilRepairedMs = 20;

/** A step that fails is tried again later; a submission that failed half-way is looked for first. */
async function driveOne(ports: DrivePorts, batch: Batch, signal: AbortSignal): Promise<void> {
  try {
    await driveBatch(ports, batch, signal);
  } catch (error) {
    if (signal.aborted) return;
    ports.observe.trouble(batch, error);
    const afterMs = batch.state === "sealed" ? ports.times.settleMs : troubledMs;
    await ports.store.releaseBatch(batch, { afterMs });
  }
}

/** One line a step, with ids. What a vendor said stays in the ledger. */
function observer({ logger, metrics }: Pick<BatchWorkerOptions, "logger" | "metrics">): DrivePorts["observe"] {
  const of = ({ batchId, lane, rows }: Batch) => ({ batchId, lane, rows });
  return {
    submitted: (batch, vendorId, how) => logger.info({ ...of(batch), vendorId, how }, "batch submitted"),
    refused: (batch, { outcome }) => logger.warn({ ...of(batch), outcome }, "batch refused"),
    landed: (batch, row, call, fate) => {
      metrics?.called("trial", row.trial.alias, call);
      if (fate === "late") metrics?.late("trial");
      logger.debug({ batchId: batch.batchId, trialId: row.subjectId, outcome: call.outcome, fate }, "row landed");
    },
    finished: (batch, reckoning) =>
      logger.info({ ...of(batch), ...reckoning, rows: batch.rows, ended: reckoning.rows }, "batch done"),
    dropped: (batch, rows) => logger.info({ ...of(batch), rows }, "batch dropped: nothing of it was sent"),
    wentLive: (batch, trials) => logger.info({ ...of(batch), trials }, "trials of a batch go live"),
    parked: (batch, reason, blocked) =>
      logger.error({ lane: batch.lane, batchId: batch.batchId, outcome: parkedBy(reason), blocked }, "lane parked"),
    trouble: (batch, error) => logger.error({ ...of(batch), err: error }, "a batch's step failed"),
  };
}
