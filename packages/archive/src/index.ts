export { backUp, type BackupReport, inspectBackup } from "./back-up.ts";
export { ArchiveError, type ArchiveErrorCode } from "./errors.ts";
export { backUpWithPgDump, isPgDump, restoreWithPgRestore } from "./pg-dump.ts";
export { prune, type PruneReport, type PruneWish } from "./prune.ts";
export { restore, type RestoreReport } from "./restore.ts";
