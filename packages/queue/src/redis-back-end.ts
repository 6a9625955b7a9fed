import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";

import { type BackEnd, type BackEndContext, eventStreamOptions, narrowWorker, workerOptions } from "./back-end.ts";
import { QueueError, redactUrl, toQueueError, withinDeadline } from "./errors.ts";
import { redisKeyPrefix } from "./queue-name.ts";
import { throwBackoffMs } from "./settings.ts";

/** Oldest server that BullMQ recommends (6.7.0, redis-connection.ts): BZPOPMIN with fractions, LPOS, GETEX. */
const redisVersionMin = [6, 2] as const;

interface RedisContext extends BackEndContext {
  readonly ledger: string;
}

/**
 * Opens the Redis back end: one connection for all that is short, two more for each consumer.
 *
 * Rejects with `queue-unreachable`, `queue-refused` or `queue-server` (a version below 6.2) within the request timeout.
 */
export async function openRedisBackEnd({ url, ledger, settings, report }: RedisContext): Promise<BackEnd> {
  const client = new Redis(url, {
    ...connectionOptions(settings.requestTimeoutMs),
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

  return {
    url,
    openQueue: (name) => {
      const queue = new Queue<unknown, void>(name, {
        connection: client,
        prefix: redisKeyPrefix(ledger, name),
        streams: eventStreamOptions,
        skipVersionCheck: true,
      });
      queue.on("error", (error) => report(toQueueError(error, url)));
      return queue;
    },
    openWorker: (name, concurrency, process) => {
      const worker = new Worker<unknown, void>(name, (job, token) => process(job, token ?? ""), {
        ...workerOptions(concurrency, settings, (throws) => throwBackoffMs(throws, settings)),
        connection: { url, ...connectionOptions(settings.idlePollMs + 10_000), maxRetriesPerRequest: null },
        prefix: redisKeyPrefix(ledger, name),
      });
      worker.on("error", (error) => report(toQueueError(error, url)));
      return narrowWorker(worker);
    },
    ping: async () => {
      await client.ping();
    },
    close: async () => {
      client.disconnect();
    },
  };
}

function connectionOptions(socketTimeoutMs: number) {
  return {
    connectTimeout: 10_000,
    // A connection that swallows requests (a dead NAT entry, a half-open peer) is dropped and made anew. Must exceed
    // the longest blocking read.
    socketTimeout: socketTimeoutMs,
    keepAlive: 10_000,
    // The library's 20 s ceiling would eat most of the time that a recovery may take.
    retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 10), 2_000) + Math.random() * 200,
    // After a failover the old master is a replica: the name must be resolved again.
    reconnectOnError: (error: Error) => error.message.includes("READONLY"),
  };
}

/**
 * Where the server refuses the URL's database, the client goes on in database 0 and only raises an event; and it goes on
 * when it reconnects. So the number is asked for by name before anything is written.
 */
async function checkDatabase(client: Redis, url: string, timeoutMs: number): Promise<void> {
  const database = client.options.db ?? 0;
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
