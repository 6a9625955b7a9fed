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
  limiterLaneOf,
  reconcileJudges,
  requestJudgements,
  runJudgement,
  toJudgeDelivery,
} from "@hallumaze/judging";
import type { SteeringPort } from "@hallumaze/steering";
import { describeThisProcess, isKnownDead } from "@hallumaze/store";
import { isRehearsalLane } from "@hallumaze/sweep";

import { type JudgeCatalog, openJudgeCatalog } from "./judge-catalog.ts";
import type { Logger } from "./logger.ts";
import { pause, repeat } from "./loops.ts";
import { type SolveWorker, type WorkerTimes, workerTimes } from "./worker.ts";

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
}

/** How often a judge is asked at most where its calls fail. */
const maxTries = 4;
const pingTimeoutMs = 10_000;
/** Longest wait for a limit that is spent in the slot. */
const patienceMs = 10_000;

/**
 * Starts a judge worker: asks each sweep's judge about the trials that are done, and consumes the judges' lanes; renews its
 * claims; compares ledger and queue from time to time. Beside solve workers or alone.
 */
export function startJudgeWorker(options: JudgeWorkerOptions): SolveWorker {
  const { store, queue, limiter, logger, rehearsal } = options;
  const times = options.times ?? workerTimes;
  const held: Held = { claims: new Map(), reservations: new Map() };
  const consumers = new Map<string, Consumer>();
  const stop = new AbortController();
  const catalog = openJudgeCatalog(store, limiter, { rehearsal, now: Date.now });
  const ports = judgePorts(options, times, held, catalog);

  const discover = async (): Promise<void> => {
    await catalog.refresh();
    for (const judging of catalog.judgings()) {
      const added = await requestJudgements({ store, queue }, judging, stop.signal);
      if (added > 0) logger.info({ sweepId: judging.sweepId, lane: judging.lane, added }, "judgements requested");
    }
    await deliverPlanned({ store, queue });
    for (const { lane } of await store.listOpenJudgeLanes(null)) {
      if (consumers.has(lane) || stop.signal.aborted || isRehearsalLane(lane) !== rehearsal) continue;
      const consumer = await queue.consume(lane, options.concurrency, async (delivery, signal) => {
        // Its own call may still go on after an outage: its reply must not be bought twice.
        if (held.claims.has(delivery.trialId)) return { kind: "again", afterMs: Math.ceil(times.leaseMs / 3) };
        return toJudgeDelivery(await runJudgement(ports, delivery, signal));
      });
      consumers.set(lane, consumer);
      logger.info({ lane, concurrency: options.concurrency }, "lane open");
    }
  };
  const renew = async (): Promise<void> => {
    if (held.claims.size === 0) return;
    const claims = [...held.claims.values()].map(({ requestId, fence }) => ({ trialId: requestId, fence }));
    await store.renewJudges(claims, times.leaseMs);
    for (const { lane, id } of held.reservations.values()) await limiter.renew(lane, [id]);
  };
  let isAfterOutage = false;
  const repair = async (): Promise<void> => {
    try {
      await renew();
      if (isAfterOutage) {
        await store.ping(pingTimeoutMs);
        // All leases ended while nobody could renew them: what the others hold is not lost either.
        await pause(times.leaseMs, stop.signal);
        await renew();
        isAfterOutage = false;
        if (stop.signal.aborted) return;
      }
      const redelivered = await reconcileJudges({ store, queue }, isKnownDead);
      if (redelivered > 0) logger.info({ redelivered }, "judges' queue filled from the ledger");
      await resumeLanes(options);
    } catch (error) {
      isAfterOutage = true;
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
interface Held {
  readonly claims: Map<string, JudgeClaim>;
  readonly reservations: Map<string, { readonly lane: string; readonly id: string }>;
}

/** Puts back what a parked lane has blocked once it goes on; a spent budget is put back by whoever raises it. */
async function resumeLanes({ store, queue, limiter }: JudgeWorkerOptions): Promise<void> {
  const lanes = await store.listBlockedJudgeLanes();
  if (lanes.length === 0) return;
  const uses = await limiter.use(lanes.map(limiterLaneOf));
  const parked = new Set(uses.filter((use) => use.parked !== null).map((use) => use.lane));
  for (const lane of lanes.filter((one) => !parked.has(limiterLaneOf(one)))) {
    await enqueueTrials(queue, await store.unblockJudges({ lane }));
  }
}

function judgePorts(options: JudgeWorkerOptions, times: WorkerTimes, held: Held, catalog: JudgeCatalog): JudgePorts {
  return {
    store: options.store,
    provider: options.provider,
    limiterOf: (lane) => (catalog.isLimited(lane) ? options.limiter : null),
    settingsOf: catalog.settingsOf,
    mayStart: options.store.judgePermitOf,
    now: Date.now,
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
    observe: observer(options.logger, held),
  };
}

function observer(logger: Logger, { claims, reservations }: Held): JudgeObserver {
  return {
    claimed: (claim) => claims.set(claim.requestId, claim),
    reserved: (claim, lane, id) => reservations.set(claim.requestId, { lane, id }),
    released: (claim) => {
      claims.delete(claim.requestId);
      reservations.delete(claim.requestId);
    },
    ended: (claim, end) => {
      const line = { requestId: claim.requestId, fence: claim.fence, outcome: end.outcome };
      if (end.kind === "failed") logger.warn({ ...line, message: end.message }, "judgement failed");
      else logger.debug(line, `judgement ${end.kind}`);
    },
    late: (claim) => logger.warn({ requestId: claim.requestId, fence: claim.fence }, "late verdict archived"),
    trouble: (claim, error) =>
      logger.error({ requestId: claim.requestId, err: error }, "the database refuses verdicts: holding them"),
    parked: (lane, reason, blocked) => logger.error({ lane, reason, blocked }, "judges' lane parked"),
  };
}
