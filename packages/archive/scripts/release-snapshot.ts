// npm run release:snapshot -- VERSION CHECKOUT
// Runs a small sweep with the program of a release, checked out and installed at CHECKOUT, and keeps its ledger and its own
// export under packages/archive/test/releases/VERSION, from where every later schema is tested.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { createDatabase } from "@hallumaze/testkit";

import { backUp, openClient } from "../src/back-up.ts";

const [version = "", checkout = ""] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(version) || checkout === "") {
  console.error("Name the release and where it is checked out: npm run release:snapshot -- 0.3.0 ../release-0.3.0");
  process.exit(2);
}
const spec = {
  name: "release",
  groups: ["A"],
  sizes: [5],
  mirage: [true, false],
  models: ["sim/dfs-honest", "sim/silent", "sim/overconfident"],
  seeds: ["1..2"],
};
const target = fileURLToPath(new URL(`../test/releases/${version}/`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "hallumaze-release-"));
const database = await createDatabase();
try {
  writeFileSync(join(folder, "sweep.json"), JSON.stringify(spec));
  const program = join(resolve(checkout), "apps/cli/bin/hallumaze.js");
  const ended = spawnSync(process.execPath, [program, "run", "sweep.json"], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: database.url },
    encoding: "utf8",
  });
  if (ended.status !== 0) throw new Error(`the release ended with ${ended.status}: ${ended.stderr}`);
  await forgetThisMachine(database.url);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const file = join(target, "ledger.backup");
  const report = await backUp(database.url, file, { programVersion: version, signal: AbortSignal.timeout(60_000) });
  copyFileSync(join(folder, "results/release/trials.jsonl"), join(target, "trials.jsonl"));
  console.log(`${version}: ${report.rows["trials"]} trials, ${report.fileBytes} bytes`);
} finally {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
}

/** A worker's id names its host. */
async function forgetThisMachine(url: string): Promise<void> {
  const client = openClient(url);
  await client.connect();
  await client.query("UPDATE exchanges SET worker_id = 'host/1/1'");
  await client.end();
}
