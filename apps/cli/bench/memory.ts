// Resident memory of a real worker over many replies of 100 KB, of Redis before and after, and of `export` at the end.
// npm run memory -w apps/cli [-- TRIALS CONCURRENCY]
import { readFileSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";

import { createRandom } from "@hallumaze/foundation";
import { startMockProviders } from "@hallumaze/mock-providers";
import { createDatabase, createRedis } from "@hallumaze/testkit";
import { Redis } from "ioredis";

import { type Ledger, openLedger, openStage, type Program, type Stage } from "../test/program-stage.ts";
import { costOf, memoryOf } from "./process-memory.ts";

const trials = Number(process.argv[2] ?? 2000);
const concurrency = Number(process.argv[3] ?? 16);
const replyBytes = 100_000;
const model = "openai/gpt-4o";
/** Share of the trials after which the worker's memory should no longer grow. */
const warmUpShare = 0.25;

interface Sample {
  readonly atMs: number;
  readonly done: number;
  readonly rssMb: number;
}

const words = [
  "wall",
  "open",
  "north",
  "south",
  "east",
  "west",
  "corridor",
  "turn",
  "back",
  "cell",
  "dead",
  "end",
  "path",
];
const random = createRandom("prose");
let prose = "\n\nNotes on how I went:\n";
while (prose.length < replyBytes) prose += `${words[random.below(words.length)]}${random.below(10) === 0 ? "." : ""} `;

const mock = await startMockProviders({
  script: [{ reply: { append: prose, usage: { outputTokens: 2000 } } }],
  latency: { baseMs: 100 },
  logLimit: 0,
});
const redis = await createRedis();
const database = await createDatabase();
const stage = openStage({ DATABASE_URL: database.url, REDIS_URL: redis.url, ...mock.environment() });
const client = new Redis(redis.url);
try {
  await using ledger = await openLedger(database.url);
  const redisBefore = await usedRedisMb(client);
  const limits = { [model]: { rpm: 1e6, tpm: 1e9, concurrency: 1000 } };
  const spec = stage.spec("large", { models: [model], seeds: [`1..${trials}`], maxTokens: 4000, limits });
  const submitted = await stage.run(["submit", spec]);
  if (submitted.code !== 0) throw new Error(submitted.err);
  const redisFull = await usedRedisMb(client);
  const startedMs = performance.now();
  const worker = stage.start(["worker", "--role", "solve", "--concurrency", `${concurrency}`]);
  const samples = await watchWorker(worker, ledger, startedMs);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const peakMb = memoryOf(worker.pid)?.peakMb ?? null;
  worker.kill("SIGTERM");
  await worker.ended;
  const redisAfter = await usedRedisMb(client);
  const [sizes] = await ledger.sql<{ text: number; raw: number; replies: number }>(
    "SELECT avg(octet_length(text))::int AS text, avg(octet_length(raw_body))::int AS raw, count(*)::int AS replies FROM exchanges WHERE outcome IS NULL",
  );
  const report = {
    trials,
    concurrency,
    seconds,
    loadAverage: loadavg(),
    replies: sizes,
    worker: { ...rssAt(samples), peakMb, ...slopeOf(samples) },
    redisMb: { before: redisBefore, submitted: redisFull, after: redisAfter, largestKeysKb: await largestKeys(client) },
    export: await watchExport(stage),
  };
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
} finally {
  client.disconnect();
  await stage.clear();
  await database.drop();
  await redis.drop();
  await mock.close();
}

/** Samples the worker each second until all trials are done. */
async function watchWorker(worker: Program, ledger: Ledger, startedMs: number): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (;;) {
    const memory = memoryOf(worker.pid);
    if (memory === null) throw new Error(`the worker has ended:\n${(await worker.ended).err}`);
    const done = await ledger.count("state = 'done'");
    samples.push({ atMs: performance.now() - startedMs, done, rssMb: memory.rssMb });
    if (done >= trials) return samples;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

function rssAt(samples: readonly Sample[]): Readonly<Record<string, number | null>> {
  const shares = [0.1, 0.25, 0.5, 0.75, 1];
  return Object.fromEntries(
    shares.map((share) => [
      `rssMbAt${share * 100}%`,
      samples.find(({ done }) => done >= share * trials)?.rssMb ?? null,
    ]),
  );
}

/** Least squares over the samples after the warm-up, and the means of that time's two halves. */
function slopeOf(samples: readonly Sample[]) {
  const warm = samples.filter(({ done }) => done >= warmUpShare * trials);
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanDone, meanRss] = [mean(warm.map(({ done }) => done)), mean(warm.map(({ rssMb }) => rssMb))];
  const covariance = mean(warm.map(({ done, rssMb }) => (done - meanDone) * (rssMb - meanRss)));
  const variance = mean(warm.map(({ done }) => (done - meanDone) ** 2));
  const half = warm.length / 2;
  return {
    samplesAfterWarmUp: warm.length,
    slopeMbPer1000Trials: Math.round((covariance / variance) * 1e5) / 100,
    meanMbFirstHalf: Math.round(mean(warm.slice(0, half).map(({ rssMb }) => rssMb))),
    meanMbSecondHalf: Math.round(mean(warm.slice(half).map(({ rssMb }) => rssMb))),
  };
}

/** Exports everything as JSON Lines and keeps the highest resident memory seen. */
async function watchExport({ folder, start }: Stage) {
  const file = join(folder, "large.jsonl");
  const startedMs = performance.now();
  const program = start(["export", "large", "--format", "jsonl", "--output", file]);
  const { peakMb } = await costOf(program.pid);
  const { code, err } = await program.ended;
  if (code !== 0) throw new Error(err);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n").length;
  return {
    peakMb,
    lines,
    fileMb: Math.round(statSync(file).size / 1e6),
    seconds: Math.round((performance.now() - startedMs) / 1000),
  };
}

async function usedRedisMb(redisClient: Redis): Promise<number> {
  const info = await redisClient.info("memory");
  return Math.round((Number(/^used_memory:(\d+)/m.exec(info)?.[1]) / 2 ** 20) * 100) / 100;
}

/** The five keys that take most, in KB: what stays behind, and whether it grows with the trials. */
async function largestKeys(redisClient: Redis): Promise<Readonly<Record<string, number>>> {
  const sizes: (readonly [key: string, kb: number])[] = [];
  for await (const keys of redisClient.scanStream({ count: 500 }) as AsyncIterable<readonly string[]>) {
    for (const key of keys) sizes.push([key, Math.round(Number(await redisClient.memory("USAGE", key)) / 102.4) / 10]);
  }
  return Object.fromEntries(sizes.toSorted(([, a], [, b]) => b - a).slice(0, 5));
}
