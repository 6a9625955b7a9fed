import {
  createPostgresBackend,
  type PostgresConnectionOptions,
  type Queue,
  type QueueOptions,
  runMigrations,
  withBackend,
} from "bullmq";
import pg from "pg";

import {
  type BackEnd,
  type BackEndContext,
  eventStreamOptions,
  lookOnly,
  narrowWorker,
  workerOptions,
} from "./back-end.ts";
import { toQueueError, withinDeadline } from "./errors.ts";
import { createListenHub } from "./listen-hub.ts";
import { notAtOnce } from "./not-at-once.ts";
import { throwBackoffMs } from "./settings.ts";

const { Queue: PostgresQueue, Worker: PostgresWorker } = withBackend(createPostgresBackend);

/** BullMQ's view of a pool; it exports only the union that it is part of. */
type PgPool = Exclude<PostgresConnectionOptions, string | { readonly schema?: string | undefined }>;

/** Connections for short queries, shared by all lanes of a process; one more listens. */
const queryConnections = 3;

/**
 * Opens the Postgres back end in schema `bullmq` of the database; makes or updates that schema first.
 *
 * BullMQ's migrations run in one transaction under an advisory lock, so several processes may open at once. Times are
 * the clients': for one host, or hosts in step.
 */
export async function openPostgresBackEnd({ url, settings, report }: BackEndContext): Promise<BackEnd> {
  const config = poolConfig(url, settings.requestTimeoutMs);
  const pool = new pg.Pool({ ...config, max: queryConnections });
  pool.on("error", (error) => report(toQueueError(error, url)));
  try {
    // Another process may be at the same migration and hold its lock.
    await withinDeadline(migrate(pool), settings.requestTimeoutMs + 20_000, url);
  } catch (error) {
    void pool.end().catch(() => undefined);
    throw error;
  }
  const hub = createListenHub(() => new pg.Client(config));
  const connection = sharedPool(pool, hub.connect);

  const openQueue = (name: string, options: Partial<QueueOptions> = {}) => {
    const queue = new PostgresQueue<unknown, void>(name, { ...options, connection, streams: eventStreamOptions });
    queue.on("error", (error) => report(toQueueError(error, url)));
    return queue;
  };

  return {
    url,
    openQueue,
    // The board serves both back ends, and its types name Redis' alone.
    openBoardQueue: (name) => openQueue(name, lookOnly) as unknown as Queue,
    openWorker: (name, concurrency, process) => {
      const worker = new PostgresWorker<unknown, void>(name, (job, token) => process(job, token ?? ""), {
        ...workerOptions(concurrency, settings, (throws) => throwBackoffMs(throws, settings)),
        connection,
      });
      worker.on("error", (error) => report(toQueueError(error, url)));
      return narrowWorker(worker);
    },
    // Here BullMQ goes by the clients' clocks.
    nowMs: async () => Date.now(),
    ping: async () => {
      await pool.query("SELECT 1");
    },
    close: async () => {
      await hub.close();
      await pool.end();
    },
  };
}

async function migrate(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    // Deliveries may be lost with a crash, the functions that make them may not: nothing would make them again.
    await client.query("SET synchronous_commit = on");
    await runMigrations(client);
    await client.query("RESET synchronous_commit");
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/**
 * A pool as BullMQ sees it. Queries go to the pool; what it "connects" for is LISTEN, and that is one connection for
 * all lanes. Each queue and worker with a pool of its own would take up to 10 (its default).
 */
function sharedPool(pool: pg.Pool, connect: PgPool["connect"]): PgPool {
  const shared: PgPool = {
    query: ((text: string, params?: readonly unknown[]) =>
      notAtOnce(pool.query(text, params === undefined ? [] : [...params]))) as PgPool["query"],
    connect: () => notAtOnce(connect()),
    // Ours to close, and its errors are reported once, not once a lane.
    end: async () => undefined,
    on: () => shared,
    removeAllListeners: () => shared,
  };
  return shared;
}

/** Our own session settings, before those that the URL brings along. */
function poolConfig(url: string, requestTimeoutMs: number): pg.ClientConfig {
  const address = new URL(url);
  // pg lets the URL's options replace ours as a whole, so both go into one string.
  const theirs = address.searchParams.get("options") ?? "";
  address.searchParams.delete("options");
  return {
    connectionString: address.href,
    // Losing the last instants of a queue in a crash costs nothing: the ledger, committed with care, refills it.
    // Measured: 997 deliveries a second with the commit awaited, 1,397 without.
    options: `${theirs} -c synchronous_commit=off -c search_path=bullmq`.trim(),
    application_name: "hallumaze-queue",
    connectionTimeoutMillis: requestTimeoutMs,
    // A server that swallows requests: the query fails and its connection is thrown away.
    query_timeout: requestTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}
