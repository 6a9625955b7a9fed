export {
  type ImportedFile,
  type ImportedScores,
  type ImportedTrial,
  type ImportKind,
  type ImportStorePort,
  type StoredImport,
  type StoredImportedTrial,
} from "./imported-trial.ts";
export {
  type ImportReading,
  type ImportRequest,
  type ImportWish,
  parseImport,
  problemText,
} from "./parse-import.ts";
export type { ImportProblem } from "./read-records.ts";
