import { setTimeout as wait } from "node:timers/promises";

import { strictTls } from "@hallumaze/servers";
import type { PoolUse } from "@hallumaze/watching";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";

import { parseDatabaseUrl, StoreError, toStoreError } from "./errors.ts";
import { Prisma, PrismaClient } from "./generated/client.ts";

/** One process' access to the database: one pool, one client, whatever the concurrency above it. */
export interface Database {
  readonly prisma: PrismaClient;
  /** Runs one statement; repeats it where Postgres chose it as a deadlock's victim. Throws StoreError only. */
  readonly query: <Row>(statement: Prisma.Sql) => Promise<readonly Row[]>;
  /** Runs work on the typed client with the same translation of errors. */
  readonly run: <T>(work: (prisma: PrismaClient) => Promise<T>) => Promise<T>;
  readonly poolUse: () => PoolUse;
  readonly close: () => Promise<void>;
}

const connectTimeoutMs = 10_000;
/** No statement of this program takes nearly so long; a server that hangs must not hold a worker for ever. */
const statementTimeoutMs = 120_000;
const deadlockTries = 5;

/**
 * Opens the pool; connects at the first statement. `poolSize` is at least 1. Every call is one statement, and none is
 * prepared by name, so a pooler in transaction mode may stand before the server: with `isPooled` no setting is sent at the
 * start of a connection either, which such a pooler refuses.
 */
export function openDatabase(databaseUrl: string, poolSize: number, { isPooled = false } = {}): Database {
  parseDatabaseUrl(databaseUrl);
  const pool = new pg.Pool({
    connectionString: strictTls(databaseUrl),
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(isPooled ? {} : { statement_timeout: statementTimeoutMs }),
    query_timeout: statementTimeoutMs + 5000,
    keepAlive: true,
    application_name: "hallumaze",
  });
  pool.on("error", () => {
    // An idle connection was cut: the pool drops it and opens another when asked. Unheard, the event ends the process.
  });
  // Its cache of query plans is keyed by the whole statement with its parameters: here, up to 100 batches of megabytes.
  const prisma = new PrismaClient({ adapter: createAdapter(pool), errorFormat: "minimal", queryPlanCacheMaxSize: 0 });

  const run: Database["run"] = async (work) => {
    try {
      return await work(prisma);
    } catch (error) {
      throw toStoreError(error, databaseUrl);
    }
  };

  const query: Database["query"] = async <Row>(statement: Prisma.Sql) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await run((client) => client.$queryRaw<Row[]>(statement));
      } catch (error) {
        if (attempt === deadlockTries || !isDeadlock(error)) throw error;
        await wait(10 * attempt + Math.random() * 40);
      }
    }
  };

  return {
    prisma,
    run,
    query,
    poolUse: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: async () => {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/**
 * Prisma's debug module keeps the last 100 statements with their parameters, switched on or not: here that would be
 * megabytes each. It gets a copy whose parameters are dropped after use.
 */
function createAdapter(pool: pg.Pool): PrismaPg {
  const factory = new PrismaPg(pool);
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      const copy = { ...query };
      try {
        return await queryRaw(copy);
      } finally {
        copy.args = [];
      }
    };
    return adapter;
  };
  return factory;
}

/** Passes rows to a statement as one JSON parameter, for `json_to_recordset`. */
export function jsonRows(rows: readonly object[]): Prisma.Sql {
  return Prisma.sql`${JSON.stringify(rows)}::json`;
}

/** True for the text of a UUID. An id of any other form names no row; sent on, it would be an error of the statement. */
export function isUuid(id: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
}

function isDeadlock(error: unknown): boolean {
  return (
    error instanceof StoreError && (error.context["sqlState"] === "40P01" || error.context["sqlState"] === "40001")
  );
}
