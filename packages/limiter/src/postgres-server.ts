import pg from "pg";

import { toLimiterError, withinDeadline } from "./errors.ts";
import type { LaneServer } from "./lane-server.ts";
import type { LimiterSettings } from "./settings.ts";
import { schemaLock, sqlSchema, sqlSchemaHash } from "./sql-schema.ts";

/** Connections of a process. A lane is one row, so more would only wait for its lock in the server. */
const connections = 3;

/**
 * Opens lanes in schema `limiter` of a database; makes or updates that schema first, one process at a time.
 *
 * Rejects with `limiter-unreachable` or `limiter-refused`.
 */
export async function openPostgresServer(
  url: string,
  settings: LimiterSettings,
  onError: (error: unknown) => void,
): Promise<LaneServer> {
  const pool = new pg.Pool({ ...sessionOf(url, settings.requestTimeoutMs), max: connections });
  pool.on("error", (error) => onError(toLimiterError(error, url)));
  try {
    await withinDeadline(makeSchema(pool), settings.requestTimeoutMs + 20_000, url);
  } catch (error) {
    void pool.end().catch(() => undefined);
    throw error;
  }

  const call = async (name: string, ...values: readonly unknown[]): Promise<Readonly<Record<string, unknown>>> => {
    const places = values.map((_, index) => `$${index + 1}`).join(", ");
    // Named, so that a connection plans it once.
    const text = `SELECT * FROM limiter.${name}(${places}) AS answer`;
    const query = pool.query({ name: `limiter.${name}`, text, values: [...values] });
    const { rows } = await withinDeadline(query, settings.requestTimeoutMs, url);
    return rows[0] ?? {};
  };
  const minute = settings.minuteMs;

  return {
    reserve: async ({ lane, id, inputTokens, outputTokens, tenant, weight, configured }) => {
      const { leaseMs, reservationMs } = settings;
      const answer = await call(
        "reserve",
        lane,
        minute,
        id,
        inputTokens,
        outputTokens,
        tenant,
        weight,
        leaseMs,
        reservationMs,
        configured,
      );
      const number = (field: string) => (typeof answer[field] === "number" ? answer[field] : null);
      return {
        kind: String(answer["kind"]),
        afterMs: number("ms") ?? 0,
        dimension: number("bound"),
        amount: number("amount"),
        limit: number("cap"),
      };
    },
    configure: async (lane, limits) => void (await call("configure", lane, minute, limits)),
    settle: async (lane, id, input, output) => void (await call("settle", lane, minute, id, input, output)),
    cancel: async (lane, id) => void (await call("cancel", lane, minute, id)),
    renew: async (lane, ids) => void (await call("renew", lane, ids, settings.leaseMs, settings.reservationMs)),
    cool: async (lane, forMs, shrink) => void (await call("cool", lane, minute, forMs, shrink)),
    learn: async (lane, readings) => {
      const column = (index: number) => readings.map((reading) => reading[index] ?? null);
      await call("learn", lane, minute, column(0), column(1), column(2));
    },
    park: async (lane, reason, afterMs) => (await call("park", lane, reason, afterMs))["answer"] === true,
    resume: async (lane) => (await call("resume", lane, minute))["answer"] === true,
    use: async (lane) => (await call("use_of", lane, minute))["answer"],
    close: () => pool.end(),
  };
}

async function makeSchema(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock($1)", [schemaLock]);
    if (!(await isCurrent(client))) {
      await client.query(sqlSchema);
      await client.query("DELETE FROM limiter.version");
      await client.query("INSERT INTO limiter.version VALUES ($1)", [sqlSchemaHash]);
    }
    await client.query("COMMIT");
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function isCurrent(client: pg.PoolClient): Promise<boolean> {
  const found = await client.query("SELECT to_regclass('limiter.version') IS NOT NULL AS there");
  if (found.rows[0]?.there !== true) return false;
  const { rows } = await client.query("SELECT 1 FROM limiter.version WHERE hash = $1", [sqlSchemaHash]);
  return rows.length === 1;
}

/** Our own session settings, after those that the URL brings along. */
function sessionOf(url: string, requestTimeoutMs: number): pg.ClientConfig {
  const address = new URL(url);
  // pg lets the URL's options replace ours as a whole, so both go into one string.
  const theirs = address.searchParams.get("options") ?? "";
  address.searchParams.delete("options");
  return {
    connectionString: address.href,
    // A crash may forget the last instants of use: cheaper than a flush for each request and settlement.
    options: `${theirs} -c synchronous_commit=off`.trim(),
    application_name: "hallumaze-limiter",
    connectionTimeoutMillis: requestTimeoutMs,
    query_timeout: requestTimeoutMs + 20_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}
