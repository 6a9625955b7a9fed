// Runs every benchmark of the house, one after another: npm run bench [-- --only NAME] [-- --json]
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { openEmbeddedPostgres } from "@hallumaze/store";
import Table from "cli-table3";

import { createRedis, findRedis } from "../src/disposable-redis.ts";
import { listRepositoryFiles, repositoryRoot } from "../src/repository-files.ts";

/** What a benchmark may use; absent where the machine has none, and the benchmark then leaves that part out. */
interface BenchEnvironment {
  readonly redisUrl?: string;
  readonly databaseUrl?: string;
}

/** One measured figure. */
interface BenchFigure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** How the value compares with `against`, measured in the same run. */
  readonly ratio?: number;
  readonly against?: string;
}

interface BenchModule {
  readonly bench: (environment: BenchEnvironment) => Promise<readonly BenchFigure[]>;
}

const { values: options } = parseArgs({
  options: { only: { type: "string" }, json: { type: "boolean", default: false } },
});
const files = listRepositoryFiles()
  .filter((path) => /^(?:packages|apps)\/[^/]+\/bench\/[^/]+\.bench\.ts$/.test(path))
  .filter((path) => options.only === undefined || path.includes(options.only));
if (files.length === 0) {
  process.stderr.write(`No benchmark's path contains "${options.only ?? ""}".\n`);
  process.exit(2);
}

/** What was started, to be ended in reverse order. */
const closers: (() => Promise<void>)[] = [];
try {
  const environment: BenchEnvironment = { ...(await openRedis()), ...(await openDatabase()) };
  const figures: (BenchFigure & { readonly file: string })[] = [];
  for (const file of files) {
    process.stderr.write(`${file}\n`);
    const module = (await import(pathToFileURL(`${repositoryRoot}${file}`).href)) as BenchModule;
    for (const figure of await module.bench(environment)) figures.push({ file, ...figure });
  }
  process.stdout.write(options.json ? `${JSON.stringify(figures, null, 2)}\n` : `${tableOf(figures)}\n`);
} finally {
  for (const close of closers.toReversed()) await close();
}

async function openRedis(): Promise<Pick<BenchEnvironment, "redisUrl">> {
  const given = process.env["REDIS_URL"];
  if (given) return { redisUrl: given };
  if (findRedis().kind !== "installed") return {};
  const server = await createRedis({ appendOnly: true });
  closers.push(server.drop);
  return { redisUrl: server.url };
}

/** With the settings that a user has: the tests' own server does not wait for the disk, so its figures would flatter. */
async function openDatabase(): Promise<Pick<BenchEnvironment, "databaseUrl">> {
  const given = process.env["DATABASE_URL"];
  if (given) return { databaseUrl: given };
  const home = await mkdtemp(join(tmpdir(), "hallumaze-bench-"));
  closers.push(() => rm(home, { recursive: true, force: true }));
  const server = await openEmbeddedPostgres({ home });
  closers.push(server.close);
  return { databaseUrl: server.url };
}

function tableOf(figures: readonly (BenchFigure & { readonly file: string })[]): string {
  const table = new Table({
    head: ["benchmark", "figure", "value", "unit", "against"],
    style: { head: [], border: [] },
  });
  for (const { file, name, value, unit, ratio, against } of figures) {
    const comparison = ratio === undefined ? "" : `${ratio.toFixed(2)} ${against ?? ""}`;
    table.push([
      basename(file, ".bench.ts"),
      name,
      value.toLocaleString("en-US", { maximumSignificantDigits: 4 }),
      unit,
      comparison,
    ]);
  }
  return table.toString();
}
