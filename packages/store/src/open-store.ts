import { accessSync, constants } from "node:fs";

import type { BatchStorePort } from "@hallumaze/batching";
import type { DetectorStorePort } from "@hallumaze/detectors";
import type { StorePort } from "@hallumaze/engine";
import type { ImportStorePort } from "@hallumaze/imports";
import type { JudgeStorePort } from "@hallumaze/judging";
import type { SteeringPort } from "@hallumaze/steering";
import type { AlertPort, FiguresPort } from "@hallumaze/watching";
import { z } from "zod";

import { createBatchMethods } from "./batches.ts";
import { createClaimMethods } from "./claims.ts";
import { type Database, openDatabase } from "./database.ts";
import { createEndMethods } from "./endings.ts";
import { describeDatabase, StoreError } from "./errors.ts";
import { createExchangeMethods } from "./exchanges.ts";
import { Prisma } from "./generated/client.ts";
import { createImportMethods } from "./imports.ts";
import { createJudgeRequestMethods } from "./judge-requests.ts";
import { createJudgementMethods, createJudgeResultMethods } from "./judgements.ts";
import { breakingMigration, checkSchema, migrateDatabase, readMigrations } from "./migrate.ts";
import { createMoneyMethods } from "./money.ts";
import { createOpenTrialMethods } from "./open-trials.ts";
import { createAlertMethods, createProgressMethods, readFigures } from "./progress.ts";
import { createSourceMethods, createStreamMethods } from "./stream-trials.ts";
import { createAggregateMethods } from "./sweep-aggregates.ts";
import { createSweepMethods } from "./sweeps.ts";

/** How to open the ledger. */
export interface OpenStoreOptions {
  /** The Postgres, or a pooler in transaction mode before it. */
  readonly databaseUrl: string;
  /** The Postgres itself where `databaseUrl` is a pooler; absent where it is none. */
  readonly directUrl?: string | undefined;
  /** Connections of this process, 1 or more; concurrent calls share them. 10 unless told. */
  readonly poolSize?: number;
  /** False: only check that the schema is the program's, and change nothing. True unless told. */
  readonly migrate?: boolean;
}

/** The ledger: the ports of the engine, the judges, the operators and the imports, and the database's identity. */
export interface Ledger
  extends StorePort,
    JudgeStorePort,
    BatchStorePort,
    SteeringPort,
    ImportStorePort,
    FiguresPort,
    AlertPort,
    DetectorStorePort {
  /** The same for every process on this database, another in every other one; letters, digits and dashes. */
  readonly ledgerId: string;
  /**
   * Throws `schema-newer` where a newer program applied a migration, while this one ran, that it cannot work with. Such a
   * migration says so in a comment on the table of migrations; all others only add, and this program goes on.
   */
  readonly checkCompatible: () => Promise<void>;
}

/**
 * Opens the ledger in a Postgres and brings its schema to the program's. Concurrent claims, exchanges, ends and releases
 * are gathered into statements of many rows; each call still has its own answer.
 *
 * Throws a StoreError: `database-unreachable` within 10 s where no server answers, or what `migrateDatabase` throws.
 */
