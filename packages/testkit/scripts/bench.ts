// Runs every benchmark of the house, one after another: npm run bench [-- --only NAME] [-- --json]
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import Table from "cli-table3";

import { createRedis, findRedis } from "../src/disposable-redis.ts";
import { listRepositoryFiles, repositoryRoot } from "../src/repository-files.ts";

/** What a benchmark may use; null where the machine has none, and the benchmark then leaves that part out. */
interface BenchEnvironment {
  readonly redisUrl: string | null;
  readonly databaseUrl: string | null;
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

const redis = await openRedis();
const environment: BenchEnvironment = {
  redisUrl: redis.url,
  databaseUrl: process.env["DATABASE_URL"] || null,
};
try {
  const figures: (BenchFigure & { readonly file: string })[] = [];
  for (const file of files) {
    process.stderr.write(`${file}\n`);
    const module = (await import(pathToFileURL(`${repositoryRoot}${file}`).href)) as BenchModule;
    for (const figure of await module.bench(environment)) figures.push({ file, ...figure });
  }
  process.stdout.write(options.json ? `${JSON.stringify(figures, null, 2)}\n` : `${tableOf(figures)}\n`);
} finally {
  await redis.close();
}

async function openRedis(): Promise<{ readonly url: string | null; readonly close: () => Promise<void> }> {
  const given = process.env["REDIS_URL"];
  if (given) return { url: given, close: async () => undefined };
  if (findRedis().kind !== "installed") return { url: null, close: async () => undefined };
  const server = await createRedis({ appendOnly: true });
  return { url: server.url, close: server.drop };
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
