// Crash figures: 20 random kills of `run` on its embedded database, and 20 of one of two workers on Redis. Prints JSON.
// npm run crash -w apps/cli [-- KILLS]
import { setTimeout as sleep } from "node:timers/promises";

import { createRandom, type Random } from "@hallumaze/foundation";
import { openHouse, openLogger, parseEnvironment } from "@hallumaze/runtime";
import { createDatabase, createRedis, findRedis } from "@hallumaze/testkit";

import { type Books, openLedger, openStage, type Spec } from "../test/program-stage.ts";

const kills = Number(process.argv[2] ?? 20);
const cells = 100 * kills;
const longestMs = 6000;
const spec: Spec = {
  models: ["oracle", "dfs-honest"].map((name) => ({ model: `sim/${name}`, params: { latencyMs: 500 } })),
  seeds: [`1..${cells / 2}`],
};

interface Figures {
  readonly mode: string;
  readonly kills: number;
  /** Starts after a kill, the last, undisturbed one included. */
  readonly reruns: number;
  readonly cells: number;
  readonly states: Readonly<Record<string, number>>;
  readonly accepted: number;
  readonly scored: number;
  /** Rows beyond one a cell. */
  readonly duplicates: number;
  readonly exchanges: number;
  readonly repeatedExchanges: number;
  readonly lateDuplicates: number;
  readonly seconds: number;
}

async function killRuns(random: Random): Promise<Figures> {
  const stage = openStage();
  try {
    const startedMs = performance.now();
    const words = ["run", stage.spec("crash", spec), "--json"];
    let killed = 0;
    while (killed < kills) {
      const program = stage.start(words);
      await sleep(random.below(longestMs));
      program.kill("SIGKILL");
      const { signal, err } = await program.ended;
      if (signal !== "SIGKILL") throw new Error(`the run ended before its kill ${killed + 1}:\n${err}`);
      killed += 1;
    }
    const last = await stage.run(words);
    if (last.code !== 0) throw new Error(`the last run ended with ${last.code}:\n${last.err}`);
    await using house = await openHouse(parseEnvironment({ HALLUMAZE_HOME: stage.home }), openLogger("silent"), {});
    return await figures("run, embedded", house.databaseUrl, killed, killed, startedMs);
  } finally {
    await stage.clear();
  }
}

async function killWorkers(random: Random): Promise<Figures> {
  const database = await createDatabase();
  const redis = await createRedis();
  const stage = openStage({ DATABASE_URL: database.url, REDIS_URL: redis.url });
  try {
    await using ledger = await openLedger(database.url);
    const submitted = await stage.run(["submit", stage.spec("crash", spec)]);
    if (submitted.code !== 0) throw new Error(submitted.err);
    const startedMs = performance.now();
    const start = () => stage.start(["worker", "--role", "solve", "--concurrency", "8"]);
    const workers = [start(), start()];
    for (let killed = 0; killed < kills; killed += 1) {
      const victim = random.below(workers.length);
      await sleep(random.below(longestMs));
      workers[victim]?.kill("SIGKILL");
      await workers[victim]?.ended;
      workers[victim] = start();
    }
    await ledger.reach("state = 'done'", cells, 600_000);
    return await figures("workers, Redis", database.url, kills, kills, startedMs);
  } finally {
    await stage.clear();
    await redis.drop();
    await database.drop();
  }
}

async function figures(mode: string, url: string, killed: number, reruns: number, startedMs: number): Promise<Figures> {
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  await using ledger = await openLedger(url);
  const books: Books = await ledger.books("crash");
  const [rows] = await ledger.sql<{ extra: number }>(
    "SELECT (count(*) - count(DISTINCT cell_id))::int AS extra FROM trials WHERE in_grid",
  );
  return {
    mode,
    kills: killed,
    reruns,
    cells: books.cells,
    states: books.states,
    accepted: books.accepted,
    scored: books.scored,
    duplicates: rows?.extra ?? 0,
    exchanges: books.exchanges,
    repeatedExchanges: books.repeated,
    lateDuplicates: books.lateDuplicates,
    seconds,
  };
}

const report = [await killRuns(createRandom("crash of runs"))];
if (findRedis().kind === "installed") report.push(await killWorkers(createRandom("crash of workers")));
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
