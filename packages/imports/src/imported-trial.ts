import type { ProfileName } from "@hallumaze/metrics";

/**
 * What a file holds: `published` trials (JSON list or CSV), the original program's own output (`seed`), means over people
 * (`humanAggregate`), or people's logs (`humanLog`).
 */
export type ImportKind = "published" | "seed" | "humanAggregate" | "humanLog";

/** The metrics of one imported row. Null is not told; it is never 0. */
export interface ImportedScores {
  readonly sr: number | null;
  readonly hc: number | null;
  /** 1-based; -1 where there was no error. */
  readonly fhr: number | null;
  readonly bt: number | null;
  readonly lt: number | null;
  readonly hrr: number | null;
  readonly mei: number | null;
  readonly ce: number | null;
  readonly brs: number | null;
  readonly score: number | null;
}

/** One row of an imported file, as it is kept. Null is not told. */
export interface ImportedTrial {
  /** 1-based place in the file. */
  readonly position: number;
  readonly provider: string | null;
  readonly model: string;
  readonly size: number;
  /** Null for means over several mazes. */
  readonly seed: number | null;
  readonly group: string | null;
  readonly mirage: boolean | null;
  readonly language: string | null;
  readonly confidence: boolean | null;
  readonly participant: string | null;
  /** How many trials it stands for: 1, or the number of people behind a mean. */
  readonly n: number;
  /** How it ended where the file says so: `ok`, `timeout` …; a row with an error has no scores. */
  readonly outcome: string | null;
  readonly latencyMs: number | null;
  /** Others' numbers stand under `published`; a person's log has all three, from our own reader. */
  readonly scores: Readonly<Partial<Record<ProfileName, ImportedScores>>>;
  /** Standard deviations (n - 1) beside means; null for a single trial. */
  readonly deviations: ImportedScores | null;
  /** A person's log as it was written. */
  readonly logText: string | null;
  /** What our reader made of the log, as JSON text, and its version. */
  readonly readingJson: string | null;
  readonly readerVersion: string | null;
  /** The row as the file has it, as JSON text. */
  readonly recordJson: string;
}

/** Where imported rows came from. */
export interface ImportedFile {
  readonly fileName: string;
  /** Of the file's bytes. */
  readonly sha256: string;
  readonly byteCount: number;
  readonly kind: ImportKind;
  readonly format: "json" | "csv";
  /** Hash of the bytes, the kind and the options: the same import is one import. */
  readonly contentKey: string;
  /** Rows that `--skip-bad` left out, in plain words. */
  readonly skipped: readonly string[];
  readonly warnings: readonly string[];
}

/** An import as the ledger holds it. */
export interface StoredImport extends ImportedFile {
  readonly importId: string;
  readonly rowCount: number;
  readonly importedAtMs: number;
}

/** An imported row with the import it is of. */
export interface StoredImportedTrial extends ImportedTrial {
  readonly importId: string;
  readonly kind: ImportKind;
}

/** The part of the ledger that holds imported rows. */
export interface ImportStorePort {
  /** Keeps a file's rows, all or none; `known` where the same import is there, and nothing is changed. */
  addImport(
    file: ImportedFile,
    rows: readonly ImportedTrial[],
  ): Promise<{ readonly kind: "added" | "known"; readonly stored: StoredImport }>;
  /** Every import, oldest first. */
  listImports(): Promise<readonly StoredImport[]>;
  /** Takes an import and its rows away; null where there is none of this id. */
  removeImport(importId: string): Promise<StoredImport | null>;
  /** The rows of some imports, or of all, by import (oldest first) and position, a page at a time. */
  streamImported(pageSize: number, importIds?: readonly string[]): AsyncIterable<readonly StoredImportedTrial[]>;
}

/** A row without a single score: nothing is known, nothing is 0. */
export const noScores: ImportedScores = {
  sr: null,
  hc: null,
  fhr: null,
  bt: null,
  lt: null,
  hrr: null,
  mei: null,
  ce: null,
  brs: null,
  score: null,
};
