import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import {
  applyMigration,
  describeDatabase,
  migrationLock,
  readMigrations,
  recordTable,
  StoreError,
  toStoreError,
} from "@hallumaze/store";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";

import { openBackup, openClient } from "./back-up.ts";
import { type BackupReader, quoteName, readBackup } from "./backup-file.ts";
import { ArchiveError } from "./errors.ts";
import { findKnown, namesMadeBy, readApplied, readTables, recordName } from "./ledger-tables.ts";

/** What a restore has brought back. */
export interface RestoreReport {
  readonly ledgerId: string;
  /** When the backup was taken, ISO 8601; null where the file does not say. */
  readonly takenAt: string | null;
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Names of migrations that led from the backup's schema to the program's. */
  readonly migrated: readonly string[];
}

/**
 * Brings a backup into an empty database: its schema, its rows, its sequences, then the migrations that came later. All
 * of it is one transaction, so that a damaged file, a full disk or a lost connection leaves the database as it was.
 *
 * The ledger keeps its identity, unless `newLedgerId`: deliveries of before that still lie in a Redis name trials by id
 * and generation, and a claim drops what does not fit. A copy that is to live beside its original wants its own identity.
 *
 * Throws `restore-not-empty` where the database holds any row of a ledger, `schema-unknown` where the backup is of a
 * newer program, and what `readBackup` throws.
 */
export async function restore(
  databaseUrl: string,
  file: string,
  options: { readonly signal: AbortSignal; readonly newLedgerId?: boolean },
): Promise<RestoreReport> {
  const reader = await readBackup(openBackup(file, options.signal));
  const client = openClient(databaseUrl);
  try {
    await client.connect();
    await client.query("BEGIN");
    await client.query("SET LOCAL statement_timeout = 0; SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'");
    await client.query("SELECT pg_advisory_xact_lock($1)", [migrationLock]);
    const report = await fill(client, databaseUrl, reader, options);
    await client.query("COMMIT");
    // The planner knows nothing of the rows yet; autovacuum would tell it minutes later.
    await client.query("ANALYZE");
    return report;
  } catch (error) {
    options.signal.throwIfAborted();
    throw error instanceof ArchiveError || error instanceof StoreError ? error : toStoreError(error, databaseUrl);
  } finally {
    // An open transaction ends with its connection.
    await client.end().catch(() => undefined);
  }
}

async function fill(
  client: pg.Client,
  databaseUrl: string,
  reader: BackupReader,
  options: { readonly signal: AbortSignal; readonly newLedgerId?: boolean },
): Promise<RestoreReport> {
  const { header } = reader;
  const migrations = readMigrations();
  const known = findKnown(header.migrations, migrations, "The backup");
  await makeEmpty(client, databaseUrl);
  await client.query(recordTable);
  for (const migration of known) await client.query(migration.sql);
  const rows: Record<string, number> = {};
  for (const { name, columns } of header.tables) {
    // What triggers would count stands in the backup.
    await client.query(`ALTER TABLE ${quoteName(name)} DISABLE TRIGGER USER`);
    const sql = `COPY ${quoteName(name)} (${columns.map(quoteName).join(", ")}) FROM STDIN (ENCODING 'UTF8')`;
    const source = reader.rows(name);
    let count = 0;
    const chunks = async function* (): AsyncGenerator<Buffer> {
      const end = yield* source;
      count = end.rows;
    };
    const sink = client.query(copyFrom(sql));
    await pipeline(Readable.from(chunks(), { objectMode: false }), sink, { signal: options.signal });
    if (sink.rowCount !== count) {
      throw new ArchiveError("backup-damaged", `${name} took ${sink.rowCount} rows of ${count}. Nothing was restored.`);
    }
    await client.query(`ALTER TABLE ${quoteName(name)} ENABLE TRIGGER USER`);
    rows[name] = count;
  }
  await reader.finish();
  for (const { table, column, lastValue, isCalled } of header.sequences) {
    await client.query("SELECT setval(pg_get_serial_sequence($1, $2), $3::bigint, $4)", [
      quoteName(table),
      column,
      lastValue,
      isCalled,
    ]);
  }
  const later = migrations.filter(({ name }) => !known.some((migration) => migration.name === name));
  for (const migration of later) await applyMigration(client, migration);
  return {
    ledgerId: options.newLedgerId ? await renameLedger(client) : header.ledgerId,
    takenAt: header.takenAt,
    rows,
    migrated: later.map(({ name }) => name),
  };
}

/** Takes away the ledger's tables where all are empty, so that the backup's schema can be made; refuses any other. */
export async function makeEmpty(client: pg.ClientBase, databaseUrl: string): Promise<void> {
  const migrations = readMigrations();
  const where = `The database at ${describeDatabase(databaseUrl)}`;
  const applied = await readApplied(client);
  if (applied.length > 0) findKnown(applied, migrations, where);
  const tables = await readTables(client, migrations);
  for (const { name } of tables) {
    if (name === recordName) continue;
    await client.query(`LOCK TABLE ${quoteName(name)} IN ACCESS EXCLUSIVE MODE`);
    const { rows } = await client.query<{ readonly filled: boolean }>(
      `SELECT EXISTS (SELECT 1 FROM ${quoteName(name)}) AS filled`,
    );
    if (rows[0]?.filled !== true) continue;
    throw new ArchiveError(
      "restore-not-empty",
      `${where} holds a ledger already (rows in ${name}). Restore into an empty database: another HALLUMAZE_HOME, or a new database in DATABASE_URL. Nothing was changed.`,
    );
  }
  const isOurs = tables.some(({ name }) => name === recordName);
  if (!isOurs && tables.length > 0) {
    throw new ArchiveError(
      "restore-not-empty",
      `${where} has a table ${tables[0]?.name} of another program. Give the ledger a database of its own.`,
    );
  }
  if (!isOurs) return;
  for (const { name } of tables.toReversed()) await client.query(`DROP TABLE ${quoteName(name)} CASCADE`);
  for (const name of namesMadeBy(migrations, "FUNCTION"))
    await client.query(`DROP FUNCTION IF EXISTS ${quoteName(name)}`);
  for (const name of namesMadeBy(migrations, "TYPE")) await client.query(`DROP TYPE IF EXISTS ${quoteName(name)}`);
}

async function renameLedger(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ readonly id: string }>(
    `UPDATE ${recordName} SET id = $1 WHERE id = (SELECT id FROM ${recordName} ORDER BY started_at, id LIMIT 1) RETURNING id`,
    [randomUUID()],
  );
  return rows[0]?.id ?? "";
}
