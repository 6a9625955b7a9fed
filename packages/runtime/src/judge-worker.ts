import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import {
  type Consumer,
  defaultRetryPolicy,
  enqueueTrials,
  type LimiterPort,
  type ProviderPort,
  type QueuePort,
  type StorePort,
} from "@hallumaze/engine";
import {
  deliverPlanned,
  type JudgeClaim,
  type JudgeObserver,
  type JudgePorts,
  type JudgeStorePort,
  reconcileJudges,
  refillJudgeQueue,
  requestJudgements,
  runJudgement,
  toJudgeDelivery,
} from "@hallumaze/judging";
import type { SteeringPort } from "@hallumaze/steering";
import { describeThisProcess, isKnownDead } from "@hallumaze/store";
import type { Metrics, Tracing } from "@hallumaze/telemetry";
import { isBatchLane, isRehearsalLane } from "@hallumaze/sweep";

import { type JudgeCatalog, openJudgeCatalog } from "./judge-catalog.ts";
import type { Logger } from "./logger.ts";
import { repeat } from "./loops.ts";
import { openOutageGate } from "./outage-gate.ts";
import { unblockJudgeLanes } from "./repair-house.ts";
import { whyNotConsuming } from "./readiness.ts";
import { parkedBy, type SolveWorker, type WorkerTimes, workerTimes } from "./worker.ts";

/** What a judge worker works on, with what. */
export interface JudgeWorkerOptions {
  readonly store: StorePort & JudgeStorePort & Pick<SteeringPort, "laneControls" | "judgePermitOf">;
  readonly queue: QueuePort;
  /** A client of the judges' own. */
  readonly provider: ProviderPort;
  readonly limiter: LimiterPort;
  readonly logger: Logger;
  /** Judgements at once in each lane. */
  readonly concurrency: number;
  /** True where `provider` is a rehearsal's. */
  readonly rehearsal: boolean;
  readonly times?: WorkerTimes;
  /** Counts what this worker does; nothing is counted unless told. */
  readonly metrics?: Metrics;
  /** Absent: no spans are made. */
  readonly tracing?: Tracing | null;
}

/** How often a judge is asked at most where its calls fail. */
const maxTries = 4;
/** Longest wait for a limit that is spent in the slot. */
const patienceMs = 10_000;

/**
 * Starts a judge worker: asks each sweep's judge about the trials that are done, and consumes the judges' lanes; renews its
 * claims; compares ledger and queue from time to time. Beside solve workers or alone.
 */
