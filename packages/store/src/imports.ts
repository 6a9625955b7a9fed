import type {
  ImportedFile,
  ImportedTrial,
  ImportStorePort,
  StoredImport,
  StoredImportedTrial,
} from "@hallumaze/imports";

import { type Database, isUuid, jsonRows } from "./database.ts";
import { StoreError } from "./errors.ts";
import { Prisma } from "./generated/client.ts";
import { decodeNullable, decodeText, encodeNullable, encodeText } from "./storable-text.ts";

/** The methods of the ledger that hold others' results. */
export function createImportMethods(database: Database): ImportStorePort {
  return {
    addImport: (file, rows) => addImport(database, file, rows),
    listImports: async () => {
      const rows = await database.query<ImportRow>(
        Prisma.sql`SELECT ${importColumns} FROM imports i ORDER BY ${oldestFirst}`,
      );
      return rows.map(toImport);
    },
    removeImport: async (importId) => {
      if (!isUuid(importId)) return null;
      const [row] = await database.query<ImportRow>(
        Prisma.sql`DELETE FROM imports i WHERE i.id = ${importId}::uuid RETURNING ${importColumns}`,
      );
      return row === undefined ? null : toImport(row);
    },
    streamImported: (pageSize, importIds) => streamImported(database, pageSize, importIds),
  };
}

const oldestFirst = Prisma.sql`i.created_at, i.id`;

const importColumns = Prisma.sql`i.id::text AS "importId", i.kind, i.format, i.file_name AS "fileName", i.sha256,
  i.content_key AS "contentKey", i.byte_count AS "byteCount", i.row_count AS "rowCount", i.skipped_json AS "skippedJson",
  i.warnings_json AS "warningsJson", (extract(epoch FROM i.created_at) * 1000)::float8 AS "importedAtMs"`;

interface ImportRow extends Omit<StoredImport, "skipped" | "warnings"> {
  readonly skippedJson: string;
  readonly warningsJson: string;
}

function toImport({ skippedJson, warningsJson, ...row }: ImportRow): StoredImport {
  return {
    ...row,
    fileName: decodeText(row.fileName),
    skipped: JSON.parse(decodeText(skippedJson)) as readonly string[],
    warnings: JSON.parse(decodeText(warningsJson)) as readonly string[],
  };
}

/** Rows in one statement: the text of all rows of a large file would not fit into one. */
const rowsAtOnce = 2000;
/** A file of a million rows takes minutes. */
const importTimeoutMs = 600_000;

/** One transaction: the file and its rows stand together or not at all, and of two processes at once one adds them. */
async function addImport(
  database: Database,
  file: ImportedFile,
  rows: readonly ImportedTrial[],
): ReturnType<ImportStorePort["addImport"]> {
  const insertFile = Prisma.sql`
    INSERT INTO imports AS i (kind, format, file_name, sha256, content_key, byte_count, row_count, skipped_json, warnings_json)
    VALUES (${file.kind}, ${file.format}, ${encodeText(file.fileName)}, ${file.sha256}, ${file.contentKey},
      ${file.byteCount}, ${rows.length}, ${encodeText(JSON.stringify(file.skipped))},
      ${encodeText(JSON.stringify(file.warnings))})
    ON CONFLICT (content_key) DO NOTHING RETURNING ${importColumns}`;
  const insertRows = (importId: string, some: readonly ImportedTrial[]): Prisma.Sql => Prisma.sql`
    INSERT INTO imported_trials (import_id, position, provider, model, size, seed, "group", mirage, language, confidence,
      participant, n, outcome, latency_ms, scores_json, deviations_json, log_text, reading_json, reader_version, record_json)
    SELECT ${importId}::uuid, r.position, r.provider, r.model, r.size, r.seed, r."group", r.mirage, r.language, r.confidence,
      r.participant, r.n, r.outcome, r.latency_ms, r.scores_json, r.deviations_json, r.log_text, r.reading_json,
      r.reader_version, r.record_json
    FROM json_to_recordset(${jsonRows(some.map(toStored))}) AS r(position int, provider text, model text,
      size int, seed bigint, "group" text, mirage boolean, language text, confidence boolean, participant text, n int,
      outcome text, latency_ms int, scores_json text, deviations_json text, log_text text, reading_json text,
      reader_version text, record_json text)`;
  const added = await database.run((prisma) =>
    prisma.$transaction(
      async (transaction) => {
        const [row] = await transaction.$queryRaw<ImportRow[]>(insertFile);
        if (row === undefined) return null;
        for (let from = 0; from < rows.length; from += rowsAtOnce)
          await transaction.$executeRaw(insertRows(row.importId, rows.slice(from, from + rowsAtOnce)));
        return row;
      },
      { timeout: importTimeoutMs, maxWait: importTimeoutMs },
    ),
  );
  if (added !== null) return { kind: "added", stored: toImport(added) };
  const [known] = await database.query<ImportRow>(
    Prisma.sql`SELECT ${importColumns} FROM imports i WHERE i.content_key = ${file.contentKey}`,
  );
  if (known === undefined) {
    throw new StoreError("database-busy", "The same import was removed meanwhile. Run the command again.", {
      retry: true,
    });
  }
  return { kind: "known", stored: toImport(known) };
}

