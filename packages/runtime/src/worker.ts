import { setTimeout as sleep } from "node:timers/promises";

import {
  type Claim,
  type Consumer,
  defaultRetryPolicy,
  type FailureOutcome,
  failureOutcomes,
  type LimiterPort,
  type ProviderPort,
  type QueuePort,
  reconcile,
  refillQueue,
  runTrial,
  type StorePort,
  toDeliveryResult,
  type TrialObserver,
  type TrialPorts,
} from "@hallumaze/engine";
import { defaultDeadlines } from "@hallumaze/providers";
import type { SteeringPort } from "@hallumaze/steering";
import { isBatchLane, isRehearsalLane } from "@hallumaze/sweep";
import { describeThisProcess, isKnownDead } from "@hallumaze/store";
import type { Metrics, Tracing } from "@hallumaze/telemetry";

import { repeat } from "./loops.ts";
import { type LaneCatalog, openLaneCatalog } from "./lane-catalog.ts";
import { openOutageGate } from "./outage-gate.ts";

import type { Logger } from "./logger.ts";
import { unblockLanes } from "./repair-house.ts";
import { whyNotConsuming } from "./readiness.ts";

/** Times of a worker, in milliseconds. */
export interface WorkerTimes {
  /** How long a claim holds without renewal. Longer than any pause of a healthy process. */
  readonly leaseMs: number;
  readonly discoverEveryMs: number;
  readonly reconcileEveryMs: number;
  readonly callTimeoutMs: number;
  readonly archivePatienceMs: number;
}

/** The times that ship. */
export const workerTimes: WorkerTimes = {
  leaseMs: 30_000,
  discoverEveryMs: 1000,
  reconcileEveryMs: 15_000,
  // A little above the providers' own deadline, whose message says more.
  callTimeoutMs: defaultDeadlines.totalMs + 5000,
  // As long as a worker waits for its servers.
  archivePatienceMs: 900_000,
};

/** What a worker works on, with what. */
export interface WorkerOptions {
  readonly store: StorePort & Pick<SteeringPort, "laneControls" | "permitOf">;
  readonly queue: QueuePort;
  readonly provider: ProviderPort;
  readonly limiter: LimiterPort;
  readonly logger: Logger;
  /** Trials at once in each lane. */
  readonly concurrency: number;
  /** Only these lanes; null for all, found as they appear. */
  readonly lanes: readonly string[] | null;
  /** True where `provider` is a rehearsal's: such a worker takes rehearsals' lanes and no others, any other none of them. */
  readonly rehearsal: boolean;
  readonly times?: WorkerTimes;
  /** Counts what this worker does; nothing is counted unless told. */
  readonly metrics?: Metrics;
  /** Absent: no spans are made. */
  readonly tracing?: Tracing | null;
}

/** A running solve worker. */
export interface SolveWorker {
  /** Lanes under consumption now. */
  readonly lanes: () => readonly string[];
  /** Trials under way now. */
  readonly inFlight: () => number;
  /** Why it does not consume now, in plain words; null where it does. */
  readonly whyNotReady: () => string | null;
  /** Rejects when the worker cannot go on (the ledger is out of reach); never resolves. */
  readonly broken: Promise<never>;
  /** Takes no more work, lets what is under way end until the deadline, gives the rest back. */
  readonly drain: (deadlineMs: number) => Promise<void>;
}

/**
 * Starts a solve worker: repairs the queue from the ledger, then consumes each lane that has open trials, and new ones
 * as they appear; renews its claims; compares ledger and queue from time to time.
 */
