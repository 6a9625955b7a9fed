import { isUtf8 } from "node:buffer";

import { CsvError, parse } from "csv-parse/sync";
import { type JSONVisitor, type ParseError, printParseErrorCode, visit } from "jsonc-parser";

/** Something wrong in a file, with its place. */
export interface ImportProblem {
  /** 1-based line of the file; null for the file as a whole. */
  readonly line: number | null;
  /** 1-based record; null for the file as a whole. */
  readonly record: number | null;
  /** The column or key; null for the whole record. */
  readonly field: string | null;
  readonly message: string;
}

/** One record of a file before it is checked. */
export interface RawRecord {
  /** 1-based. */
  readonly position: number;
  /** The 1-based line where it begins; worked out only when asked. */
  readonly line: () => number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What a file holds, or why it cannot be read. */
export type RecordReading =
  | {
      readonly kind: "records";
      readonly format: "json" | "csv";
      /** Records that were handed over. */
      readonly count: number;
      /** Records that are no records; the others may still be good. */
      readonly problems: readonly ImportProblem[];
    }
  | { readonly kind: "unreadable"; readonly problems: readonly ImportProblem[] };

/** Is given each record as it is read; of a file that turns out unreadable, those before the place. */
type TakeRecord = (record: RawRecord) => void;

/** Keys under which a list of records is found when the file is an object. */
const listKeys = ["trials", "results", "data", "records"];

/** Objects and lists inside one another: no record of results is as deep, and reading deeper ones ends a program. */
const deepest = 100;

/**
 * Takes a JSON or CSV file in UTF-8 apart into records; what begins with `[` or `{` is JSON. Linear in the bytes. The rows of a
 * CSV are handed over one at a time and not kept; a JSON is held whole.
 */
export function readRecords(bytes: Uint8Array, take: TakeRecord): RecordReading {
  if (!isUtf8(bytes)) return whole("is no UTF-8 text; save it as UTF-8");
  const head = decode(bytes.subarray(0, headBytes)).trimStart();
  if (head === "" && decode(bytes).trim() === "") return whole("the file is empty");
  return head === "" || /^[[{]/.test(head) ? readJson(decode(bytes), take) : readCsv(bytes, take);
}

/** So much of a file shows its form; a header of columns is no longer. */
const headBytes = 65_536;

/** Not fatal: a piece may end within a character. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8").decode(bytes);
}

function readJson(text: string, take: TakeRecord): RecordReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "unreadable", problems: [jsonProblem(text)] };
  }
  const lines = lazily(() => objectLines(text));
  const { list, path } = findList(value);
  const twice = keysTwice(text, Array.isArray(value) ? 0 : path.length === 0 ? null : 1);
  if (twice.has(null)) return { kind: "unreadable", problems: twice.get(null) ?? [] };
  if (list.length === 0) return whole("the list is empty");
  const problems: ImportProblem[] = [];
  let count = 0;
  for (const [index, item] of list.entries()) {
    const position = index + 1;
    const doubled = twice.get(position);
    const message = !isFields(item) ? "is no object" : nestsDeeper(item, deepest) ? tooDeep : null;
    if (doubled !== undefined) problems.push(...doubled);
    else if (!isFields(item) || message !== null)
      problems.push({ line: null, record: position, field: null, message: message ?? "" });
    else {
      const line = (): number => lines().get([...path, index].join("/")) ?? lines().get(path.join("/")) ?? 1;
      count += 1;
      take({ position, line, fields: item });
    }
  }
  return { kind: "records", format: "json", count, problems };
}

const tooDeep = `has lists or objects in one another, more than ${deepest} deep`;

function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => nestsDeeper(inner, levels - 1));
}

/** The list of records: the file itself, a list under a usual key, or a single object. */
function findList(value: unknown): { readonly list: readonly unknown[]; readonly path: readonly string[] } {
  if (Array.isArray(value)) return { list: value, path: [] };
  if (isFields(value) && !isFields(value["maze"])) {
    for (const key of listKeys) {
      const inner = value[key];
      if (Array.isArray(inner)) return { list: inner, path: [key] };
    }
  }
  return { list: [value], path: [] };
}

function jsonProblem(text: string): ImportProblem {
  let found: { readonly line: number; readonly message: string } | null = null;
  visitAll(text, {
    onError: (error: ParseError["error"], _offset, _length, startLine) => {
      found ??= { line: startLine + 1, message: printParseErrorCode(error) };
    },
  });
  const { line, message } = (found as { readonly line: number; readonly message: string } | null) ?? {
    line: null,
    message: "unreadable",
  };
  return { line, record: null, field: null, message: `is no JSON (${message}); NaN and Infinity are none: write null` };
}

/**
 * Keys that one object has twice, by record; null: outside of all records. JSON.parse takes the last and tells nobody, and
 * which one is meant nobody knows. `depth`: where in a path the record's place stands; null: the file is one record.
 */
function keysTwice(text: string, depth: number | null): ReadonlyMap<number | null, readonly ImportProblem[]> {
  const found = new Map<number | null, ImportProblem[]>();
  const open: Set<string>[] = [];
  visitAll(text, {
    onObjectBegin: () => {
      open.push(new Set());
    },
    onObjectEnd: () => {
      open.pop();
    },
    onObjectProperty: (key, _offset, _length, startLine, _character, pathOf) => {
      const keys = open.at(-1);
      if (keys?.has(key)) {
        const path = [...pathOf(), key];
        const place = depth === null ? 0 : path[depth];
        const record = typeof place === "number" ? place + 1 : null;
        const field = (record === null || depth === null ? path : path.slice(depth + 1)).join(".");
        const problem = { line: startLine + 1, record, field, message: "stands twice in its object: leave one out" };
        found.set(record, [...(found.get(record) ?? []), problem]);
      }
      keys?.add(key);
    },
  });
  return found;
}

/** The line of every object, by its path. */
function objectLines(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  visitAll(text, {
    onObjectBegin: (_offset, _length, startLine, _character, pathOf) => {
      const path = pathOf();
      // Records do not nest deeper; what stands inside them needs no line of its own.
      if (path.length <= 2) lines.set(path.join("/"), startLine + 1);
    },
  });
  return lines;
}

/** Visits a JSON text as far as it can be: the visitor calls itself, and what nests too deeply ends it. */
function visitAll(text: string, visitor: JSONVisitor): void {
  try {
    visit(text, visitor, { disallowComments: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
}

function readCsv(bytes: Uint8Array, take: TakeRecord): RecordReading {
  const problems: ImportProblem[] = [];
  let columns: readonly string[] | null = null;
  let wrongHead: string | null = null;
  let [position, count] = [0, 0];
  const takeRow = (cells: readonly string[], lines: number): void => {
    if (columns === null) {
      columns = cells.map((column) => column.trim());
      const twice = columns.find((column, index) => column === "" || columns?.indexOf(column) !== index);
      if (twice !== undefined) wrongHead = twice === "" ? "a column has no name" : `the column ${twice} stands twice`;
      return;
    }
    position += 1;
    if (wrongHead !== null) return;
    const line = lines - lineBreaksIn(cells);
    if (cells.length !== columns.length) {
      const message = `has ${cells.length} cells, the header ${columns.length}`;
      problems.push({ line, record: position, field: null, message });
      return;
    }
    count += 1;
    take({
      position,
      line: () => line,
      fields: Object.fromEntries(columns.map((column, at) => [column, cells[at] ?? ""])),
    });
  };
  try {
    parse(bytes, {
      bom: true,
      delimiter: delimiterOf(decode(bytes.subarray(0, headBytes))),
      relax_column_count: true,
      skip_empty_lines: true,
      // Null keeps nothing: all rows as lists of texts take ten times the file.
      on_record: (cells: readonly string[], { lines }) => {
        takeRow(cells, lines);
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error["lines"] === "number" ? error["lines"] : null;
    return { kind: "unreadable", problems: [{ line, record: null, field: null, message: error.message }] };
  }
  if (position === 0) return whole("the file has a header only, and no row");
  if (wrongHead !== null)
    return { kind: "unreadable", problems: [{ line: 1, record: null, field: null, message: wrongHead }] };
  return { kind: "records", format: "csv", count, problems };
}

function lineBreaksIn(record: readonly string[]): number {
  return record.reduce((sum, cell) => sum + (cell.match(/\r\n|\n|\r/g)?.length ?? 0), 0);
}

/** A comma, unless the header has semicolons or tabs and no comma. */
function delimiterOf(text: string): string {
  const [head = ""] = text.split(/\r?\n/, 1);
  if (head.includes(",")) return ",";
  return head.includes(";") ? ";" : head.includes("\t") ? "\t" : ",";
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function whole(message: string): RecordReading {
  return { kind: "unreadable", problems: [{ line: null, record: null, field: null, message }] };
}

function lazily<T extends object>(make: () => T): () => T {
  let made: T | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
