import { createHash } from "node:crypto";

import { contentId } from "@hallumaze/foundation";

import { checkFacts } from "./check-facts.ts";
import { mapHumanAggregate, mapHumanLog } from "./human-record.ts";
import type { ImportedFile, ImportedTrial, ImportKind } from "./imported-trial.ts";
import { mapPublished, mapSeed, type MappedTrial, type RecordContext } from "./published-record.ts";
import { type ImportProblem, type RawRecord, readRecords } from "./read-records.ts";
import type { RecordResult } from "./record-fields.ts";

/** How a person names a file's kind; `human` is means or logs, whichever its records are. */
export type ImportWish = "published" | "seed" | "human";

/** What to import, and how. */
export interface ImportRequest {
  readonly fileName: string;
  readonly bytes: Uint8Array;
  /** Null: detected. */
  readonly as: ImportWish | null;
  /** The name of rows that name no model; null where none was given. */
  readonly model: string | null;
  /** True: rows that cannot be read are left out and listed, instead of refusing the file. */
  readonly skipBad: boolean;
}

/** What became of it. */
export type ImportReading =
  | { readonly kind: "ready"; readonly file: ImportedFile; readonly rows: readonly ImportedTrial[] }
  | { readonly kind: "refused"; readonly problems: readonly ImportProblem[] };

/**
 * Reads a file of others' results. Pure: the same bytes and options give the same rows and the same content key.
 *
 * Every bad row is named with its line and field. On one of them nothing is imported, or, with `skipBad`, all but them;
 * a file of bad rows only is always refused.
 */
export function parseImport(request: ImportRequest): ImportReading {
  const { bytes, as, model, skipBad } = request;
  const rows: ImportedTrial[] = [];
  const badRows: ImportProblem[] = [];
  // Undefined before the first record, which decides it.
  let kind: ImportKind | null | undefined;
  const reading = readRecords(bytes, (record) => {
    if (kind === undefined) kind = kindOf(record, as);
    if (kind === null) return;
    const result = mappers[kind](record.fields, { model });
    if (result.kind === "bad") badRows.push(...result.problems.map((problem) => placed(record, problem)));
    // A run of the original program holds several rows: places count rows, not records.
    else
      for (const { record: own, ...row } of result.rows)
        rows.push({ position: rows.length + 1, ...row, recordJson: JSON.stringify(own) });
  });
  if (reading.kind === "unreadable" || kind === undefined) return { kind: "refused", problems: reading.problems };
  if (kind === null) {
    return refused(
      as === null
        ? "its kind is not clear: say --as published, seed or human"
        : "holds other records than --as says; leave it out to have the kind detected",
    );
  }
  const problems = [...reading.problems, ...badRows];
  if (problems.length > 0 && (!skipBad || rows.length === 0)) return { kind: "refused", problems };
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return {
    kind: "ready",
    rows,
    file: {
      fileName: request.fileName,
      sha256,
      byteCount: bytes.length,
      kind,
      format: reading.format,
      contentKey: contentId({ sha256, kind, model, skipBad: problems.length > 0 }),
      skipped: problems.map(problemText),
      warnings: checkFacts(rows),
    },
  };
}

/** A problem in a line of words: `line 4, record 3: mei: expected a number from -0.1 to 1; got "x"`. */
export function problemText({ line, record, field, message }: ImportProblem): string {
  const places = [line === null ? null : `line ${line}`, record === null ? null : `record ${record}`];
  const place = places.filter((word) => word !== null).join(", ");
  return [place, field, message].filter((word) => word !== null && word !== "").join(": ");
}

const mappers: Readonly<
  Record<ImportKind, (fields: RawRecord["fields"], context: RecordContext) => RecordResult<MappedTrial>>
> = { published: mapPublished, seed: mapSeed, humanAggregate: mapHumanAggregate, humanLog: mapHumanLog };

/** What the first record shows it to be; null where that is not clear or not what was asked for. */
function kindOf({ fields }: RawRecord, as: ImportWish | null): ImportKind | null {
  const has = (...names: readonly string[]): boolean => names.some((name) => Object.hasOwn(fields, name));
  if (as === "seed") return has("maze", "results") ? "seed" : null;
  if (has("maze") && has("results")) return as === null ? "seed" : null;
  if (as === "human") return has("log") ? "humanLog" : "humanAggregate";
  if (as === "published") return "published";
  if (has("log")) return "humanLog";
  if (fields["provider"] === "human" || has("n") || has("mei_sd", "sr_sd")) return "humanAggregate";
  return has("seed") && has("mei", "sr") ? "published" : null;
}

function placed(
  record: RawRecord,
  { field, message }: { readonly field: string | null; readonly message: string },
): ImportProblem {
  return { line: record.line(), record: record.position, field, message };
}

function refused(message: string): ImportReading {
  return { kind: "refused", problems: [{ line: null, record: null, field: null, message }] };
}
