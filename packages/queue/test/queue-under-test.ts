import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { createRedis, findRedis, type QueueProcess, type QueueUnderTest } from "@hallumaze/testkit";
import { createPostgresBackend, Queue, withBackend } from "bullmq";
import { Redis } from "ioredis";
import pg from "pg";

import { openQueue, type QueueSettings, type QueueTarget, redisKeyPrefix, solveQueueName } from "../src/index.ts";
import { type ProcessRequest, testLedger, underWayLine } from "./queue-process.ts";

/** Times of the contract suite. */
export const shortSettings: Partial<QueueSettings> = {
  requestTimeoutMs: 5_000,
  lockMs: 2_000,
  stalledCheckMs: 500,
  idlePollMs: 1_000,
  stuckAfterMs: 2_000,
  retryDelayMinMs: 300,
  retryDelayMaxMs: 5_000,
  closeGraceMs: 500,
};

/** The queue on a Redis of its own; on that of `REDIS_URL` only where none is installed. */
export async function startRedisQueue(): Promise<QueueUnderTest> {
  const found = findRedis();
  const redis = found.kind === "given" ? { url: found.url, drop: async () => undefined } : await createRedis();
  const client = new Redis(redis.url);
  const wipe = async (): Promise<void> => {
    // Only ours: the server may be somebody's.
    const keys = await client.keys(`hallumaze.${testLedger}{*`);
    if (keys.length > 0) await client.unlink(keys);
  };
  await wipe();
  const onLane = async <T>(lane: string, act: (queue: Queue) => Promise<T>): Promise<void> => {
    const name = solveQueueName(lane);
    const queue = new Queue(name, { connection: client, prefix: redisKeyPrefix(testLedger, name) });
    await act(queue);
    await queue.close();
  };
  return {
    ...commonParts({ redisUrl: redis.url }),
    wipe,
    addForeign: (lane, jobId, data) => onLane(lane, (queue) => queue.add("deliver", data, { jobId })),
    pause: (lane) => onLane(lane, (queue) => queue.pause()),
    drop: async () => {
      await wipe();
      client.disconnect();
      await redis.drop();
    },
  };
}

/** The queue in a Postgres database of its own. */
export async function startPostgresQueue(database: {
  readonly url: string;
  readonly drop: () => Promise<void>;
}): Promise<QueueUnderTest> {
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  const { Queue: PostgresQueue } = withBackend(createPostgresBackend);
  const onLane = async <T>(
    lane: string,
    act: (queue: InstanceType<typeof PostgresQueue>) => Promise<T>,
  ): Promise<void> => {
    const queue = new PostgresQueue(solveQueueName(lane), { connection: { connectionString: database.url, max: 1 } });
    await act(queue);
    await queue.close();
  };
  return {
    ...commonParts({ databaseUrl: database.url }),
    wipe: async () => {
      await pool.query("TRUNCATE bullmq.job, bullmq.meta, bullmq.event CASCADE");
    },
    addForeign: (lane, jobId, data) => onLane(lane, (queue) => queue.add("deliver", data, { jobId })),
    pause: (lane) => onLane(lane, (queue) => queue.pause()),
    drop: async () => {
      await pool.end();
      await database.drop();
    },
  };
}

function commonParts(target: QueueTarget): Pick<QueueUnderTest, "open" | "consumeInProcess" | "enqueueInProcess"> {
  return {
    open: (onError = () => undefined) => openQueue(target, { ledger: testLedger, onError, settings: shortSettings }),
    consumeInProcess: (lane) => startProcess({ task: "consume", target, lane, count: 0, settings: shortSettings }),
    enqueueInProcess: (lane, count) => startProcess({ task: "enqueue", target, lane, count, settings: shortSettings }),
  };
}

async function startProcess(request: ProcessRequest): Promise<QueueProcess> {
  const script = fileURLToPath(new URL("./queue-process.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", script, JSON.stringify(request)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const underWay = new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => {
      if (line === underWayLine) resolve();
    });
    void gone.then(([code]) => reject(new Error(`the process ended with ${code} before it was under way`)));
  });
  underWay.catch(() => undefined);
  return {
    underWay,
    kill: async () => {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
