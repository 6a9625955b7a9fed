import { createDatabase, type DisposableDatabase } from "@hallumaze/testkit";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { checkSchema, migrateDatabase, type Migration, readMigrations } from "./migrate.ts";
import { openStore } from "./open-store.ts";

let database: DisposableDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

async function sql(text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

const names = readMigrations().map((migration) => migration.name);

describe("migrateDatabase", () => {
  it("brings an empty database to the schema, and does nothing the second time", async () => {
    expect(await migrateDatabase(database.url)).toEqual(names);
    expect(await migrateDatabase(database.url)).toEqual([]);
    await checkSchema(database.url);
  });

  it("applies each migration once when three come at the same time", async () => {
    const applied = await Promise.all([1, 2, 3].map(() => migrateDatabase(database.url)));
    // They may take turns.
    expect(applied.flat().toSorted()).toEqual(names);
  });

  it("records what Prisma's own deploy would", async () => {
    await migrateDatabase(database.url);
    const rows = await sql(
      "SELECT migration_name, length(checksum) AS digits, finished_at >= started_at AS ended, applied_steps_count FROM _prisma_migrations",
    );
    expect(rows).toEqual(
      names.map((migration_name) => ({ migration_name, digits: 64, ended: true, applied_steps_count: 1 })),
    );
  });

  it("leaves the queue's schema beside it as it is", async () => {
    await sql("CREATE SCHEMA bullmq; CREATE TABLE bullmq.job (id int); INSERT INTO bullmq.job VALUES (7)");
    await migrateDatabase(database.url);
    expect(await sql("SELECT id FROM bullmq.job")).toEqual([{ id: 7 }]);
  });

  it("adds a later migration to a database of the last release", async () => {
    await migrateDatabase(database.url);
    const later: Migration = {
      name: "99990101000000_later",
      sql: "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1; $$;",
    };
    expect(await migrateDatabase(database.url, [...readMigrations(), later])).toEqual([later.name]);
    expect(await sql("SELECT f()")).toEqual([{ f: 1 }]);
  });

  it("refuses a database that a newer program has made", async () => {
    await migrateDatabase(database.url, [...readMigrations(), { name: "99990101000000_newer", sql: "SELECT 1" }]);
    await expect(migrateDatabase(database.url)).rejects.toMatchObject({ code: "schema-newer", retry: false });
    await expect(openStore({ databaseUrl: database.url, migrate: false })).rejects.toMatchObject({
      code: "schema-newer",
    });
  });

  it("refuses a migration that was edited after it was applied", async () => {
    await migrateDatabase(database.url);
    const edited = readMigrations().map((migration) => ({ ...migration, sql: `${migration.sql} ` }));
    await expect(migrateDatabase(database.url, edited)).rejects.toMatchObject({ code: "migration-edited" });
  });

  it("leaves nothing of a migration that fails half-way, and can be repeated", async () => {
    const broken: Migration = { name: "99990101000000_broken", sql: "CREATE TABLE half (id int); SELECT 1 / 0;" };
    const all = [...readMigrations(), broken];
    await expect(migrateDatabase(database.url, all)).rejects.toMatchObject({ code: "migration-failed" });
    expect(await sql("SELECT to_regclass('half')::text AS half")).toEqual([{ half: null }]);
    const mended = { ...broken, sql: "CREATE TABLE half (id int);" };
    expect(await migrateDatabase(database.url, [...readMigrations(), mended])).toEqual([broken.name]);
  });

  it("finds a foreign table in the way, says what to do, and leaves nothing behind", async () => {
    await sql("CREATE TABLE trials (id int)");
    const failure = migrateDatabase(database.url);
    await expect(failure).rejects.toMatchObject({ code: "migration-failed" });
    await expect(failure).rejects.toThrow(/"trials" already exists.*a database of its own/);
    expect(await sql("SELECT to_regclass('_prisma_migrations')::text AS record")).toEqual([{ record: null }]);
  });

  it("lets a role that may only read, and a read-only server, open a ledger that is up to date", async () => {
    await migrateDatabase(database.url);
    const readOnly = `${database.url}?options=${encodeURIComponent("-c role=pg_read_all_data -c default_transaction_read_only=on")}`;
    const store = await openStore({ databaseUrl: readOnly });
    expect(await store.findSweep("none")).toBeNull();
    await store.close();
  });

  it("tells a role without the right to make tables so, and a database without a schema", async () => {
    const reader = `${database.url}?options=${encodeURIComponent("-c role=pg_read_all_data")}`;
    await expect(migrateDatabase(reader)).rejects.toThrow(/permission denied for schema public/);
    await sql("DROP SCHEMA public");
    await expect(migrateDatabase(database.url)).rejects.toThrow(/has no schema in which/);
  });

  it("names an old schema where it may not change it", async () => {
    await expect(openStore({ databaseUrl: database.url, migrate: false })).rejects.toMatchObject({
      code: "schema-older",
    });
  });
});

describe("openStore", () => {
  it("says within seconds that no server answers, and never the password", async () => {
    const failure = openStore({ databaseUrl: "postgres://me:s3cret@127.0.0.1:1/ledger" });
    await expect(failure).rejects.toMatchObject({ code: "database-unreachable", retry: true });
    await expect(failure).rejects.toThrow(/127\.0\.0\.1:1\/ledger/);
    await expect(failure).rejects.not.toThrow(/s3cret/);
  });

  it("says that a password is refused, and that a database is missing", async () => {
    const wrong = new URL(database.url);
    wrong.password = "wrong";
    await expect(openStore({ databaseUrl: wrong.href })).rejects.toThrow(/refused this user or password/);
    const missing = new URL(database.url);
    missing.pathname = "/no_such_database";
    await expect(openStore({ databaseUrl: missing.href })).rejects.toThrow(/has no database no_such_database/);
  });

  it("refuses what is no connection URL without quoting it", async () => {
    await expect(openStore({ databaseUrl: "mysql://me:s3cret@host/x" })).rejects.toMatchObject({
      code: "database-url",
    });
    await expect(openStore({ databaseUrl: "mysql://me:s3cret@host/x" })).rejects.not.toThrow(/s3cret/);
  });

  it("answers a ping with the server's clock beside it, and refuses work after it was closed", async () => {
    const store = await openStore({ databaseUrl: database.url });
    await store.ping(5000);
    const [row] = await sql("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now");
    expect(Math.abs((await store.serverTimeMs()) - Number(row?.["now"]))).toBeLessThan(10_000);
    await store.close();
    await store.close();
    await expect(store.ping(5000)).rejects.toMatchObject({ code: expect.any(String) as string });
  });

  it("knows a database by one id in every process, and another by another", async () => {
    const other = await createDatabase();
    const stores = await Promise.all(
      [database.url, database.url, other.url].map((databaseUrl) => openStore({ databaseUrl })),
    );
    const ids = stores.map((store) => store.ledgerId);
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
    await Promise.all(stores.map((store) => store.close()));
    await other.drop();
  });

  it("says that a read-only database is one, and that waiting may help", async () => {
    const store = await openStore({ databaseUrl: database.url });
    const url = new URL(database.url);
    await sql(`ALTER DATABASE ${url.pathname.slice(1)} SET default_transaction_read_only = on`);
    const readOnly = await openStore({ databaseUrl: database.url, migrate: false });
    const sweep = { name: "x", specJson: "{}", maxTries: 1, maxEmptyRetries: 0, fresh: false } as const;
    const provenance = { gitCommit: null, gitDirty: null, programVersion: "1", nodeVersion: "20" };
    await expect(readOnly.openSweep({ ...sweep, provenance })).rejects.toMatchObject({
      code: "database-read-only",
      retry: true,
    });
    await Promise.all([store.close(), readOnly.close()]);
  });
});
