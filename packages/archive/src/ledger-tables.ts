import { checksumOf, type Migration } from "@hallumaze/store";
import type pg from "pg";

import { ArchiveError } from "./errors.ts";

/** A table of the ledger with its columns, in the catalog's order. */
export interface LedgerTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Prisma's record of what was applied: part of every backup, and the ledger's identity. */
export const recordName = "_prisma_migrations";

/** What a database says that was applied to it. */
export interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
}

/** The migrations that were applied, oldest first; empty where the database holds no ledger. */
export async function readApplied(client: pg.ClientBase): Promise<readonly AppliedMigration[]> {
  const { rows: found } = await client.query<{ readonly there: boolean }>(
    "SELECT to_regclass($1) IS NOT NULL AS there",
    [recordName],
  );
  if (found[0]?.there !== true) return [];
  const { rows } = await client.query<AppliedMigration>(
    `SELECT migration_name AS name, checksum FROM ${recordName}
     WHERE rolled_back_at IS NULL AND finished_at IS NOT NULL ORDER BY migration_name`,
  );
  return rows;
}

/**
 * The program's migrations that `applied` names, in their order. Throws `schema-unknown` where it names one that the
 * program does not have, or has with another text.
 */
export function findKnown(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
  where: string,
): readonly Migration[] {
  const byName = new Map(migrations.map((migration) => [migration.name, migration]));
  return applied.map(({ name, checksum }) => {
    const migration = byName.get(name);
    if (migration === undefined) {
      throw new ArchiveError(
        "schema-unknown",
        `${where} has the migration ${name}, which this program does not know: a newer version made it. Use that version.`,
      );
    }
    if (checksumOf(migration) === checksum) return migration;
    throw new ArchiveError(
      "schema-unknown",
      `${where} was made with another text of the migration ${name} than this program has. Use the version that made it.`,
    );
  });
}

/** Names of what migrations make; a database may hold other programs' tables beside them. */
export function namesMadeBy(migrations: readonly Migration[], kind: "FUNCTION" | "TABLE" | "TYPE"): readonly string[] {
  const pattern = new RegExp(`^CREATE ${kind} "(\\w+)"`, "gm");
  return migrations.flatMap(({ sql }) => Array.from(sql.matchAll(pattern), (match) => match[1] ?? ""));
}

/** The ledger's tables that exist, each after those it refers to; the record of migrations comes first. */
export async function readTables(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<readonly LedgerTable[]> {
  const names = [recordName, ...new Set(namesMadeBy(migrations, "TABLE"))];
  const { rows } = await client.query<LedgerTable & { readonly refersTo: readonly string[] }>(
    `SELECT c.relname AS name,
       (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
       ARRAY(SELECT r.relname::text FROM pg_constraint f JOIN pg_class r ON r.oid = f.confrelid
        WHERE f.conrelid = c.oid AND f.contype = 'f') AS "refersTo"
     FROM pg_class c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname = ANY ($1::text[])`,
    [names],
  );
  const byName = new Map(rows.map((row) => [row.name, row]));
  const ordered = new Map<string, LedgerTable>();
  const visit = (name: string): void => {
    const table = byName.get(name);
    if (table === undefined || ordered.has(name)) return;
    for (const other of table.refersTo) if (other !== name) visit(other);
    ordered.set(name, { name, columns: table.columns });
  };
  for (const name of names) visit(name);
  return [...ordered.values()];
}
