// Sweep throughput: our workers against a bare BullMQ worker that makes one claim-update and two inserts of the same
// bytes a job; submission against bare addBulk and bare multi-row inserts. Redis and Postgres, real processes.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { submitSweep } from "@hallumaze/engine";
import { openHouse, openLogger, parseEnvironment } from "@hallumaze/runtime";
import { expandCells, parseSpec } from "@hallumaze/sweep";
import { createDatabase } from "@hallumaze/testkit";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import pg from "pg";

import { type BareRow, bareQueueName, bareSchema } from "./bare.ts";

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly ratio?: number;
  readonly against?: string;
}

const trials = 3000;
const submitCells = 20_000;
const concurrency = 50;
const bin = fileURLToPath(new URL("../bin/hallumaze.js", import.meta.url));
const register = new URL("../bin/register-typescript.js", import.meta.url).href;
const bareWorker = fileURLToPath(new URL("./bare-worker.ts", import.meta.url));

/** Measures on Redis and Postgres; without Redis nothing is measured. */
export async function bench(environment: {
  readonly redisUrl: string | null;
  readonly databaseUrl: string | null;
}): Promise<readonly Figure[]> {
  if (environment.redisUrl === null) return [];
  const database = await createDatabase();
  const redis = new Redis(environment.redisUrl);
  try {
    await redis.flushall();
    const stage: Stage = { redisUrl: environment.redisUrl, databaseUrl: database.url, redis };
    const ours1 = await ourThroughput(stage, "one", 1);
    const rows = await sampleRows(database.url);
    const bare1 = await bareThroughput(stage, rows, 1);
    const ours2 = await ourThroughput(stage, "two", 2);
    const bare2 = await bareThroughput(stage, rows, 2);
    const submit = await submitThroughput(stage);
    return [
      {
        name: "sweep, 1 worker process",
        value: ours1,
        unit: "trials/s",
        ratio: ours1 / bare1,
        against: "of bare BullMQ + pg",
      },
      { name: "bare, 1 worker process", value: bare1, unit: "jobs/s" },
      {
        name: "sweep, 2 worker processes",
        value: ours2,
        unit: "trials/s",
        ratio: ours2 / ours1,
        against: "of one process",
      },
      {
        name: "bare, 2 worker processes",
        value: bare2,
        unit: "jobs/s",
        ratio: bare2 / bare1,
        against: "of one process",
      },
      {
        name: "submit",
        value: submit.ours,
        unit: "cells/s",
        ratio: submit.ours / submit.bare,
        against: "of bare addBulk + insert",
      },
      { name: "bare submit", value: submit.bare, unit: "cells/s" },
    ];
  } finally {
    redis.disconnect();
    await database.drop();
  }
}

interface Stage {
  readonly redisUrl: string;
  readonly databaseUrl: string;
  readonly redis: Redis;
}

function specText(name: string, count: number, first: number): string {
  return `{"name":"${name}","models":["sim/dfs-honest"],"seeds":["${first}..${first + count - 1}"],"sizes":[7],"groups":["A"],"mirage":true}`;
}

async function submit(stage: Stage, name: string, count: number, first: number): Promise<number> {
  const { spec } = parseSpec(specText(name, count, first), { fileName: "bench.json" });
  const variables = { DATABASE_URL: stage.databaseUrl, REDIS_URL: stage.redisUrl };
  await using house = await openHouse(parseEnvironment(variables), openLogger("error"), {});
  const startedMs = performance.now();
  await submitSweep(house, spec, {
    provenance: { gitCommit: null, gitDirty: null, programVersion: "bench", nodeVersion: process.version },
    fresh: true,
    rehearsal: false,
    signal: new AbortController().signal,
  });
  return performance.now() - startedMs;
}

async function ourThroughput(stage: Stage, name: string, processes: number): Promise<number> {
  await submit(stage, name, trials, 1_000_000 * processes);
  const start = (): ChildProcess =>
    spawn(process.execPath, [bin, "worker", "--role", "solve", "--concurrency", String(concurrency)], {
      env: { ...process.env, DATABASE_URL: stage.databaseUrl, REDIS_URL: stage.redisUrl },
      stdio: ["ignore", "inherit", "ignore"],
    });
  const finished = `SELECT extract(epoch FROM finished_at) * 1000 AS at FROM trials t JOIN sweeps s ON s.id = t.sweep_id
    WHERE s.name = '${name}' AND finished_at IS NOT NULL ORDER BY finished_at`;
  return measure(stage, processes, start, finished);
}

