import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { strictTls } from "@hallumaze/servers";
import pg from "pg";

import { describeDatabase, StoreError, toStoreError } from "./errors.ts";

/** One committed migration. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** The lock that `prisma migrate` takes too, so that the two never work at once. SOURCE: Prisma's schema engine. */
export const migrationLock = 72_707_369;
const defaultFolder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../prisma/migrations");

/** Reads the committed migrations, oldest first; `folder` is prisma/migrations unless told. */
export function readMigrations(folder: string = defaultFolder): readonly Migration[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => ({ name, sql: readFileSync(path.join(folder, name, "migration.sql"), "utf8") }));
}

/**
 * Brings the database to the program's schema; gives the names of the migrations that this call applied. Safe to repeat
 * and to call from many processes at once. Each migration is one transaction with its record in `_prisma_migrations`,
 * where `prisma migrate deploy` finds it. Schemas other than the connection's own (BullMQ's) are not touched.
 *
 * Throws `schema-newer` where the database knows migrations that the program does not, `migration-edited` where an
 * applied one has changed since, `migration-failed` where one fails (nothing of it stays) or has failed elsewhere.
 */
export async function migrateDatabase(
  databaseUrl: string,
  migrations: readonly Migration[] = readMigrations(),
): Promise<readonly string[]> {
  const client = new pg.Client({
    connectionString: strictTls(databaseUrl),
    connectionTimeoutMillis: 10_000,
    application_name: "hallumaze-migrate",
  });
  client.on("error", () => {
    // A connection lost in mid-query rejects that query; the event tells nothing more.
  });
  try {
    await client.connect();
    // A role that may only read, or a replica, gets by where there is nothing to do.
    if (await isUpToDate(client, databaseUrl, migrations)) return [];
    const applied: string[] = [];
    for (;;) {
      const migration = await applyNext(client, databaseUrl, migrations);
      if (migration === null) return applied;
      applied.push(migration.name);
    }
  } catch (error) {
    throw toStoreError(error, databaseUrl);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Throws what `migrateDatabase` would, and `schema-older` where it would have work to do; changes nothing. */
export async function checkSchema(
  databaseUrl: string,
  migrations: readonly Migration[] = readMigrations(),
): Promise<void> {
  const client = new pg.Client({ connectionString: strictTls(databaseUrl), connectionTimeoutMillis: 10_000 });
  client.on("error", () => {
    // As above.
  });
  try {
    await client.connect();
    const pending = await findPending(client, databaseUrl, migrations);
    if (pending.length === 0) return;
    throw new StoreError(
      "schema-older",
      `The database at ${describeDatabase(databaseUrl)} lacks ${pending.length} migrations (next: ${pending[0]?.name}). Run hallumaze once with the right to change the schema, or prisma migrate deploy.`,
    );
  } catch (error) {
    throw toStoreError(error, databaseUrl);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * The migration that programs must know to work with the database, as the comment on `_prisma_migrations` says; null where
 * it says nothing. A migration that a running program cannot bear ends with
 * `COMMENT ON TABLE _prisma_migrations IS 'breaking <its own name>';`.
 */
export function breakingMigration(comment: string | null): string | null {
  return /^breaking (\S+)$/.exec(comment ?? "")?.[1] ?? null;
}

/** The table of applied migrations, as Prisma makes it. */
export const recordTable = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

interface MigrationRecord {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished: boolean;
}

/** Looks without the lock: what another process has under way is settled under it. */
async function isUpToDate(client: pg.Client, databaseUrl: string, migrations: readonly Migration[]): Promise<boolean> {
  try {
    return (await findPending(client, databaseUrl, migrations)).length === 0;
  } catch (error) {
    if (error instanceof StoreError && error.code === "migration-failed") return false;
    throw error;
  }
}

async function findPending(
  client: pg.Client,
  databaseUrl: string,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  // Reads a table, so that the session hears what others made while it waited for the lock; to_regclass alone may not.
  const { rows: tables } = await client.query<{ readonly table: string }>(
    "SELECT relname::text AS table FROM pg_class WHERE oid = to_regclass('_prisma_migrations')",
  );
  if (tables.length === 0) return migrations;
  const { rows } = await client.query<MigrationRecord>(
    `SELECT migration_name, checksum, finished_at IS NOT NULL AS finished FROM _prisma_migrations
     WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const row of rows) {
    const migration = known.get(row.migration_name);
    if (migration === undefined) {
      throw new StoreError(
        "schema-newer",
        `The database at ${describeDatabase(databaseUrl)} has the migration ${row.migration_name}, which this program does not know: a newer version made it. Update this program, or use another database.`,
      );
    }
    if (!row.finished) {
      throw new StoreError(
        "migration-failed",
        `The migration ${row.migration_name} has begun and not ended at ${describeDatabase(databaseUrl)}. Settle it with prisma migrate resolve, then start again.`,
      );
    }
    if (row.checksum !== checksumOf(migration)) {
      throw new StoreError(
        "migration-edited",
        `The migration ${row.migration_name} was applied with another text than prisma/migrations holds now. Restore that file (git checkout), and put the change into a new migration.`,
      );
    }
  }
  const applied = new Set(rows.map((row) => row.migration_name));
  return migrations.filter((migration) => !applied.has(migration.name));
}

/** No right to write, no schema, no disk, a read-only server, a lost connection: told as what they are. */
const notTheMigrations = /^(08|57P|25006|3F000|42501|53)/;
/** A table, type, function or schema of this name exists. SOURCE: PostgreSQL documentation, appendix A. */
const alreadyThere = /^(42P07|42710|42723|42P06)$/;

/** Applies the oldest migration that is missing; null where none is. */
async function applyNext(
  client: pg.Client,
  databaseUrl: string,
  migrations: readonly Migration[],
): Promise<Migration | null> {
  try {
    await client.query("BEGIN");
    // Held by the transaction, not the session: a pooler gives the next one to another session.
    await client.query("SELECT pg_advisory_xact_lock($1)", [migrationLock]);
    const [next] = await findPending(client, databaseUrl, migrations);
    if (next !== undefined) await apply(client, databaseUrl, next);
    await client.query("COMMIT");
    return next ?? null;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** Runs one migration in the open transaction, with its record. */
async function apply(client: pg.Client, databaseUrl: string, migration: Migration): Promise<void> {
  try {
    // In the same transaction: a first migration that fails leaves no empty record behind.
    await client.query(recordTable);
    await applyMigration(client, migration);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const sqlState = cause instanceof pg.DatabaseError ? (cause.code ?? "") : "";
    if (notTheMigrations.test(sqlState)) throw cause;
    if (alreadyThere.test(sqlState)) {
      throw new StoreError(
        "migration-failed",
        `The database at ${describeDatabase(databaseUrl)} holds what another program made (${reason}). Give hallumaze a database of its own: put its name into DATABASE_URL. Nothing was changed.`,
        { cause },
      );
    }
    throw new StoreError(
      "migration-failed",
      `The migration ${migration.name} failed, and nothing of it stays: ${reason}`,
      { cause },
    );
  }
}

/** Runs a migration and records it, in the transaction that the client is in; `recordTable` is there. */
export async function applyMigration(client: pg.ClientBase, migration: Migration): Promise<void> {
  await client.query(migration.sql);
  // Not now(): a transaction may begin, and wait for the lock, before that of an earlier migration.
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     SELECT $1, $2, $3, at, at, 1 FROM clock_timestamp() AS at`,
    [randomUUID(), checksumOf(migration), migration.name],
  );
}

/** SHA-256 of a migration's text, as Prisma records it. */
export function checksumOf(migration: Migration): string {
  return createHash("sha256").update(migration.sql, "utf8").digest("hex");
}
