import { createReadStream, createWriteStream } from "node:fs";
import { access, open, rename, rm, stat } from "node:fs/promises";
import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";

import { describeDatabase, readMigrations, toStoreError } from "@hallumaze/store";
import pg from "pg";
import { to as copyTo } from "pg-copy-streams";

import { type BackupHeader, formatVersion, quoteName, readBackup, writeBackup } from "./backup-file.ts";
import { ArchiveError } from "./errors.ts";
import { findKnown, readApplied, readTables, recordName } from "./ledger-tables.ts";

/** What a backup holds, after it was written and read once more from its end to its begin. */
export interface BackupReport {
  readonly file: string;
  readonly fileBytes: number;
  readonly ledgerId: string;
  readonly takenAt: string;
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>;
}

/**
 * Writes the whole ledger to `file`, as it stood at one moment: one read-only snapshot, whatever writes meanwhile. The
 * file appears under its name only when it is whole, on disk, and its hashes were read back. Memory does not grow with it.
 * A name that ends with `.zst` is compressed with zstd (Node 22.15 or later), any other with gzip.
 *
 * Throws `backup-exists` where the file is there, and what the store throws.
 */
export async function backUp(
  databaseUrl: string,
  file: string,
  options: { readonly programVersion: string; readonly signal: AbortSignal },
): Promise<BackupReport> {
  await refuseExisting(file);
  const compress = openCompression(file);
  const draft = `${file}.${process.pid}.partial`;
  const client = openClient(databaseUrl);
  try {
    await client.connect();
    const header = await openSnapshot(client, databaseUrl, options.programVersion);
    const bytes = writeBackup(header, (table) =>
      client.query(
        copyTo(
          `COPY ${quoteName(table.name)} (${table.columns.map(quoteName).join(", ")}) TO STDOUT (ENCODING 'UTF8')`,
        ),
      ),
    );
    await pipeline(Readable.from(bytes, { objectMode: false }), compress, createWriteStream(draft, { mode: 0o600 }), {
      signal: options.signal,
    });
    await flush(draft);
    const report = await inspectBackup(draft, options.signal);
    await refuseExisting(file);
    await rename(draft, file);
    return { ...report, file };
  } catch (error) {
    await rm(draft, { force: true });
    throw error instanceof pg.DatabaseError ? toStoreError(error, databaseUrl) : error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Reads a backup whole, checks its hashes and counts, and says what it holds. Throws as `readBackup`. */
export async function inspectBackup(file: string, signal: AbortSignal): Promise<BackupReport> {
  const { size } = await stat(file);
  const reader = await readBackup(openBackup(file, signal));
  const rows: Record<string, number> = {};
  for (const { name } of reader.header.tables) {
    const table = reader.rows(name);
    for (;;) {
      const next = await table.next();
      if (next.done !== true) continue;
      rows[name] = next.value.rows;
      break;
    }
  }
  await reader.finish();
  const { ledgerId, takenAt } = reader.header;
  return { file, fileBytes: size, ledgerId, takenAt, rows };
}

/** A backup's bytes, decompressed by what they begin with, whatever the file is called. */
export async function* openBackup(file: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const start = await readStart(file);
  const isGzip = start.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]));
  const isZstd = start.equals(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]));
  const source = createReadStream(file, { signal, highWaterMark: 256 * 1024 });
  if (!isGzip && !isZstd) {
    yield* source as AsyncIterable<Buffer>;
    return;
  }
  const unpacked = isZstd ? requireZstd().createZstdDecompress() : zlib.createGunzip({ chunkSize: 256 * 1024 });
  source.on("error", (error) => unpacked.destroy(error));
  try {
    yield* source.pipe(unpacked) as AsyncIterable<Buffer>;
  } catch (cause) {
    signal.throwIfAborted();
    throw new ArchiveError("backup-damaged", `The backup ${file} is cut or damaged: it does not decompress.`, {
      cause,
    });
  } finally {
    source.destroy();
  }
}

