import { randomUUID } from "node:crypto";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";

import { type EmbeddedPostgres, openEmbeddedPostgres } from "@hallumaze/store";
import pg from "pg";

/** An empty database of its own, on a real PostgreSQL. */
export interface DisposableDatabase {
  readonly url: string;
  /** Removes the database, with whatever is still connected to it. */
  readonly drop: () => Promise<void>;
}

let databases = 0;
let shared: Promise<EmbeddedPostgres> | null = null;

/**
 * Creates an empty database on the server of `TEST_DATABASE_URL`, or else on an embedded one that all test processes of
 * this user share: the first starts it, the last stops it. Nothing in it outlives a test, so it does not wait for disks.
 */
export async function createDatabase(): Promise<DisposableDatabase> {
  const server = await openServer();
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  try {
    await runOn(server.url, `CREATE DATABASE ${name} TEMPLATE template0`);
  } catch (error) {
    await server.leave();
    throw error;
  }
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => {
      try {
        await runOn(server.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      } finally {
        await server.leave();
      }
    },
  };
}

async function openServer(): Promise<{ readonly url: string; readonly leave: () => Promise<void> }> {
  const given = process.env["TEST_DATABASE_URL"];
  if (given !== undefined && given !== "") return { url: given, leave: async () => undefined };
  databases += 1;
  shared ??= openEmbeddedPostgres({
    home: path.join(tmpdir(), `hallumaze-test-${userInfo().username}`),
    settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off" },
  });
  let server: EmbeddedPostgres;
  try {
    server = await shared;
  } catch (error) {
    databases -= 1;
    shared = null;
    throw error;
  }
  return {
    url: server.url,
    leave: async () => {
      databases -= 1;
      if (databases > 0) return;
      shared = null;
      await server.close();
    },
  };
}

async function runOn(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