export function startJudgeWorker(options: JudgeWorkerOptions): SolveWorker {
  const { store, queue, limiter, logger, rehearsal } = options;
  const times = options.times ?? workerTimes;
  const held: HeldJudgements = { claims: new Map(), reservations: new Map() };
  const consumers = new Map<string, Consumer>();
  const stop = new AbortController();
  const catalog = openJudgeCatalog(store, limiter, { rehearsal, now: Date.now });
  const ports = { ...judgePorts(options, times, held, catalog), isDraining: () => stop.signal.aborted };
  const gate = openOutageGate(options, stop.signal);

  let isRepaired = false;
  let lookedAtMs: number | null = null;
  const followed = new Set<string>();
  /** A changed mode moves what waits to the other lane, as a new submission does with trials. */
  const followModes = async (): Promise<void> => {
    for (const { sweepId, lane, otherMode } of catalog.lanes()) {
      if (followed.has(`${sweepId} ${lane}`)) continue;
      const moved = await store.moveJudges(sweepId, otherMode, lane);
      await enqueueTrials(queue, moved);
      followed.add(`${sweepId} ${lane}`);
      followed.delete(`${sweepId} ${otherMode}`);
      if (moved.length > 0) logger.info({ sweepId, lane, requests: moved.length }, "judgements change their lane");
    }
  };
  const discover = async (): Promise<void> => {
    await catalog.refresh();
    for (const judging of catalog.judgings()) {
      const added = await requestJudgements({ store, queue }, judging, stop.signal);
      if (added > 0) logger.info({ sweepId: judging.sweepId, lane: judging.lane, added }, "judgements requested");
    }
    await deliverPlanned({ store, queue });
    await followModes();
    for (const { lane } of await store.listOpenJudgeLanes(null)) {
      // What is asked in batches is the batch worker's.
      if (isBatchLane(lane) || consumers.has(lane) || stop.signal.aborted || isRehearsalLane(lane) !== rehearsal)
        continue;
      const consumer = await queue.consume(lane, options.concurrency, async (delivery, signal) => {
        // Its own call may still go on after an outage: its reply must not be bought twice.
        if (held.claims.has(delivery.trialId)) return { kind: "again", afterMs: Math.ceil(times.leaseMs / 3) };
        const run = (): ReturnType<typeof runJudgement> => runJudgement(ports, delivery, signal);
        return gate.hold(async () => toJudgeDelivery(await (options.tracing?.handle(run) ?? run())), signal);
      });
      consumers.set(lane, consumer);
      logger.info({ lane, concurrency: options.concurrency }, "lane open");
    }
    lookedAtMs = performance.now();
  };
  const renew = async (): Promise<void> => {
    if (held.claims.size === 0) return;
    const claims = [...held.claims.values()].map(({ requestId, fence }) => ({ trialId: requestId, fence }));
    await store.renewJudges(claims, times.leaseMs);
    for (const { lane, id } of held.reservations.values()) await limiter.renew(lane, [id]);
  };
  let reclaimFromMs = 0;
  const repair = async (): Promise<void> => {
    try {
      await renew();
      // In an outage all leases end, since nobody can renew them: what the others hold is not lost.
      const redelivered =
        performance.now() < reclaimFromMs
          ? await refillJudgeQueue({ store, queue })
          : await reconcileJudges({ store, queue }, isKnownDead);
      if (redelivered > 0) logger.info({ redelivered }, "judges' queue filled from the ledger");
      isRepaired = true;
      await unblockJudgeLanes(options, (lane, requests) => logger.info({ lane, requests }, "judges' lane resumed"));
    } catch (error) {
      reclaimFromMs = performance.now() + times.leaseMs;
      throw error;
    }
  };

  const loops = [
    repeat(repair, times.reconcileEveryMs, stop.signal, logger, "reconcile judges"),
    repeat(discover, times.discoverEveryMs, stop.signal, logger, "discover judges' lanes"),
    repeat(renew, Math.floor(times.leaseMs / 3), stop.signal, logger, "renew judges' claims", true),
  ];
  const broken = Promise.race(loops);
  broken.catch(() => undefined);
  return {
    lanes: () => [...consumers.keys()],
    inFlight: () => held.claims.size,
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

/** What this worker holds, by request: its claims, and the limiter's reservations of their calls under way. */
export interface HeldJudgements {
  readonly claims: Map<string, JudgeClaim>;
  readonly reservations: Map<string, { readonly lane: string; readonly id: string }>;
}

/** What a worker's judgements run with. */
export function judgePorts(
  options: Pick<JudgeWorkerOptions, "store" | "provider" | "logger" | "limiter" | "metrics" | "tracing">,
  times: WorkerTimes,
  held: HeldJudgements,
  catalog: JudgeCatalog,
): JudgePorts {
  return {
    store: options.store,
    provider: options.tracing?.provider(options.provider) ?? options.provider,
    limiterOf: (lane) => (catalog.isLimited(lane) ? options.limiter : null),
    settingsOf: catalog.settingsOf,
    mayStart: options.store.judgePermitOf,
    now: () => performance.now(),
    fraction: Math.random,
    hex: (digits) =>
      randomBytes(Math.ceil(digits / 2))
        .toString("hex")
        .slice(0, digits),
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    workerId: describeThisProcess(),
    leaseMs: times.leaseMs,
    callTimeoutMs: times.callTimeoutMs,
    archivePatienceMs: times.archivePatienceMs,
    retry: defaultRetryPolicy,
    maxTries,
    patienceMs,
    observe: observer(options, held),
  };
}

/** As the solve worker's: ids and outcomes, no words. */
function observer(
  { logger, metrics, tracing }: Pick<JudgeWorkerOptions, "logger" | "metrics" | "tracing">,
  { claims, reservations }: HeldJudgements,
): JudgeObserver {
  return {
    claimed: (claim) => {
      claims.set(claim.requestId, claim);
      metrics?.begun("judge", claim.requestId);
      tracing?.judgeClaimed(claim);
      logger.debug({ requestId: claim.requestId, lane: claim.lane, fence: claim.fence }, "judgement running");
    },
    reserved: (claim, lane, id) => reservations.set(claim.requestId, { lane, id }),
    released: (claim) => {
      claims.delete(claim.requestId);
      reservations.delete(claim.requestId);
      metrics?.released("judge", claim.requestId);
    },
    called: (claim, call) => metrics?.called("judge", judgeNameOf(claim), call),
    ended: (claim, end) => {
      metrics?.ended("judge", judgeNameOf(claim), end.kind, end.outcome);
      tracing?.ended(end.kind, end.outcome);
      const line = { requestId: claim.requestId, lane: claim.lane, fence: claim.fence, outcome: end.outcome };
      if (end.kind === "failed" || end.kind === "blocked") logger.warn(line, `judgement ${end.kind}`);
      else logger.info(line, end.kind === "done" ? "judgement done" : "judgement waits for a retry");
    },
    late: (claim) => {
      metrics?.late("judge");
      logger.warn({ requestId: claim.requestId, fence: claim.fence }, "late verdict archived");
    },
    trouble: (claim, error) =>
      logger.error({ requestId: claim.requestId, err: error }, "the database refuses verdicts: holding them"),
    parked: (lane, reason, blocked) =>
      logger.error({ lane, outcome: parkedBy(reason), blocked }, "judges' lane parked"),
  };
}

function judgeNameOf({ plan }: JudgeClaim): string {
  return `${plan.judge.provider}/${plan.judge.model}`;
}
