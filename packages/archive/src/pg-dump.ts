import { spawn } from "node:child_process";
import { rename, rm, stat } from "node:fs/promises";
import { text } from "node:stream/consumers";

import { describeDatabase, migrateDatabase, toStoreError } from "@hallumaze/store";

import { openClient, readStart, refuseExisting } from "./back-up.ts";
import { ArchiveError } from "./errors.ts";
import { recordName } from "./ledger-tables.ts";
import { makeEmpty, type RestoreReport } from "./restore.ts";

/** Schemas that queue and limits make anew by themselves. */
const passing = ["bullmq", "limiter"];

/**
 * Saves the database with PostgreSQL's own `pg_dump`, in its custom format, where one of the server's version or a newer
 * one is on the PATH; queue and limits are left out. Throws `pg-dump-missing`, `pg-dump-older` or `pg-dump-failed`.
 */
export async function backUpWithPgDump(
  databaseUrl: string,
  file: string,
  options: { readonly variables: Variables; readonly signal: AbortSignal },
): Promise<{ readonly file: string; readonly fileBytes: number; readonly tool: string }> {
  await refuseExisting(file);
  const tool = await requireTool("pg_dump", databaseUrl, options.variables);
  const draft = `${file}.${process.pid}.partial`;
  try {
    const without = passing.map((schema) => `--exclude-schema=${schema}`);
    const words = ["--format=custom", "--no-owner", "--no-privileges", ...without, `--file=${draft}`];
    await run("pg_dump", words, databaseUrl, options);
    const { size } = await stat(draft);
    await rename(draft, file);
    return { file, fileBytes: size, tool };
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** True for a file that `pg_dump` wrote in its custom format. SOURCE: PostgreSQL, src/bin/pg_dump/pg_backup_archiver.c. */
export async function isPgDump(file: string): Promise<boolean> {
  return (await readStart(file, 5)).toString("latin1") === "PGDMP";
}

/** Brings a file of `pg_dump` into an empty database, in one transaction, and then to the program's schema. */
export async function restoreWithPgRestore(
  databaseUrl: string,
  file: string,
  options: { readonly variables: Variables; readonly signal: AbortSignal },
): Promise<RestoreReport> {
  await requireTool("pg_restore", databaseUrl, options.variables);
  const client = openClient(databaseUrl);
  try {
    await client.connect();
    await client.query("BEGIN");
    await makeEmpty(client, databaseUrl);
    await client.query("COMMIT");
    const words = ["--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges", file];
    await run("pg_restore", words, databaseUrl, options);
    const migrated = await migrateDatabase(databaseUrl);
    const { rows } = await client.query<{ readonly id: string }>(
      `SELECT id FROM ${recordName} ORDER BY started_at, id LIMIT 1`,
    );
    await client.query("ANALYZE");
    return { ledgerId: rows[0]?.id ?? "", takenAt: null, rows: {}, migrated };
  } catch (error) {
    throw error instanceof ArchiveError ? error : toStoreError(error, databaseUrl);
  } finally {
    await client.end().catch(() => undefined);
  }
}

type Variables = Readonly<Record<string, string | undefined>>;
type Tool = "pg_dump" | "pg_restore";

/** Gives the tool's name with its version. */
async function requireTool(tool: Tool, databaseUrl: string, variables: Variables): Promise<string> {
  const server = await readServerVersion(databaseUrl);
  const advice = `Install PostgreSQL's client programs of version ${server}, or leave --pg-dump out: the program's own copy needs nothing.`;
  const { code, out } = await start(tool, ["--version"], variables, AbortSignal.timeout(10_000)).catch(() => {
    throw new ArchiveError("pg-dump-missing", `There is no ${tool} on the PATH. ${advice}`);
  });
  const version = Number(/\(PostgreSQL\) (\d+)/.exec(out)?.[1]);
  if (code !== 0 || Number.isNaN(version)) {
    throw new ArchiveError("pg-dump-missing", `${tool} --version does not say its version. ${advice}`);
  }
  if (version < server) {
    throw new ArchiveError(
      "pg-dump-older",
      `${tool} is of version ${version}, and the server at ${describeDatabase(databaseUrl)} of version ${server}: an older one refuses it. ${advice}`,
    );
  }
  return `${tool} ${version}`;
}

async function readServerVersion(databaseUrl: string): Promise<number> {
  const client = openClient(databaseUrl);
  try {
    await client.connect();
    const { rows } = await client.query<{ readonly major: number }>(
      "SELECT current_setting('server_version_num')::int / 10000 AS major",
    );
    return rows[0]?.major ?? 0;
  } catch (error) {
    throw toStoreError(error, databaseUrl);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The password goes through the environment: other users of the machine can read a process' words. */
async function run(
  tool: Tool,
  words: readonly string[],
  databaseUrl: string,
  options: { readonly variables: Variables; readonly signal: AbortSignal },
): Promise<void> {
  const url = new URL(databaseUrl);
  const password = decodeURIComponent(url.password);
  url.password = "";
  const variables = { ...options.variables, ...(password !== "" && { PGPASSWORD: password }) };
  const { code, err } = await start(tool, [`--dbname=${url.href}`, ...words], variables, options.signal);
  if (code === 0) return;
  throw new ArchiveError(
    "pg-dump-failed",
    `${tool} ended with code ${code}: ${err.trim().split("\n").slice(0, 3).join(" ")}`,
  );
}

async function start(
  tool: Tool,
  words: readonly string[],
  variables: Variables,
  signal: AbortSignal,
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const child = spawn(tool, [...words], { env: { ...variables }, stdio: ["ignore", "pipe", "pipe"], signal });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, out, err };
}
