import { HalluMazeError } from "@hallumaze/foundation";

/** Codes of the errors that this package throws, beside those of the store. */
export type ArchiveErrorCode =
  | "backup-exists"
  | "backup-unreadable"
  | "backup-damaged"
  | "backup-newer"
  | "restore-not-empty"
  | "pg-dump-missing"
  | "pg-dump-older"
  | "pg-dump-failed"
  | "schema-unknown";

/** An error of a backup, a restore or a prune. */
export class ArchiveError extends HalluMazeError {
  declare readonly code: ArchiveErrorCode;

  constructor(code: ArchiveErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(code, message, options);
  }
}
