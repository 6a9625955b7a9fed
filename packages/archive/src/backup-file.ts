import { createHash } from "node:crypto";

import { z } from "zod";

import { ArchiveError } from "./errors.ts";

/** Version of the format that this program writes, and the newest that it reads. */
export const formatVersion = 1;

const headerShape = z.object({
  format: z.number().int().min(1),
  ledgerId: z.string(),
  /** Of the program that wrote it. */
  programVersion: z.string(),
  /** The server's clock when the snapshot was taken, ISO 8601. */
  takenAt: z.string(),
  serverVersion: z.string(),
  /** In the order in which they were applied. */
  migrations: z.array(z.object({ name: z.string(), checksum: z.string() })),
  sequences: z.array(z.object({ table: z.string(), column: z.string(), lastValue: z.string(), isCalled: z.boolean() })),
  /** In the order of the sections: a table stands after those that it refers to. */
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()) })),
});

/** What stands at a backup's begin. */
export type BackupHeader = z.infer<typeof headerShape>;

const tableEndShape = z.object({ name: z.string(), rows: z.number(), bytes: z.number(), sha256: z.string() });

/** What stands after a table's rows. */
export type TableEnd = z.infer<typeof tableEndShape>;

const endShape = z.object({ tables: z.number(), rows: z.number() });
const marks = { header: "-- hallumaze-backup ", tableEnd: "-- hallumaze-table ", end: "-- hallumaze-end " } as const;
/** The line that ends the rows of a COPY; no row looks like it, since COPY writes a backslash twice. */
const copyEnd = Buffer.from("\n\\.\n");
const longestLineBytes = 4 * 2 ** 20;

/** A name as SQL writes it. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Counts and hashes a table's rows as they pass. */
export function createTableMeter(name: string): {
  readonly add: (chunk: Buffer) => void;
  readonly end: () => TableEnd;
} {
  const hash = createHash("sha256");
  let [rows, bytes] = [0, 0];
  return {
    add: (chunk) => {
      hash.update(chunk);
      bytes += chunk.length;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) rows += 1;
    },
    end: () => ({ name, rows, bytes, sha256: hash.digest("hex") }),
  };
}

/**
 * Writes a backup: SQL text that `psql` can read as well, with the program's own marks as comments. Each table's rows
 * are those of COPY in its text format. Memory is that of a few chunks.
 *
 * SOURCE: PostgreSQL documentation, COPY, "Text Format".
 */
export async function* writeBackup(
  header: BackupHeader,
  openRows: (table: BackupHeader["tables"][number]) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  yield Buffer.from(`${marks.header}${JSON.stringify(header)}\n`);
  let rows = 0;
  for (const table of header.tables) {
    const columns = table.columns.map(quoteName).join(", ");
    yield Buffer.from(`COPY ${quoteName(table.name)} (${columns}) FROM stdin;\n`);
    const meter = createTableMeter(table.name);
    for await (const chunk of openRows(table)) {
      meter.add(chunk);
      yield chunk;
    }
    const end = meter.end();
    rows += end.rows;
    yield Buffer.from(`\\.\n${marks.tableEnd}${JSON.stringify(end)}\n`);
  }
  yield Buffer.from(`${marks.end}${JSON.stringify({ tables: header.tables.length, rows })}\n`);
}

/** A backup that is being read, in its order: header, then each table's rows and end, then the end. */
export interface BackupReader {
  readonly header: BackupHeader;
  /** The next table's rows in chunks; its hash and count are checked after the last, and `backup-damaged` thrown. */
  readonly rows: (name: string) => AsyncGenerator<Buffer, TableEnd>;
  /** Throws `backup-damaged` where the file goes on, or stops before its end mark. */
  readonly finish: () => Promise<void>;
}