/** The first bytes of a file; fewer where it has fewer. Throws `backup-unreadable` where there is no such file. */
export async function readStart(file: string, bytes = 4): Promise<Buffer> {
  try {
    await using handle = await open(file, "r");
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "unknown";
    throw new ArchiveError("backup-unreadable", `The backup ${file} cannot be read (${code}).`, { cause });
  }
}

/** A connection for one long piece of work: a statement may take as long as it takes. */
export function openClient(databaseUrl: string): pg.Client {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    application_name: "hallumaze-archive",
  });
  client.on("error", () => {
    // A connection lost in mid-query rejects that query; the event tells nothing more.
  });
  return client;
}

/** Throws `backup-exists` where something of that name is there: an older backup is not lost to a slip. */
export async function refuseExisting(file: string): Promise<void> {
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (isThere) throw new ArchiveError("backup-exists", `${file} exists. Name another file, or remove it first.`);
}

/** Opens the snapshot and reads from it what is to be saved. */
async function openSnapshot(client: pg.Client, databaseUrl: string, programVersion: string): Promise<BackupHeader> {
  await client.query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
  await client.query("SET LOCAL statement_timeout = 0; SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'");
  const where = `The database at ${describeDatabase(databaseUrl)}`;
  const applied = await readApplied(client);
  if (applied.length === 0)
    throw new ArchiveError("schema-unknown", `${where} holds no ledger: there is nothing to save.`);
  const tables = await readTables(client, findKnown(applied, readMigrations(), where));
  const { rows } = await client.query<{
    readonly ledgerId: string;
    readonly takenAt: string;
    readonly serverVersion: string;
  }>(
    `SELECT (SELECT id FROM ${recordName} ORDER BY started_at, id LIMIT 1) AS "ledgerId",
       to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "takenAt", current_setting('server_version') AS "serverVersion"`,
  );
  const [about] = rows;
  if (about === undefined) throw new ArchiveError("schema-unknown", `${where} has no record of its migrations.`);
  return {
    format: formatVersion,
    ...about,
    programVersion,
    migrations: applied.map(({ name, checksum }) => ({ name, checksum })),
    sequences: await readSequences(
      client,
      tables.map(({ name }) => name),
    ),
    tables: tables.map(({ name, columns }) => ({ name, columns: [...columns] })),
  };
}

/** A sequence is read outside the snapshot: it is never behind the rows. */
async function readSequences(client: pg.Client, tables: readonly string[]): Promise<BackupHeader["sequences"]> {
  const { rows } = await client.query<{ readonly table: string; readonly column: string; readonly sequence: string }>(
    `SELECT c.relname AS "table", a.attname AS "column", s.oid::regclass::text AS sequence
     FROM pg_class s JOIN pg_depend d ON d.objid = s.oid AND d.deptype IN ('a', 'i') AND d.classid = 'pg_class'::regclass
     JOIN pg_class c ON c.oid = d.refobjid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
     WHERE s.relkind = 'S' AND c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1::text[])
     ORDER BY 1, 2`,
    [tables],
  );
  const sequences: BackupHeader["sequences"] = [];
  for (const { table, column, sequence } of rows) {
    const { rows: values } = await client.query<{ readonly lastValue: string; readonly isCalled: boolean }>(
      `SELECT last_value::text AS "lastValue", is_called AS "isCalled" FROM ${sequence}`,
    );
    for (const value of values) sequences.push({ table, column, ...value });
  }
  return sequences;
}

type Zstd = Readonly<Record<"createZstdCompress" | "createZstdDecompress", () => Transform>>;

function openCompression(file: string): Transform {
  return file.endsWith(".zst") ? requireZstd().createZstdCompress() : zlib.createGzip({ chunkSize: 256 * 1024 });
}

/** Node's zlib has zstd from 22.15 on; its types here are those of Node 20. */
function requireZstd(): Zstd {
  if ("createZstdCompress" in zlib) return zlib as unknown as Zstd;
  throw new ArchiveError(
    "backup-unreadable",
    `Node ${process.versions.node} has no zstd: use Node 22.15 or later, or a file name that does not end with .zst.`,
  );
}

async function flush(file: string): Promise<void> {
  await using handle = await open(file, "r+");
  await handle.sync();
}
