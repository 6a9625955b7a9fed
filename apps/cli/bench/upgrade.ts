// A worker of an earlier commit beside one of this tree for a whole sweep, as in a rolling upgrade: this tree migrates the
// database and submits while the old worker runs. Prints as JSON what the server saw and what the ledger keeps.
// npm run upgrade -w apps/cli [-- COMMIT TRIALS]
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { startMockProviders } from "@hallumaze/mock-providers";
import { createDatabase, createRedis, runTool } from "@hallumaze/testkit";

import { openLedger, openStage, type Program } from "../test/program-stage.ts";
import { reckon } from "./chaos-reckon.ts";
import { chaosSpec } from "./chaos-stage.ts";

const repository = fileURLToPath(new URL("../../..", import.meta.url));
/** The last commit before 0.2.0's work on many machines: what 0.1.0 was when it was noted as done. */
const commit = process.argv[2] ?? "35d7a0d";
const cells = Number(process.argv[3] ?? 400);

using previous = openPrevious();
await using mock = await startMockProviders({
  seed: 8,
  latency: { baseMs: 400 },
  logLimit: 1_000_000,
  script: [{ name: "529", probability: 0.02, fail: "overloaded" }],
});
const redis = await createRedis();
const database = await createDatabase();
const variables = { ...mock.environment(), DATABASE_URL: database.url, REDIS_URL: redis.url };
const stage = openStage(variables);
const old = openStage(variables, join(previous.folder, "apps/cli/bin/hallumaze.js"));
try {
  process.stdout.write(`${JSON.stringify(await run(), null, 2)}\n`);
} finally {
  await Promise.all([stage.clear(), old.clear()]);
  await database.drop();
  await redis.drop();
}

async function run(): Promise<object> {
  const words = ["worker", "--role", "solve", "--concurrency", "4"];
  // The earlier version makes its schema, as it stood in production, and takes work.
  await succeed(old.start(["submit", old.spec("upgrade", chaosSpec(cells))]));
  const oldWorker = old.start(words);
  await using ledger = await openLedger(database.url);
  await ledger.reach("state = 'done'", Math.floor(cells / 10), 600_000);
  const migrations = "SELECT migration_name AS name FROM _prisma_migrations ORDER BY started_at";
  const before = await ledger.sql<{ name: string }>(migrations);
  const newWorker = stage.start(words);
  await ledger.reach("state IN ('done', 'failed')", cells, 1_200_000);
  for (const worker of [oldWorker, newWorker]) worker.kill("SIGTERM");
  await Promise.all([oldWorker, newWorker].map(succeed));
  const after = await ledger.sql<{ name: string }>(migrations);
  const workers = await ledger.sql<{ worker: string; exchanges: number }>(
    "SELECT worker_id AS worker, count(*)::int AS exchanges FROM exchanges GROUP BY 1 ORDER BY 1",
  );
  const exchangesOf = (program: Program): number =>
    workers.find(({ worker }) => worker.split("/")[1] === `${program.pid}`)?.exchanges ?? 0;
  // A start of the earlier version on the newer schema: refused where migrations were added.
  const restart = old.start(["status", "upgrade"]);
  const { code, err } = await restart.ended;
  return {
    previous: commit,
    addedMigrations: after.slice(before.length).map(({ name }) => name),
    loadAverage: loadavg(),
    byPrevious: exchangesOf(oldWorker),
    byThis: exchangesOf(newWorker),
    previousStartedAgain: { code, says: err.trim() },
    ...(await reckon({ ledger, mock }, "upgrade")),
  };
}

async function succeed(program: Program): Promise<void> {
  const { code, out, err } = await program.ended;
  if (code !== 0) throw new Error(`a process ended with ${code}:\n${out}${err}`);
}

/** The tree of the commit in a folder of its own, with this tree's installed packages and its own workspaces. */
function openPrevious(): Disposable & { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "hallumaze-previous-"));
  const archive = join(folder, "tree.tar");
  runTool("git", ["-C", repository, "archive", "--output", archive, commit]);
  runTool("tar", ["-xf", archive, "-C", folder]);
  const installed = join(repository, "node_modules");
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@hallumaze"), { recursive: true });
  for (const name of readdirSync(installed)) {
    if (name !== "@hallumaze") symlinkSync(join(installed, name), join(modules, name));
  }
  for (const kind of ["packages", "apps"]) {
    for (const name of readdirSync(join(folder, kind))) {
      symlinkSync(join(folder, kind, name), join(modules, "@hallumaze", name));
    }
  }
  if (spawnSync("chmod", ["755", folder]).status !== 0) throw new Error("chmod failed");
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