/** Opens a backup's bytes, already decompressed. Throws `backup-unreadable`, `backup-newer` or `backup-damaged`. */
export async function readBackup(bytes: AsyncIterable<Buffer>): Promise<BackupReader> {
  const source = createSource(bytes);
  const first = await source.line();
  if (first === null || !first.startsWith(marks.header)) {
    throw new ArchiveError(
      "backup-unreadable",
      "This is no backup of hallumaze: its first line is not the header of one.",
    );
  }
  const header = parseMark(headerShape, marks.header, first);
  if (header.format > formatVersion) {
    throw new ArchiveError(
      "backup-newer",
      `The backup has format ${header.format}; this program reads up to ${formatVersion}. Use the program that wrote it (${header.programVersion}) or a newer one.`,
    );
  }
  let [tables, rows] = [0, 0];
  return {
    header,
    rows: async function* (name) {
      const begin = await source.line();
      if (begin?.startsWith(`COPY ${quoteName(name)} (`) !== true) throw damaged(`the rows of ${name} do not begin`);
      const meter = createTableMeter(name);
      for await (const chunk of source.rows()) {
        meter.add(chunk);
        yield chunk;
      }
      const stated = parseMark(tableEndShape, marks.tableEnd, await source.line());
      const found = meter.end();
      if (JSON.stringify(stated) !== JSON.stringify(found)) {
        throw damaged(
          `${name} states ${stated.rows} rows with hash ${stated.sha256.slice(0, 12)}, and holds ${found.rows} with ${found.sha256.slice(0, 12)}`,
        );
      }
      tables += 1;
      rows += found.rows;
      return found;
    },
    finish: async () => {
      const end = parseMark(endShape, marks.end, await source.line());
      if (end.tables !== tables || end.rows !== rows)
        throw damaged(`${end.rows} rows stated at its end, ${rows} found`);
      if ((await source.line()) !== null) throw damaged("something follows its end");
    },
  };
}

function parseMark<Shape extends z.ZodType>(shape: Shape, mark: string, line: string | null): z.infer<Shape> {
  if (line?.startsWith(mark) !== true) throw damaged(line === null ? "it stops before its end" : "a mark is missing");
  try {
    return shape.parse(JSON.parse(line.slice(mark.length)));
  } catch (cause) {
    throw new ArchiveError(
      "backup-damaged",
      "The backup is damaged: a mark in it cannot be read. Nothing was restored.",
      {
        cause,
      },
    );
  }
}

function damaged(what: string): ArchiveError {
  return new ArchiveError("backup-damaged", `The backup is damaged: ${what}. Take another one; nothing was restored.`);
}

interface Source {
  /** The next line without its break; null at the end. */
  readonly line: () => Promise<string | null>;
  /** Everything up to the line that ends a COPY, which is taken too. */
  readonly rows: () => AsyncGenerator<Buffer>;
}

function createSource(bytes: AsyncIterable<Buffer>): Source {
  const chunks = bytes[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const next = await chunks.next();
    if (next.done === true) return false;
    held = held.length === 0 ? next.value : Buffer.concat([held, next.value]);
    return true;
  };
  return {
    line: async () => {
      for (;;) {
        const end = held.indexOf(10);
        if (end >= 0) {
          const line = held.toString("utf8", 0, end);
          held = held.subarray(end + 1);
          return line;
        }
        if (held.length > longestLineBytes) throw damaged("a line of it has no end");
        if (await more()) continue;
        if (held.length > 0) throw damaged("it stops in mid-line");
        return null;
      }
    },
    rows: async function* () {
      // As if a line had just ended: a table without rows begins with the line that ends it.
      let skip = 1;
      held = Buffer.concat([Buffer.from("\n"), held]);
      for (;;) {
        const end = held.indexOf(copyEnd);
        if (end >= 0) {
          const last = held.subarray(skip, end + 1);
          held = held.subarray(end + copyEnd.length);
          if (last.length > 0) yield last;
          return;
        }
        // The end may have begun in what is held: its first bytes stay.
        const keep = copyEnd.length - 1;
        if (held.length > keep + skip) {
          const part = held.subarray(skip, held.length - keep);
          held = held.subarray(held.length - keep);
          skip = 0;
          yield part;
        }
        if (!(await more())) throw damaged("it stops within a table");
      }
    },
  };
}
