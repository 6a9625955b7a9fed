import { connectRedis, parseRedisUrl, type RedisClient, type RedisTarget, redactUrl } from "@hallumaze/servers";
import { type QueueOptions, withBackend } from "bullmq";

import {
  type BackEnd,
  type BackEndContext,
  eventStreamOptions,
  lookOnly,
  narrowWorker,
  workerOptions,
} from "./back-end.ts";
import { QueueError, toQueueError, withinDeadline } from "./errors.ts";
import { redisKeyPrefix } from "./queue-name.ts";
import { createServerTimeBackend, keepServerTime, serverTimeMs } from "./server-clock.ts";
import { throwBackoffMs } from "./settings.ts";

const { Queue, Worker } = withBackend(createServerTimeBackend);

/** Oldest server that BullMQ recommends (6.7.0, redis-connection.ts): BZPOPMIN with fractions, LPOS, GETEX. */
const redisVersionMin = [6, 2] as const;

interface RedisContext extends Omit<BackEndContext, "url"> {
  readonly target: RedisTarget;
  readonly ledger: string;
}

/**
 * Opens the Redis back end: one connection for all that is short, two more for each consumer.
 *
 * Rejects with `queue-unreachable`, `queue-refused` or `queue-server` (a version below 6.2) within the request timeout.
 */
export async function openRedisBackEnd({ target, ledger, settings, report }: RedisContext): Promise<BackEnd> {
  const url = target.redisUrl;
  const client = open(target, {
    ...socketTimes(settings.requestTimeoutMs),
    // Short outages are waited for, up to about the request timeout; then callers hear of it. Never null here: a
    // producer must fail in the end, and the reconciler repeats what it had to say.
    maxRetriesPerRequest: 8,
  });
  let lastError: unknown;
  client.on("error", (error: unknown) => {
    lastError = error;
    report(toQueueError(error, url));
  });
  try {
    await checkDatabase(client, url, settings.requestTimeoutMs);
    checkServer(await withinDeadline(client.info(), settings.requestTimeoutMs, url), url, report);
  } catch (error) {
    client.disconnect();
    // "No answer within 10 s" hides the cause where a refused connection was retried meanwhile.
    throw lastError !== undefined && toQueueError(error, url).code === "queue-unreachable"
      ? toQueueError(lastError, url)
      : error;
  }

  const openQueue = (name: string, options: Partial<QueueOptions> = {}) => {
    const queue = new Queue<unknown, void>(name, {
      ...options,
      connection: client,
      prefix: redisKeyPrefix(ledger, name),
      streams: eventStreamOptions,
      skipVersionCheck: true,
    });
    queue.on("error", (error) => report(toQueueError(error, url)));
    return queue;
  };
  return {
    url,
    openQueue,
    openBoardQueue: (name) => openQueue(name, lookOnly),
    openWorker: (name, concurrency, process) => {
      // Its own, so that a worker that is given up can be cut off without the others.
      const own = open(target, { ...socketTimes(settings.idlePollMs + 10_000), maxRetriesPerRequest: null });
      // BullMQ tells the same through the worker, as long as there is one.
      own.on("error", () => undefined);
      const worker = new Worker<unknown, void>(name, (job, token) => process(job, token ?? ""), {
        ...workerOptions(concurrency, settings, (throws) => throwBackoffMs(throws, settings)),
        connection: own,
        prefix: redisKeyPrefix(ledger, name),
      });
      worker.on("error", (error) => report(toQueueError(error, url)));
      return narrowWorker(worker, () => own.disconnect());
    },
    nowMs: () => serverTimeMs(client),
    ping: async () => {
      await client.ping();
    },
    close: async () => {
      client.disconnect();
    },
  };
}

/** A client whose queues keep the server's time. A URL or CA file that cannot be used is a `queue-config`. */
function open(target: RedisTarget, options: Parameters<typeof connectRedis>[1]): RedisClient {
  try {
    return keepServerTime(connectRedis(target, options));
  } catch (error) {
    throw new QueueError("queue-config", error instanceof Error ? error.message : "REDIS_URL cannot be used.");
  }
}

function socketTimes(socketTimeoutMs: number) {
  return {
    connectTimeout: 10_000,
    // A connection that swallows requests (a dead NAT entry, a half-open peer) is dropped and made anew. Must exceed
    // the longest blocking read.
    socketTimeout: socketTimeoutMs,
  };
}

/**
 * Where the server refuses the URL's database, the client goes on in database 0 and only raises an event; and it goes on
 * when it reconnects. So the number is asked for by name before anything is written.
 */
async function checkDatabase(client: RedisClient, url: string, timeoutMs: number): Promise<void> {
  const parsed = parseRedisUrl(url);
  const database = parsed.kind === "found" ? parsed.address.database : 0;
  if (database === 0) return;
  try {
    await withinDeadline(client.select(database), timeoutMs, url);
  } catch (error) {
    const { code, message } = toQueueError(error, url);
    if (code === "queue-unreachable" || !/DB index|out of range|not allowed in cluster/i.test(message)) throw error;
    throw new QueueError(
      "queue-config",
      `The Redis at ${redactUrl(url)} has no database ${database}. Put a number that it has at the end of REDIS_URL, or none.`,
    );
  }
}

function checkServer(info: string, url: string, report: (error: QueueError) => void): void {
  const version = /^redis_version:(\d+)\.(\d+)/m.exec(info);
  const [major, minor] = [Number(version?.[1] ?? 0), Number(version?.[2] ?? 0)];
  if (
    version !== null &&
    (major < redisVersionMin[0] || (major === redisVersionMin[0] && minor < redisVersionMin[1]))
  ) {
    throw new QueueError(
      "queue-server",
      `The Redis at ${redactUrl(url)} is ${major}.${minor}; 6.2 or newer is needed.`,
    );
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy !== undefined && policy !== "noeviction") {
    report(
      new QueueError(
        "queue-server",
        `The Redis at ${redactUrl(url)} evicts keys (maxmemory-policy ${policy}) and may drop queued work; set noeviction.`,
      ),
    );
  }
}