export function startSolveWorker(options: WorkerOptions): SolveWorker {
  const times = options.times ?? workerTimes;
  const claims = new Map<string, Claim>();
  const reservations = new Map<string, string>();
  const consumers = new Map<string, Consumer>();
  const stop = new AbortController();
  const catalog = openLaneCatalog(options.store, options.limiter);
  const ports = {
    ...trialPorts(options, times, { claims, reservations }, catalog),
    isDraining: () => stop.signal.aborted,
  };
  const gate = openOutageGate(options, stop.signal);

  let isRepaired = false;
  let lookedAtMs: number | null = null;
  const discover = async (): Promise<void> => {
    // Not before the first repair: it must not meet trials that this process has just begun.
    if (!isRepaired) return;
    // Also follows limits that a new submission has changed.
    await catalog.refresh();
    for (const { lane } of await options.store.listOpenLanes(null)) {
      if (consumers.has(lane) || stop.signal.aborted || !isWanted(options, lane)) continue;
      const consumer = await options.queue.consume(lane, options.concurrency, async (delivery, signal) => {
        // An outage may end lease and delivery of a trial whose call goes on here: its reply must not be bought twice.
        if (claims.has(delivery.trialId)) return { kind: "again", afterMs: Math.ceil(times.leaseMs / 3) };
        const run = (): ReturnType<typeof runTrial> => runTrial(ports, delivery, signal);
        return gate.hold(async () => toDeliveryResult(await (options.tracing?.handle(run) ?? run())), signal);
      });
      consumers.set(lane, consumer);
      options.logger.info({ lane, concurrency: options.concurrency }, "lane open");
    }
    lookedAtMs = performance.now();
  };
  /** Claims of which it was said that they are lost. */
  let toldLost: ReadonlySet<string> = new Set();
  const renew = async (): Promise<void> => {
    if (claims.size === 0) return;
    const held = [...claims.values()].map(({ trialId, fence }) => ({ trialId, fence }));
    const lost = await options.store.renew(held, times.leaseMs);
    await renewSlots(options.limiter, claims, reservations);
    // A trial that ended while the renewal was under way is no longer held, and not lost.
    const lostHere = lost.filter((trialId) => claims.has(trialId));
    for (const trialId of lostHere.filter((one) => !toldLost.has(one))) {
      options.logger.warn({ trialId }, "claim lost: another worker took it over");
    }
    toldLost = new Set(lostHere);
  };
  let reclaimFromMs = 0;
  const repair = async (): Promise<void> => {
    try {
      // What this process holds is not lost, even where it could not say so in time.
      await renew();
      // Nor is what the others hold: in an outage all leases end, since nobody can renew them. What the queue alone has
      // lost is delivered at once.
      const report =
        performance.now() < reclaimFromMs
          ? { reclaimed: 0, redelivered: await refillQueue(options) }
          : await reconcile(options, isKnownDead);
      if (report.reclaimed + report.redelivered > 0) options.logger.warn(report, "queue repaired from the ledger");
      isRepaired = true;
      await unblockLanes(options, (lane, trials) => options.logger.info({ lane, trials }, "lane resumed"));
    } catch (error) {
      reclaimFromMs = performance.now() + times.leaseMs;
      throw error;
    }
  };

  const loops = [
    repeat(repair, times.reconcileEveryMs, stop.signal, options.logger, "reconcile"),
    repeat(
      discover,
      () => (isRepaired ? times.discoverEveryMs : untilRepairedMs),
      stop.signal,
      options.logger,
      "discover lanes",
    ),
    repeat(renew, Math.floor(times.leaseMs / 3), stop.signal, options.logger, "renew claims", true),
  ];
  const broken = Promise.race(loops);
  broken.catch(() => undefined);
  return {
    lanes: () => [...consumers.keys()],
    inFlight: () => claims.size,
    whyNotReady: () =>
      whyNotConsuming({
        isDraining: stop.signal.aborted,
        isRepaired,
        lookAgeMs: lookedAtMs === null ? null : performance.now() - lookedAtMs,
        consumers,
      }),
    broken,
    drain: async (deadlineMs) => {
      stop.abort();
      const renewals = setInterval(() => void renew().catch(() => undefined), Math.floor(times.leaseMs / 3));
      try {
        await Promise.all([...consumers.values()].map((consumer) => consumer.close(deadlineMs)));
      } finally {
        clearInterval(renewals);
      }
    },
  };
}

/** Prolongs the limiter's slots of the requests under way. */
async function renewSlots(
  limiter: LimiterPort,
  claims: ReadonlyMap<string, Claim>,
  reservations: ReadonlyMap<string, string>,
): Promise<void> {
  const byLane = new Map<string, string[]>();
  for (const [trialId, reservation] of reservations) {
    const lane = claims.get(trialId)?.lane;
    if (lane !== undefined) byLane.set(lane, [...(byLane.get(lane) ?? []), reservation]);
  }
  for (const [lane, ids] of byLane) await limiter.renew(lane, ids);
}

