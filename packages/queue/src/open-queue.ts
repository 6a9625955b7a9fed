import type { Consumer, Enqueue, QueuePort } from "@hallumaze/engine";
import type { HalluMazeError } from "@hallumaze/foundation";
import { type RedisTarget, strictTls } from "@hallumaze/servers";

import type { BackEnd, LaneQueue } from "./back-end.ts";
import { openBoardLanes, type QueueBoard } from "./board.ts";
import { startConsumer } from "./consumer.ts";
import { createErrorReport } from "./error-report.ts";
import { QueueError, withinDeadline } from "./errors.ts";
import { readLaneDepth } from "./lane-depth.ts";
import { deliveryJobId, deliveryRank, safeDelayMs, writePayload } from "./payload.ts";
import { openPostgresBackEnd } from "./postgres-back-end.ts";
import { checkLedger, solveQueueName } from "./queue-name.ts";
import { openRedisBackEnd } from "./redis-back-end.ts";
import { defaultQueueSettings, type QueueSettings } from "./settings.ts";

/** Which server carries the queue. */
export type QueueTarget = RedisTarget | { readonly databaseUrl: string };

/** How a queue is opened. */
export interface QueueOptions {
  /** Id of the ledger whose trials are delivered. Queues of different ledgers on one Redis never meet. */
  readonly ledger: string;
  /** Told of every error that no caller awaits, each kind at most once in `errorIntervalMs`. */
  readonly onError: (error: HalluMazeError) => void;
  /** Queue of a lane; `solveQueueName` unless told. */
  readonly queueName?: (lane: string) => string;
  /** Times to use instead of the defaults. */
  readonly settings?: Partial<QueueSettings>;
}

/** Jobs a call; BullMQ sends each call as one pipeline (Redis) or statement (Postgres). */
const chunkSize = 1_000;

/** Attempts that no handler uses up: a delivery is never given up by the queue. Fits Postgres' integer. */
const endlessAttempts = 1_000_000_000;

/**
 * Opens the queue of one ledger, on Redis or in that ledger's Postgres.
 *
 * Delivers at least once: twice after a crash or a lost connection, none after the server lost its data. Rejects with
 * `queue-config`, `queue-unreachable`, `queue-refused` or `queue-server`; no message holds a password.
 */
export async function openQueue(target: QueueTarget, options: QueueOptions): Promise<QueuePort & QueueBoard> {
  const settings = { ...defaultQueueSettings, ...options.settings };
  const report = createErrorReport(options.onError, settings.errorIntervalMs);
  const backEnd =
    "redisUrl" in target
      ? await openRedisBackEnd({
          target,
          ledger: checkLedger(options.ledger),
          settings,
          report,
        })
      : await openPostgresBackEnd({
          url: checkDatabaseUrl(target.databaseUrl),
          settings,
          report,
        });
  return createPort(backEnd, options.queueName ?? solveQueueName, settings, report);
}

function createPort(
  backEnd: BackEnd,
  nameQueue: (lane: string) => string,
  settings: QueueSettings,
  report: (error: QueueError) => void,
): QueuePort & QueueBoard {
  const board = openBoardLanes(backEnd);
  const queues = new Map<string, LaneQueue>();
  const consumers = new Set<Consumer>();
  /** Consumers whose workers connect at this moment. */
  const starting = new Set<Promise<unknown>>();
  let closing: Promise<void> | null = null;

  const queueOf = (lane: string): LaneQueue => {
    if (closing !== null) throw new QueueError("queue-closed", "The queue was closed.");
    const name = nameQueue(lane);
    const queue = queues.get(name) ?? backEnd.openQueue(name);
    queues.set(name, queue);
    return queue;
  };

  return {
    enqueue: async (lane, items) => {
      const queue = queueOf(lane);
      // All are checked before the first is sent, and a chunk's jobs are made when their turn comes.
      for (const item of items) toJob(item);
      for (let from = 0; from < items.length; from += chunkSize) {
        const jobs = items.slice(from, from + chunkSize).map(toJob);
        await withinDeadline(queue.addBulk(jobs), settings.requestTimeoutMs, backEnd.url);
      }
    },
    consume: async (lane, concurrency, handle) => {
      if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
        throw new QueueError("queue-input", `The concurrency must be a whole number from 1; got ${concurrency}.`);
      }
      const queue = queueOf(lane);
      const queueName = nameQueue(lane);
      const start = startConsumer({ backEnd, queueName, queue, concurrency, handle, settings, report });
      starting.add(start);
      const inner = await start.finally(() => starting.delete(start));
      if (closing !== null) {
        // A worker that came up while the queue closed would outlive its connections.
        await inner.close(0);
        throw new QueueError("queue-closed", "The queue was closed.");
      }
      const consumer: Consumer = {
        standsStillForMs: inner.standsStillForMs,
        close: async (deadlineMs) => {
          await inner.close(deadlineMs);
          consumers.delete(consumer);
        },
      };
      consumers.add(consumer);
      return consumer;
    },
    depth: async (lane) => withinDeadline(readLaneDepth(queueOf(lane)), settings.requestTimeoutMs, backEnd.url),
    boardOf: async (lane) => {
      if (closing !== null) throw new QueueError("queue-closed", "The queue was closed.");
      return board.lane(nameQueue(lane));
    },
    ping: async (timeoutMs) => {
      if (closing !== null) throw new QueueError("queue-closed", "The queue was closed.");
      await withinDeadline(backEnd.ping(), timeoutMs, backEnd.url);
    },
    close: () => {
      closing ??= closePort(backEnd, { consumers, starting, queues: [board, ...queues.values()] }, settings);
      return closing;
    },
  };
}

function toJob(item: Enqueue): Parameters<LaneQueue["addBulk"]>[0][number] {
  return {
    name: "deliver",
    data: writePayload(item),
    opts: {
      jobId: deliveryJobId(item),
      delay: safeDelayMs(item.delayMs),
      priority: deliveryRank(item),
      attempts: endlessAttempts,
      backoff: { type: "throw" },
      // What was handled leaves the queue: the ledger is the truth, and the same id may come again.
      removeOnComplete: true,
      removeOnFail: true,
      // With endless attempts the kept stack traces would grow without end.
      stackTraceLimit: 0,
    },
  };
}

async function closePort(
  backEnd: BackEnd,
  open: {
    readonly consumers: ReadonlySet<Consumer>;
    readonly starting: ReadonlySet<Promise<unknown>>;
    readonly queues: readonly Pick<LaneQueue, "close">[];
  },
  settings: QueueSettings,
): Promise<void> {
  await Promise.allSettled(open.starting);
  await Promise.all([...open.consumers].map((consumer) => consumer.close(0)));
  // A server that is away must not hold up the end of the process.
  const close = async (): Promise<void> => {
    await Promise.all(open.queues.map((queue) => queue.close()));
    await backEnd.close();
  };
  await withinDeadline(close(), settings.closeGraceMs, backEnd.url).catch(() => undefined);
}

function checkDatabaseUrl(url: string): string {
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) return strictTls(url);
  throw new QueueError(
    "queue-config",
    "The queue needs a postgres:// URL; the value given is not one. Check DATABASE_URL.",
  );
}
