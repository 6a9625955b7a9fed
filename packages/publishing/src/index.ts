export { type DataCardFacts, dataCard } from "./data-card.ts";
export { type DataFolderFacts, type DataFolderReport, writeDataFolder } from "./data-folder.ts";
export { PublishingError } from "./errors.ts";
export {
  checkManifest,
  type Manifest,
  type ManifestCheck,
  type ManifestEntry,
  manifestFile,
  readManifest,
  writeManifest,
} from "./manifest.ts";
export { type TrialColumn, trialColumns } from "./trial-columns.ts";
export { type ParquetReport, writeTrialParquet } from "./trial-parquet.ts";