function toStored(row: ImportedTrial) {
  return {
    position: row.position,
    provider: encodeNullable(row.provider),
    model: encodeText(row.model),
    size: row.size,
    seed: row.seed,
    group: row.group,
    mirage: row.mirage,
    language: row.language,
    confidence: row.confidence,
    participant: encodeNullable(row.participant),
    n: row.n,
    outcome: encodeNullable(row.outcome),
    latency_ms: row.latencyMs,
    scores_json: JSON.stringify(row.scores),
    deviations_json: row.deviations === null ? null : JSON.stringify(row.deviations),
    log_text: encodeNullable(row.logText),
    reading_json: encodeNullable(row.readingJson),
    reader_version: row.readerVersion,
    record_json: encodeText(row.recordJson),
  };
}

interface ImportedTrialRow extends Omit<StoredImportedTrial, "scores" | "deviations"> {
  readonly scoresJson: string;
  readonly deviationsJson: string | null;
}

async function* streamImported(
  database: Database,
  pageSize: number,
  importIds?: readonly string[],
): AsyncGenerator<readonly StoredImportedTrial[]> {
  const wanted =
    importIds === undefined
      ? Prisma.empty
      : Prisma.sql`WHERE i.id IN (SELECT w::uuid FROM json_array_elements_text(${JSON.stringify(importIds.filter(isUuid))}::json) AS w)`;
  const imports = await database.query<{ readonly importId: string }>(
    Prisma.sql`SELECT i.id::text AS "importId" FROM imports i ${wanted} ORDER BY ${oldestFirst}`,
  );
  for (const { importId } of imports) {
    for (let last = 0; ; ) {
      const rows: readonly ImportedTrialRow[] = await database.query<ImportedTrialRow>(Prisma.sql`
        SELECT i.id::text AS "importId", i.kind, t.position, t.provider, t.model, t.size, t.seed::float8 AS seed, t."group",
          t.mirage, t.language, t.confidence, t.participant, t.n, t.outcome, t.latency_ms AS "latencyMs",
          t.scores_json AS "scoresJson", t.deviations_json AS "deviationsJson", t.log_text AS "logText",
          t.reading_json AS "readingJson", t.reader_version AS "readerVersion", t.record_json AS "recordJson"
        FROM imported_trials t JOIN imports i ON i.id = t.import_id
        WHERE t.import_id = ${importId}::uuid AND t.position > ${last} ORDER BY t.position LIMIT ${pageSize}`);
      if (rows.length > 0) yield rows.map(toTrial);
      if (rows.length < pageSize) break;
      last = rows.at(-1)?.position ?? last;
    }
  }
}

function toTrial({ scoresJson, deviationsJson, ...row }: ImportedTrialRow): StoredImportedTrial {
  return {
    ...row,
    provider: decodeNullable(row.provider),
    model: decodeText(row.model),
    participant: decodeNullable(row.participant),
    outcome: decodeNullable(row.outcome),
    scores: JSON.parse(scoresJson) as StoredImportedTrial["scores"],
    deviations: deviationsJson === null ? null : (JSON.parse(deviationsJson) as StoredImportedTrial["deviations"]),
    logText: decodeNullable(row.logText),
    readingJson: decodeNullable(row.readingJson),
    recordJson: decodeText(row.recordJson),
  };
}