function isWanted({ lanes, rehearsal }: WorkerOptions, lane: string): boolean {
  return !isBatchLane(lane) && isRehearsalLane(lane) === rehearsal && (lanes === null || lanes.includes(lane));
}

/** How often a starting worker looks whether the first repair is over. */
const untilRepairedMs = 20;

/** Longest wait for a limit that is spent in the lane's slot. */
const patienceMs = 10_000;

/** What a worker's trials run with. */
export function trialPorts(
  options: Omit<WorkerOptions, "concurrency" | "lanes" | "queue" | "rehearsal">,
  times: WorkerTimes,
  held: Held,
  catalog: LaneCatalog,
): TrialPorts {
  return {
    store: options.store,
    provider: options.tracing?.provider(options.provider) ?? options.provider,
    limiterOf: (lane) => (catalog.isLimited(lane) ? options.limiter : null),
    settingsOf: catalog.settingsOf,
    mayStart: options.store.permitOf,
    patienceMs,
    now: () => performance.now(),
    fraction: Math.random,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    workerId: describeThisProcess(),
    leaseMs: times.leaseMs,
    callTimeoutMs: times.callTimeoutMs,
    archivePatienceMs: times.archivePatienceMs,
    retry: defaultRetryPolicy,
    observe: observer(options, held, catalog),
  };
}

/** What this worker holds, by trial: its claims, and the limiter's reservations of their requests under way. */
export interface Held {
  readonly claims: Map<string, Claim>;
  readonly reservations: Map<string, string>;
}

/** One line a state change, with ids. What a provider said stays in the ledger: it may repeat a prompt or a key. */
function observer(
  { logger, metrics, tracing }: Pick<WorkerOptions, "logger" | "metrics" | "tracing">,
  { claims, reservations }: Held,
  catalog: LaneCatalog,
): TrialObserver {
  let troubled = false;
  return {
    claimed: (claim) => {
      claims.set(claim.trialId, claim);
      metrics?.begun("trial", claim.trialId);
      tracing?.trialClaimed(claim);
      logger.debug({ trialId: claim.trialId, lane: claim.lane, fence: claim.fence }, "trial running");
    },
    reserved: (claim, reservation) => reservations.set(claim.trialId, reservation),
    released: (claim) => {
      claims.delete(claim.trialId);
      reservations.delete(claim.trialId);
      metrics?.released("trial", claim.trialId);
    },
    ended: (claim, end, fate) => {
      troubled = false;
      const outcome = end.kind === "done" ? end.scored.outcome : end.outcome;
      if (fate === "ended") metrics?.ended("trial", claim.alias, end.kind, outcome);
      tracing?.ended(fate === "lost" ? "lost" : end.kind, outcome);
      const line = { trialId: claim.trialId, lane: claim.lane, fence: claim.fence, outcome, fate };
      switch (end.kind) {
        case "done":
          return logger.info(line, "trial done");
        case "retry":
          return logger.info({ ...line, afterMs: end.afterMs }, "trial waits for a retry");
        case "blocked":
          return logger.warn(line, "trial blocked");
        case "failed":
          return logger.warn(line, "trial failed");
      }
    },
    called: (claim, call) => {
      metrics?.called("trial", claim.alias, call);
      if (call.outcome === null) catalog.sawReply(claim.lane, call.usage.outputTokens);
    },
    parked: (claim, reason, blocked) =>
      logger.error({ lane: claim.lane, trialId: claim.trialId, outcome: parkedBy(reason), blocked }, "lane parked"),
    late: (claim) => {
      metrics?.late("trial");
      logger.warn({ trialId: claim.trialId, fence: claim.fence }, "late reply archived");
    },
    archiveTrouble: (claim, error) => {
      if (troubled) return;
      troubled = true;
      logger.error({ trialId: claim.trialId, err: error }, "the database refuses replies: holding them, work pauses");
    },
  };
}

/** The outcome that parked a lane; what the vendor said with it stays in the ledger, where \`status\` finds it. */
export function parkedBy(reason: string): FailureOutcome | null {
  return failureOutcomes.find((outcome) => reason.startsWith(outcome)) ?? null;
}
