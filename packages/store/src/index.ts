export { type EmbeddedPostgres, openEmbeddedPostgres } from "./embedded/open-embedded-postgres.ts";
export { describeDatabase, StoreError, type StoreErrorCode, toStoreError } from "./errors.ts";
export {
  applyMigration,
  checkSchema,
  checksumOf,
  type Migration,
  migrateDatabase,
  migrationLock,
  readMigrations,
  recordTable,
} from "./migrate.ts";
export { type Ledger, openStore, type OpenStoreOptions, storeEnv } from "./open-store.ts";
export { describeThisProcess, isKnownDead } from "./process-identity.ts";
export { decodeText, encodeText } from "./storable-text.ts";