export async function openStore(options: OpenStoreOptions): Promise<Ledger> {
  const { databaseUrl, directUrl } = options;
  if (options.migrate ?? true) await migrateDatabase(directUrl ?? databaseUrl);
  else await checkSchema(directUrl ?? databaseUrl);
  const database = openDatabase(databaseUrl, options.poolSize ?? 10, { isPooled: directUrl !== undefined });
  const { drain: drainClaims, ...claims } = createClaimMethods(database);
  const { drain: drainExchanges, ...exchanges } = createExchangeMethods(database);
  const { drain: drainBatches, ...batches } = createBatchMethods(database);
  const { drain: drainEnds, ...ends } = createEndMethods(database);
  let closing: Promise<void> | null = null;

  const close = async (): Promise<void> => {
    await Promise.all([drainClaims(), drainExchanges(), drainBatches(), drainEnds()]);
    await database.close();
  };
  return {
    ledgerId: await readLedgerId(database),
    ...createSweepMethods(database),
    ...createOpenTrialMethods(database),
    ...claims,
    ...exchanges,
    ...ends,
    ...batches,
    ...createMoneyMethods(database),
    ...createJudgeResultMethods(database),
    ...createJudgeRequestMethods(database),
    ...createJudgementMethods(database),
    ...createSourceMethods(database),
    ...createImportMethods(database),
    ...createProgressMethods(database),
    ...createAggregateMethods(database),
    ...createStreamMethods(database),
    ...createAlertMethods(database),
    figures: (sweepLimit) => readFigures(database, sweepLimit),
    poolUse: database.poolUse,
    checkCompatible: () => checkCompatible(database, databaseUrl),
    ping: (timeoutMs) =>
      withinMs(
        timeoutMs,
        database.run((prisma) => prisma.$queryRaw`SELECT 1`),
        describeDatabase(databaseUrl),
      ),
    recount: async () => void (await database.query(Prisma.sql`SELECT hallumaze_recount()::text`)),
    serverTimeMs: async () => {
      const [row] = await database.query<{ readonly nowMs: number }>(
        Prisma.sql`SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`,
      );
      if (row === undefined) throw new StoreError("database-refused", "The database gave no time.");
      return row.nowMs;
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** The record of the first migration got a random id when the database was made, and is never changed or removed. */
async function readLedgerId(database: Database): Promise<string> {
  try {
    const [row] = await database.query<{ readonly id: string }>(
      Prisma.sql`SELECT id FROM _prisma_migrations ORDER BY started_at, id LIMIT 1`,
    );
    if (row === undefined) throw new StoreError("schema-older", "The database has no record of its migrations.");
    return row.id;
  } catch (error) {
    await database.close().catch(() => undefined);
    throw error;
  }
}

async function checkCompatible(database: Database, databaseUrl: string): Promise<void> {
  const [row] = await database.query<{ readonly note: string | null }>(
    Prisma.sql`SELECT obj_description(to_regclass('_prisma_migrations'), 'pg_class') AS note`,
  );
  const name = breakingMigration(row?.note ?? null);
  if (name === null || readMigrations().some((migration) => migration.name === name)) return;
  throw new StoreError(
    "schema-newer",
    `A newer version changed the database at ${describeDatabase(databaseUrl)} (migration ${name}) in a way that this program cannot work with. It takes no more work and gives back what it has; update it.`,
  );
}

async function withinMs(timeoutMs: number, work: Promise<unknown>, where: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new StoreError("database-unreachable", `The database at ${where} did not answer within ${timeoutMs} ms.`, {
            retry: true,
          }),
        ),
      timeoutMs,
    );
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // Lost the race: whatever it says later is nobody's.
    work.catch(() => undefined);
  }
}

/** The environment variables of this package, for the apps' one parse of the environment. */
export const storeEnv = {
  /** Connection URL of a Postgres, or of a pooler before it; without it an embedded one is started. */
  DATABASE_URL: databaseUrl().optional(),
  /**
   * The Postgres itself where `DATABASE_URL` is a pooler in transaction mode: for what needs a session of its own (the
   * queue and the limits in Postgres, which listen and keep settings) and for migrations.
   */
  DATABASE_DIRECT_URL: databaseUrl().optional(),
  /** Folder of the embedded server's data; `.hallumaze` in the working folder unless set. */
  HALLUMAZE_HOME: z
    .string()
    .min(1, "must name a folder")
    .regex(/^\P{Cc}*$/u, "must not hold control characters, such as a line break")
    .default(".hallumaze"),
  /** Connections of one process to the database. */
  HALLUMAZE_DATABASE_POOL: z
    .string()
    .regex(/^(?:[1-9]\d?|100)$/, "must be a whole number from 1 to 100")
    .transform(Number)
    .default(10),
} as const;

function databaseUrl() {
  return z
    .string()
    .regex(/^postgres(ql)?:\/\/[^\s]+$/, {
      error: "must be a URL of the form postgres://user:password@host:port/database",
      abort: true,
    })
    .refine(
      isEscaped,
      "is no URL: escape special characters in the password (%23 for #, %2F for /, %3F for ?, %25 for %, %40 for @)",
    )
    .refine(canReadCertificates, "names a file in sslrootcert, sslcert or sslkey that cannot be read");
}

/** The driver reads these files when it connects, and tells of one that is not there as of a server that is not. */
function canReadCertificates(databaseUrl: string): boolean {
  if (!URL.canParse(databaseUrl)) return true;
  const { searchParams } = new URL(databaseUrl);
  return ["sslrootcert", "sslcert", "sslkey"].every((name) => {
    const file = searchParams.get(name);
    if (file === null) return true;
    try {
      accessSync(file, constants.R_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A bare # / ? or % of a password ends the host too early, and what follows is read as path, query or fragment. */
function isEscaped(databaseUrl: string): boolean {
  if (!URL.canParse(databaseUrl)) return false;
  const { username, password, pathname, search, hash } = new URL(databaseUrl);
  if (hash !== "" || pathname.includes("@") || (username === "" && search.includes("@"))) return false;
  try {
    [username, password, pathname].forEach(decodeURIComponent);
    return true;
  } catch {
    return false;
  }
}