async function bareThroughput(stage: Stage, rows: readonly BareRow[], processes: number): Promise<number> {
  const pool = new pg.Pool({ connectionString: stage.databaseUrl, max: 2 });
  try {
    await pool.query(bareSchema);
    await pool.query("INSERT INTO bare_rows SELECT row_number() OVER (), value FROM json_array_elements($1::json)", [
      JSON.stringify(rows),
    ]);
    await pool.query("INSERT INTO bare_trials SELECT n, 'queued', 0, NULL, NULL, NULL FROM generate_series(1, $1) n", [
      trials,
    ]);
  } finally {
    await pool.end();
  }
  const queue = new Queue(bareQueueName, { connection: { url: stage.redisUrl } });
  for (let from = 0; from < trials; from += 1000) {
    await queue.addBulk(
      Array.from({ length: Math.min(1000, trials - from) }, (_, offset) => ({
        name: "deliver",
        data: { trialId: from + offset + 1 },
        opts: { removeOnComplete: true },
      })),
    );
  }
  await queue.close();
  const start = (): ChildProcess =>
    spawn(
      process.execPath,
      ["--import", register, bareWorker, stage.redisUrl, stage.databaseUrl, String(concurrency)],
      {
        stdio: ["ignore", "inherit", "inherit"],
      },
    );
  const finished =
    "SELECT extract(epoch FROM finished_at) * 1000 AS at FROM bare_trials WHERE finished_at IS NOT NULL ORDER BY finished_at";
  return measure(stage, processes, start, finished);
}

/** Rate between the moments when 10 % and 95 % were finished: start-up and the last stragglers measure neither. */
async function measure(
  stage: Stage,
  processes: number,
  start: () => ChildProcess,
  finishedSql: string,
): Promise<number> {
  const workers = Array.from({ length: processes }, start);
  const client = new pg.Client({ connectionString: stage.databaseUrl });
  await client.connect();
  try {
    for (const deadlineMs = Date.now() + 300_000; ; ) {
      const { rows } = await client.query<{ count: string }>(`SELECT count(*) FROM (${finishedSql}) f`);
      if (Number(rows[0]?.count) >= trials) break;
      if (Date.now() > deadlineMs) throw new Error(`only ${rows[0]?.count} of ${trials} finished in 300 s`);
      await sleep(200);
    }
    const { rows } = await client.query<{ at: string }>(finishedSql);
    const times = rows.map((row) => Number(row.at));
    const first = Math.floor(trials * 0.1);
    const last = Math.floor(trials * 0.95);
    return ((last - first) / ((times[last] ?? 0) - (times[first] ?? 0))) * 1000;
  } finally {
    for (const worker of workers) worker.kill("SIGTERM");
    await Promise.all(workers.filter((worker) => worker.exitCode === null).map((worker) => once(worker, "exit")));
    await client.end();
  }
}

/** The texts of real trials, so that the bare worker writes the same bytes. */
async function sampleRows(databaseUrl: string): Promise<readonly BareRow[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<BareRow>(
      `SELECT e.request_json AS request, e.raw_body AS body, e.text, r.reading_json AS reading
       FROM exchanges e JOIN readings r USING (trial_id) LIMIT 100`,
    );
    return rows;
  } finally {
    await client.end();
  }
}

async function submitThroughput(stage: Stage): Promise<{ readonly ours: number; readonly bare: number }> {
  const oursMs = await submit(stage, "submit", submitCells, 50_000_000);
  const { spec } = parseSpec(specText("bare", submitCells, 60_000_000), { fileName: "bench.json" });
  const cells = [...expandCells(spec, { rehearsal: false })];
  const pool = new pg.Pool({ connectionString: stage.databaseUrl, max: 2 });
  const queue = new Queue("bare-submit", { connection: { url: stage.redisUrl } });
  try {
    const startedMs = performance.now();
    for (let from = 0; from < cells.length; from += 2000) {
      const batch = cells.slice(from, from + 2000);
      await pool.query(
        `INSERT INTO bare_cells SELECT c->>'cellId', c->>'alias', c->>'lane', (c->>'ordinal')::int, c->'plan'
         FROM json_array_elements($1::json) c ON CONFLICT DO NOTHING`,
        [JSON.stringify(batch)],
      );
      await queue.addBulk(
        batch.map((cell) => ({
          name: "deliver",
          data: { trialId: cell.cellId },
          opts: { jobId: cell.cellId, removeOnComplete: true },
        })),
      );
    }
    const bareMs = performance.now() - startedMs;
    return { ours: (submitCells / oursMs) * 1000, bare: (submitCells / bareMs) * 1000 };
  } finally {
    await queue.close();
    await pool.end();
  }
}
