// How long `status` takes and what `export` keeps in memory on ledgers far larger than a test's: a real sweep of 24 trials
// is multiplied by SQL, with its exchanges, readings and scores.
// npm run scale -w apps/cli [-- status|export|report [TRIALS]]
import { statSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";

import { openHouse, openLogger, parseEnvironment } from "@hallumaze/runtime";
import { createDatabase } from "@hallumaze/testkit";

import { type Ledger, openLedger, openStage, type Stage } from "../test/program-stage.ts";
import { costOf } from "./process-memory.ts";

const what = process.argv[2] ?? "status";
const trials = Number(process.argv[3] ?? (what === "export" ? 200_000 : 1_000_000));
/** Other, small sweeps beside the large one. */
const smallSweeps = 200;
const name = "large";
const solvers = ["dfs-honest", "random-walk", "wall-follower", "greedy-se"].map((solver) => `sim/${solver}`);
const smallGrid = { models: solvers, seeds: ["1..6"] };
/** A report compares models and conditions: a grid of 96 cells a seed, copied over seeds, each a maze of its own. */
const paperGrid = {
  models: [...solvers, ...["oracle", "mirage-prone", "overconfident", "calibrated"].map((solver) => `sim/${solver}`)],
  seeds: ["1..4"],
  sizes: [5, 7, 9],
  mirage: [true, false],
  languages: ["ko", "en"],
};

const database = await createDatabase();
const stage = openStage({ DATABASE_URL: database.url });
try {
  await using ledger = await openLedger(database.url);
  await mustRun(stage, ["run", stage.spec(name, what === "report" ? paperGrid : smallGrid)]);
  const fillStartedMs = performance.now();
  const rows = await multiply(ledger, trials);
  const fillSeconds = Math.round((performance.now() - fillStartedMs) / 1000);
  const report = await measure(ledger);
  process.stdout.write(
    `${JSON.stringify({ what, ...rows, fillSeconds, loadAverage: loadavg(), ...report }, null, 2)}\n`,
  );
} finally {
  await stage.clear();
  await database.drop();
}

/** Copies the sweep's done trials under new cells and seeds until there are `wanted`; triggers rest, and all is counted at the end. */
async function multiply({ sql }: Ledger, wanted: number) {
  const [found] = await sql<{ count: number }>("SELECT count(*)::int AS count FROM trials WHERE state = 'done'");
  const copies = Math.ceil(wanted / (found?.count ?? 1)) - 1;
  const filled = ["trials", "exchanges", "readings", "scores"];
  for (const table of filled) await sql(`ALTER TABLE ${table} DISABLE TRIGGER ALL`);
  await sql(`CREATE TABLE copies AS
    SELECT t.id AS old_id, t.accepted_exchange_id AS old_exchange, gen_random_uuid() AS id, gen_random_uuid() AS exchange_id, n
    FROM trials t CROSS JOIN generate_series(1, ${copies}) n WHERE t.state = 'done'`);
  // One in 20 has failed, one in 50 is still open, one in 500 is blocked.
  await insertCopies(sql, "trials", "c.old_id = r.id", {
    id: "c.id",
    cell_id: "r.cell_id || '/' || c.n",
    seed: "r.seed + 100 * c.n",
    plan: "jsonb_set(r.plan::jsonb, '{seed}', to_jsonb(r.seed + 100 * c.n))::json",
    ordinal: "c.n",
    state:
      "CASE WHEN c.n % 500 = 7 THEN 'blocked' WHEN c.n % 50 = 3 THEN 'queued' WHEN c.n % 20 = 5 THEN 'failed' ELSE 'done' END::trial_state",
    outcome:
      "CASE WHEN c.n % 500 = 7 THEN 'auth' WHEN c.n % 50 = 3 THEN NULL WHEN c.n % 20 = 5 THEN 'timeout' ELSE r.outcome END",
    message: "CASE WHEN c.n % 20 = 5 THEN 'no answer within 900 s' END",
    accepted_exchange_id: "c.exchange_id",
  });
  await insertCopies(sql, "exchanges", "c.old_exchange = r.id", {
    id: "c.exchange_id",
    trial_id: "c.id",
    sequence: null,
  });
  await insertCopies(sql, "readings", "c.old_id = r.trial_id", { trial_id: "c.id" });
  // Shaken, so that mazes differ as real ones do: copies of a few values would be quick to resample and small to hold.
  const shaken = ["mei", "hrr", "ce", "brs", "score"].map((column) => [
    column,
    `round((r.${column} * (0.8 + 0.2 * random()))::numeric, ${column === "score" ? 6 : 4})`,
  ]);
  await insertCopies(sql, "scores", "c.old_id = r.trial_id", { trial_id: "c.id", ...Object.fromEntries(shaken) });
  for (const table of filled) await sql(`ALTER TABLE ${table} ENABLE TRIGGER ALL`);
  await sql("DROP TABLE copies");
  const startedMs = performance.now();
  await sql("SELECT hallumaze_recount()");
  const recountSeconds = Math.round((performance.now() - startedMs) / 100) / 10;
  await sql("VACUUM ANALYZE");
  const [rows] = await sql<{ trials: number; exchanges: number; scores: number; databaseMb: number }>(
    `SELECT (SELECT count(*)::int FROM trials) AS trials, (SELECT count(*)::int FROM exchanges) AS exchanges,
       (SELECT count(*)::int FROM scores) AS scores, (pg_database_size(current_database()) / 1000000)::int AS "databaseMb"`,
  );
  return { ...rows, recountSeconds };
}

/** Inserts a table's rows once a copy; `changes` are its columns of another value, null those left to their default. */
async function insertCopies(
  sql: Ledger["sql"],
  table: string,
  on: string,
  changes: Readonly<Record<string, string | null>>,
): Promise<void> {
  const found = await sql<{ column: string }>(
    `SELECT attname AS column FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attnum > 0 AND NOT attisdropped`,
  );
  const columns = found.map(({ column }) => column).filter((column) => changes[column] !== null);
  const values = columns.map((column) => changes[column] ?? `r."${column}"`);
  await sql(
    `INSERT INTO ${table} (${columns.map((column) => `"${column}"`).join(", ")})
     SELECT ${values.join(", ")} FROM ${table} r JOIN copies c ON ${on}`,
  );
}

async function measure(ledger: Ledger): Promise<object> {
  switch (what) {
    case "export":
      return measureRuns(["jsonl", "csv", "parquet"].map((format) => ["export", name, "--format", format]));
    case "report":
      return measureRuns([["report", name]]);
    default:
      return measureStatus(ledger);
  }
}

async function measureStatus(ledger: Ledger) {
  const timed: Record<string, number> = {};
  // The first look after the fill reads cold pages; three, of which the slowest counts.
  for (let turn = 1; turn <= 3; turn++) timed[`status ${turn}`] = await timeRun(stage, ["status", name]);
  Object.assign(timed, await timeStore());
  timed["version alone"] = await timeRun(stage, ["--version"]);
  const plans = await explainHotStatements(ledger);
  await ledger.sql(
    `INSERT INTO sweeps (name, spec_json, provenance_json, max_tries, max_empty_retries, fresh)
     SELECT 'small ' || n, spec_json, provenance_json, 4, 1, false FROM sweeps, generate_series(1, ${smallSweeps}) n WHERE name = $1`,
    [name],
  );
  await ledger.sql(
    `INSERT INTO trials (sweep_id, cell_id, alias, lane, ordinal, plan, model, size, seed, "group", mirage, language, confidence,
       repeat, rehearsal, grid_revision, state, outcome, finished_at)
     SELECT s.id, 'small ' || t.cell_id, t.alias, t.lane, t.ordinal, t.plan, t.model, t.size, t.seed, t."group", t.mirage, t.language,
       t.confidence, t.repeat, t.rehearsal, 1, 'failed', 'timeout', now()
     FROM sweeps s CROSS JOIN (SELECT * FROM trials ORDER BY id LIMIT 8) t WHERE s.name LIKE 'small %'`,
  );
  timed[`status of ${smallSweeps + 1} sweeps`] = await timeRun(stage, ["status"]);
  return { milliseconds: timed, plans };
}

/** The counts alone, without the start of a program: the slowest of five. */
async function timeStore(): Promise<Readonly<Record<string, number>>> {
  await using house = await openHouse(parseEnvironment({ DATABASE_URL: database.url }), openLogger("error"), {});
  const sweepId = (await house.store.findSweep(name))?.sweepId ?? "";
  const looks = { progress: house.store.progress, judgeProgress: house.store.judgeProgress } as const;
  const slowest: Record<string, number> = {};
  for (const [title, look] of Object.entries(looks)) {
    for (let turn = 0; turn < 5; turn++) {
      const startedMs = performance.now();
      await look(sweepId);
      slowest[title] = Math.max(slowest[title] ?? 0, Math.round(performance.now() - startedMs));
    }
  }
  return slowest;
}

/** What each statement of a worker's daily round reads, by the plan's own count of pages and rows removed. */
async function explainHotStatements({ sql }: Ledger) {
  const [{ id, lane } = { id: "", lane: "" }] = await sql<{ id: string; lane: string }>(
    "SELECT sweep_id::text AS id, lane FROM trials LIMIT 1",
  );
  const statements = {
    listPlanned: `SELECT id FROM trials t WHERE t.sweep_id = '${id}' AND t.state = 'planned' AND t.in_grid ORDER BY t.lane, t.ordinal, t.id LIMIT 1000`,
    listOpen: `SELECT id FROM trials t WHERE t.lane = '${lane}' AND t.state IN ('planned', 'queued') AND t.in_grid ORDER BY t.ordinal, t.id LIMIT 1000`,
    listOpenLanes:
      "SELECT lane, sum(trials) FROM trial_tallies WHERE state IN ('planned', 'queued', 'running') AND in_grid GROUP BY lane",
    "claim: busy": "SELECT cell_id FROM trials WHERE state = 'running' AND lease_until > now()",
    "claim: twin":
      "SELECT id FROM trials o WHERE o.cell_id = 'x' AND o.state = 'done' ORDER BY o.finished_at, o.id LIMIT 1",
    reclaimLost: "SELECT DISTINCT claimed_by FROM trials WHERE state = 'running' AND claimed_by IS NOT NULL",
    unblockLane: `SELECT id FROM trials t WHERE t.lane = '${lane}' AND t.state = 'blocked' AND t.in_grid AND t.outcome IS DISTINCT FROM 'budget_blocked'`,
    unblockBudget: `SELECT id FROM trials t WHERE t.sweep_id = '${id}' AND t.in_grid AND t.state = 'blocked' AND t.outcome = 'budget_blocked'`,
    speed: `SELECT count(*) FROM trials WHERE sweep_id = '${id}' AND state IN ('done', 'failed') AND source_trial_id IS NULL AND finished_at > now() - interval '1 second'`,
  };
  const plans: Record<string, string> = {};
  for (const [title, statement] of Object.entries(statements)) {
    const lines = await sql<{ "QUERY PLAN": string }>(`EXPLAIN (ANALYZE, BUFFERS) ${statement}`);
    const text = lines.map((line) => line["QUERY PLAN"]).join("\n");
    const nodes = text.match(/(?:Seq|Index Only|Index|Bitmap Heap|Bitmap Index) Scan[^(]*/g) ?? [];
    plans[title] = `${nodes.map((node) => node.trim()).join("; ")}; ${/Execution Time: .*/.exec(text)?.[0]}`;
  }
  return plans;
}

/** Runs commands that write into the stage's folder: highest resident memory, seconds of the clock and of the processor, and what came out. */
async function measureRuns(commands: readonly (readonly string[])[]) {
  const reports: Record<string, object> = {};
  for (const words of commands) {
    const title = words.join(" ");
    const target = join(stage.folder, `out-${words.at(-1)}`);
    const startedMs = performance.now();
    const program = stage.start([...words, "--output", target]);
    const { peakMb, cpuSeconds } = await costOf(program.pid);
    const { code, err } = await program.ended;
    if (code !== 0) throw new Error(err);
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    process.stderr.write(
      `${title}: ${peakMb} MB at its highest, ${seconds} s, ${Math.round(cpuSeconds)} s of processor\n`,
    );
    const written = statSync(target);
    reports[title] = {
      peakMb,
      seconds,
      cpuSeconds: Math.round(cpuSeconds),
      ...(written.isFile() && { fileMb: Math.round(written.size / 1e6) }),
    };
  }
  return { runs: reports };
}

async function timeRun(on: Stage, words: readonly string[]): Promise<number> {
  const startedMs = performance.now();
  await mustRun(on, words);
  return Math.round(performance.now() - startedMs);
}

async function mustRun(on: Stage, words: readonly string[]): Promise<void> {
  const { code, err } = await on.run(words);
  // Failed and blocked trials end a command with 3.
  if (code !== 0 && code !== 3) throw new Error(`${words.join(" ")}: ${err}`);
}
