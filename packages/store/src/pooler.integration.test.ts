// The store behind a PgBouncer in transaction mode, where no two statements need meet the same session.
import { createCertificates, createDatabase, createPgBouncer, findTool } from "@hallumaze/testkit";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";

import { cell, claim, done, exchange, openStage, submit } from "../test/ledger-stage.ts";
import { migrateDatabase, readMigrations } from "./migrate.ts";
import { openStore, storeEnv } from "./open-store.ts";

const tool = findTool("pgbouncer");

async function openBouncer(options: Parameters<typeof createPgBouncer>[1] = {}) {
  const database = await createDatabase();
  onTestFinished(database.drop);
  const bouncer = await createPgBouncer(database.url, options);
  onTestFinished(bouncer.drop);
  return { directUrl: database.url, databaseUrl: bouncer.url };
}

describe.runIf(tool.kind === "installed")(
  tool.kind === "missing" ? `A pooler, not run: ${tool.reason}` : "A pooler",
  () => {
    it("twenty connections over two of the server's claim, keep and end each trial once", async () => {
      const stage = await openStage();
      onTestFinished(stage.close);
      const bouncer = await createPgBouncer(stage.url, { servers: 2 });
      onTestFinished(bouncer.drop);
      const pooled = { databaseUrl: bouncer.url, directUrl: stage.url, poolSize: 10 };
      const stores = [await stage.openAnother(pooled), await stage.openAnother(pooled)] as const;
      const { queued } = await submit(
        stores[0],
        "pooled",
        Array.from({ length: 120 }, (_, at) => cell(`pooled ${at}`)),
      );
      const ended = await Promise.all(
        queued.map(async (trial, at) => {
          const store = stores[at % 2 === 0 ? 0 : 1];
          const held = await claim(store, trial, `host/${at}/1`);
          const other = await stores[at % 2 === 0 ? 1 : 0].claim({ ...trial, workerId: "host/0/0", leaseMs: 1000 });
          await store.renew([held], 60_000);
          await store.recordExchange(exchange(held));
          await store.endTry(held.trialId, held.fence, done());
          return other.kind;
        }),
      );
      expect(new Set(ended)).toEqual(new Set(["later"]));
      expect(await stage.sql("SELECT state::text, count(*)::int FROM trials GROUP BY state")).toEqual([
        { state: "done", count: 120 },
      ]);
    });

    it("a pooler that is named as the database itself is refused with the variable to set", async () => {
      const { databaseUrl } = await openBouncer();
      await migrateDatabase(databaseUrl);
      await expect(openStore({ databaseUrl })).rejects.toMatchObject({
        code: "database-url",
        message: expect.stringContaining("DATABASE_DIRECT_URL"),
      });
    });

    it("four processes migrate through it at once: each migration is applied once, and no lock is left", async () => {
      const { directUrl, databaseUrl } = await openBouncer();
      const applied = await Promise.all([1, 2, 3, 4].map(() => migrateDatabase(databaseUrl)));
      expect(applied.flat().toSorted()).toEqual(readMigrations().map(({ name }) => name));
      const client = new pg.Client({ connectionString: directUrl });
      await client.connect();
      const { rows } = await client.query(
        `SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = pg_locks.database
       WHERE locktype = 'advisory' AND datname = current_database()`,
      );
      await client.end();
      expect(rows).toEqual([]);
    });

    it("TLS to it is checked with the named authority, and its lack said in plain words", async () => {
      const certificates = createCertificates();
      onTestFinished(certificates.drop);
      const { directUrl, databaseUrl } = await openBouncer({ certificates });
      const over = (query: string) => `${databaseUrl}?${query}`;
      const store = await openStore({
        databaseUrl: over(`sslmode=require&sslrootcert=${encodeURIComponent(certificates.caFile)}`),
        directUrl,
      });
      onTestFinished(() => store.close());
      await store.ping(5000);
      await expect(openStore({ databaseUrl: over("sslmode=verify-full"), directUrl })).rejects.toMatchObject({
        code: "database-url",
        message: expect.stringContaining("sslrootcert"),
      });
      const unread = storeEnv.DATABASE_URL.safeParse(over("sslmode=require&sslrootcert=/nowhere.pem"));
      expect(unread.error?.issues[0]?.message).toContain("cannot be read");
    });
  },
);
