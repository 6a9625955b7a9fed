import { Queue, Worker, createPostgresBackend, withBackend } from "bullmq";
import { Redis } from "ioredis";

import { openQueue, type QueueTarget } from "../src/index.ts";

/** One measured number; `ratio` is value over what the row named `against` got in the same run. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly ratio?: number;
  readonly against?: string;
}

const jobsOnRedis = 20_000;
const jobsOnPostgres = 4_000;
const concurrency = 50;
const chunkSize = 1_000;

/** Enqueued and delivered a second, through our port and on bare BullMQ with the same payload, ids and concurrency. */
export async function bench(env: {
  readonly redisUrl?: string;
  readonly databaseUrl?: string;
}): Promise<readonly Measurement[]> {
  const rows: Measurement[] = [];
  const { redisUrl, databaseUrl } = env;
  // Bare BullMQ on Postgres needs the schema that our port makes, so ours opens first.
  if (redisUrl !== undefined) {
    rows.push(...(await compare("redis", jobsOnRedis, { redisUrl }, () => bareRedis(redisUrl))));
  }
  if (databaseUrl !== undefined) {
    rows.push(...(await compare("postgres", jobsOnPostgres, { databaseUrl }, () => barePostgres(databaseUrl))));
  }
  return rows;
}

/** The least that both must do: add by the chunk, hand out, end. */
interface Contender {
  readonly enqueue: (ids: readonly string[]) => Promise<void>;
  /** Resolves with what stops it. */
  readonly consume: (handle: () => void) => Promise<() => Promise<void>>;
  readonly close: () => Promise<void>;
}

interface Rates {
  readonly enqueuedPerS: number;
  readonly deliveredPerS: number;
}

async function compare(
  backEnd: string,
  jobs: number,
  target: QueueTarget,
  openBare: () => Contender,
): Promise<readonly Measurement[]> {
  await measure(await openOurs(target), jobs / 10);
  await measure(openBare(), jobs / 10);
  // Ours, bare, ours: what warms up or fills up meanwhile hits both.
  const before = await measure(await openOurs(target), jobs);
  const bare = await measure(openBare(), jobs);
  const after = await measure(await openOurs(target), jobs);
  const mean: Rates = {
    enqueuedPerS: (before.enqueuedPerS + after.enqueuedPerS) / 2,
    deliveredPerS: (before.deliveredPerS + after.deliveredPerS) / 2,
  };
  return (["enqueuedPerS", "deliveredPerS"] as const).flatMap((rate) => {
    const what = rate === "enqueuedPerS" ? "enqueue" : "deliver";
    const against = `queue/${backEnd}/${what}/bare-bullmq`;
    return [
      { name: `queue/${backEnd}/${what}`, value: mean[rate], unit: "1/s", ratio: mean[rate] / bare[rate], against },
      { name: against, value: bare[rate], unit: "1/s" },
    ];
  });
}

async function measure(contender: Contender, jobs: number): Promise<Rates> {
  const run = Math.random().toString(36).slice(2);
  const ids = Array.from({ length: jobs }, (_, index) => `${run}${index.toString(16).padStart(20, "0")}`);
  const enqueueStartMs = performance.now();
  await contender.enqueue(ids);
  const enqueueMs = performance.now() - enqueueStartMs;

  let left = jobs;
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const deliverStartMs = performance.now();
  const stop = await contender.consume(() => {
    left -= 1;
    if (left === 0) finish();
  });
  await finished;
  const deliverMs = performance.now() - deliverStartMs;
  await stop();
  await contender.close();
  return { enqueuedPerS: (jobs / enqueueMs) * 1000, deliveredPerS: (jobs / deliverMs) * 1000 };
}

async function openOurs(target: QueueTarget): Promise<Contender> {
  const lane = `bench-${Date.now()}`;
  const queue = await openQueue(target, {
    ledger: "bench",
    onError: (error) => process.stderr.write(`${error.message}\n`),
  });
  return {
    enqueue: (ids) =>
      queue.enqueue(
        lane,
        ids.map((trialId) => ({ trialId, generation: 0, delayMs: 0 })),
      ),
    consume: async (handle) => {
      const consumer = await queue.consume(lane, concurrency, async () => {
        handle();
        return { kind: "done" };
      });
      return () => consumer.close(5_000);
    },
    close: () => queue.close(),
  };
}

function bareRedis(url: string): Contender {
  const client = new Redis(url, { maxRetriesPerRequest: null });
  const name = `bare-${Date.now()}`;
  const queue = new Queue(name, { connection: client });
  return {
    enqueue: (ids) => addAll(queue, ids),
    consume: async (handle) => {
      const worker = new Worker(name, async () => handle(), { connection: client, concurrency });
      await worker.waitUntilReady();
      return () => worker.close();
    },
    close: async () => {
      await queue.obliterate({ force: true });
      await queue.close();
      client.disconnect();
    },
  };
}

function barePostgres(connectionString: string): Contender {
  const bullmq = withBackend(createPostgresBackend);
  const name = `bare-${Date.now()}`;
  // Its defaults: a pool of 10 each for queue and worker, commits awaited.
  const queue = new bullmq.Queue(name, { connection: connectionString });
  return {
    enqueue: (ids) => addAll(queue, ids),
    consume: async (handle) => {
      const worker = new bullmq.Worker(name, async () => handle(), { connection: connectionString, concurrency });
      await worker.waitUntilReady();
      return () => worker.close();
    },
    close: async () => {
      await queue.obliterate({ force: true });
      await queue.close();
    },
  };
}

async function addAll(queue: Pick<Queue, "addBulk">, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += chunkSize) {
    await queue.addBulk(
      ids.slice(from, from + chunkSize).map((trialId) => ({
        name: "deliver",
        data: { trialId, generation: 0 },
        opts: { jobId: `${trialId}~0`, removeOnComplete: true, removeOnFail: true },
      })),
    );
  }
}
