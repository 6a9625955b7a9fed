export { type EmbeddedPostgres, openEmbeddedPostgres } from "./embedded/open-embedded-postgres.ts";
export { storeEnv } from "./env.ts";
export { describeDatabase, StoreError, type StoreErrorCode } from "./errors.ts";
export { checkSchema, type Migration, migrateDatabase, readMigrations } from "./migrate.ts";
export { type Ledger, openStore, type OpenStoreOptions } from "./open-store.ts";
export { describeThisProcess, isKnownDead } from "./process-identity.ts";
