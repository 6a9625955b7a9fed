import { resolve } from "node:path";

import { openBatchVendors } from "@hallumaze/batch-providers";
import type { BatchStorePort, BatchVendorPort } from "@hallumaze/batching";
import type { DetectorStorePort } from "@hallumaze/detectors";
import type { LimiterPort, QueuePort, StorePort } from "@hallumaze/engine";
import type { ImportStorePort } from "@hallumaze/imports";
import type { JudgeStorePort } from "@hallumaze/judging";
import { openLimiter } from "@hallumaze/limiter";
import { openProviders, type Providers } from "@hallumaze/providers";
import { openQueue, type QueueBoard } from "@hallumaze/queue";
import { redactUrl } from "@hallumaze/servers";
import type { SteeringPort } from "@hallumaze/steering";
import { openEmbeddedPostgres, openStore } from "@hallumaze/store";
import type { AlertPort, FiguresPort } from "@hallumaze/watching";

import type { Environment } from "./environment.ts";
import { RuntimeError } from "./errors.ts";
import type { Logger } from "./logger.ts";
import { openPatiently } from "./open-patiently.ts";

/** Everything that a command works with, opened by the environment. Closing ends what it started. */
export interface House extends AsyncDisposable {
  readonly store: StorePort &
    JudgeStorePort &
    BatchStorePort &
    SteeringPort &
    FiguresPort &
    AlertPort &
    ImportStorePort &
    DetectorStorePort;
  readonly queue: QueuePort;
  /** A lane's queue, for the board. */
  readonly boardOf: QueueBoard["boardOf"];
  readonly limiter: LimiterPort;
  readonly provider: Providers;
  /** The vendors' batch interfaces, over the connections of `provider`. */
  readonly batches: BatchVendorPort;
  /** The judges' own client: no connection is shared with what is judged. */
  readonly judgeProvider: Providers;
  /** In plain words: where the data lives and what delivers, without passwords. */
  readonly databaseName: string;
  readonly queueName: string;
  readonly databaseUrl: string;
  /** Rejects with `schema-newer` where a newer program changed the schema in a way that this one cannot work with. */
  readonly checkCompatible: () => Promise<void>;
}

/**
 * A delivery that a killed process had fetched and not yet claimed comes again after lock and two looks at most. Short,
 * because the ledger's lease and not this lock keeps a trial from running twice: a delivery that comes too early is
 * put off by the claim.
 */
const deliveryTimes = { lockMs: 10_000, stalledCheckMs: 3_000 } as const;

/**
 * Opens database, queue and providers. `DATABASE_URL` names the database, else an embedded PostgreSQL in
 * `HALLUMAZE_HOME` (default `.hallumaze` of the working folder) is started or joined; `REDIS_URL` names the queue's
 * Redis, else the queue lives in the same database.
 *
 * Keys and servers of the providers come from `variables`; they stay in memory.
 *
 * A server that does not answer yet is waited for, 20 s each, and named at once. Rejects then with a message that says
 * what is out of reach.
 */
export async function openHouse(
  environment: Environment,
  logger: Logger,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<House> {
  const deadlines = { totalMs: environment.HALLUMAZE_CALL_TIMEOUT_SECONDS * 1000 };
  const opened: { close(): Promise<void> }[] = [];
  const closeAll = async (): Promise<void> => {
    for (const part of opened.splice(0).reverse()) await part.close();
  };
  try {
    if (environment.DATABASE_DIRECT_URL && !environment.DATABASE_URL) {
      throw new RuntimeError("environment-invalid", "DATABASE_DIRECT_URL stands beside DATABASE_URL, not alone.");
    }
    const database = await openLedgerDatabase(environment);
    opened.push(database);
    const storeOptions = {
      databaseUrl: database.url,
      directUrl: environment.DATABASE_DIRECT_URL,
      poolSize: environment.HALLUMAZE_DATABASE_POOL,
    };
    const store = await openPatiently(() => openStore(storeOptions), logger);
    opened.push(store);
    const redisUrl = environment.REDIS_URL;
    // In Postgres they listen and keep settings of their sessions, which a pooler would hand to others.
    const shared = redisUrl
      ? { redisUrl, redisCaFile: environment.REDIS_CA_FILE }
      : { databaseUrl: environment.DATABASE_DIRECT_URL ?? database.url };
    const queueOptions = {
      ledger: store.ledgerId,
      onError: (error: unknown) => logger.warn({ err: error }, "queue trouble"),
      settings: deliveryTimes,
    };
    const limiterOptions = { onError: (error: unknown) => logger.warn({ err: error }, "limiter trouble") };
    const keep = async <Part extends { close(): Promise<void> }>(opening: Promise<Part>): Promise<Part> => {
      const part = await opening;
      opened.push(part);
      return part;
    };
    // Side by side; where one fails, the other is there to be closed.
    const queueOpening = keep(openPatiently(() => openQueue(shared, queueOptions), logger));
    const limiterOpening = keep(openPatiently(() => openLimiter(shared, limiterOptions), logger));
    const skewTold = redisUrl ? Promise.resolve() : tellSkew(store, logger);
    await Promise.allSettled([queueOpening, limiterOpening, skewTold]);
    const [queue, limiter] = await Promise.all([queueOpening, limiterOpening, skewTold]);
    const provider = openProviders({ variables, deadlines });
    opened.push(provider);
    const judgeProvider = openProviders({ variables, deadlines });
    opened.push(judgeProvider);
    return {
      store,
      queue,
      boardOf: queue.boardOf,
      limiter,
      provider,
      batches: openBatchVendors(provider),
      judgeProvider,
      databaseName: database.name,
      queueName: redisUrl ? `Redis at ${redactUrl(redisUrl)}` : "the same database",
      databaseUrl: database.url,
      checkCompatible: store.checkCompatible,
      [Symbol.asyncDispose]: closeAll,
    };
  } catch (error) {
    await closeAll().catch(() => undefined);
    throw error;
  }
}

/** In PostgreSQL the queue's waits go by the clients' clocks: one that is off puts trials off, or brings them early. */
async function tellSkew(store: Pick<StorePort, "serverTimeMs">, logger: Logger): Promise<void> {
  const skewMs = Math.round(Date.now() - (await store.serverTimeMs()));
  if (Math.abs(skewMs) > skewNoteMs)
    logger.warn(
      { skewMs },
      "this host's clock is off the database's: put it right, or set REDIS_URL, whose clock decides",
    );
}

const skewNoteMs = 5000;

/** Where the ledger lives, as `openHouse` finds it; starts or joins the embedded server. Nothing in it is touched. */
export async function openLedgerDatabase(
  environment: Environment,
): Promise<{ readonly url: string; readonly name: string; readonly close: () => Promise<void> }> {
  const url = environment.DATABASE_URL;
  if (url) return { url, name: `PostgreSQL at ${redactUrl(url)}`, close: async () => undefined };
  const embedded = await openEmbeddedPostgres({ home: resolve(environment.HALLUMAZE_HOME) });
  return { url: embedded.url, name: `embedded PostgreSQL in ${embedded.dataFolder}`, close: embedded.close };
}
