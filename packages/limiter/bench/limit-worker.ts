// One worker process of the benchmark: asks the server over IPC, paced as its plan says, until it is told to stop.
import Bottleneck from "bottleneck";
import { Worker } from "bullmq";
import PQueue from "p-queue";

import { openLimiter } from "../src/index.ts";
import type { ServerReply } from "./limit-server.ts";

/** What a worker process is told; `url` is that of Redis or Postgres where the pacing needs one. */
export interface WorkerPlan {
  readonly pacing: "ours" | "ours-without-headers" | "none" | "p-queue" | "bottleneck" | "bullmq";
  readonly minuteMs: number;
  readonly lane: string;
  readonly url: string;
  readonly rpm?: number;
  readonly outputTpm?: number;
  /** Requests at once in this process. */
  readonly loops: number;
}

const meanOutputTokens = 400;
const pending = new Map<number, (reply: ServerReply) => void>();
let asked = 0;
const stop = new AbortController();

process.on("message", (message: { plan?: WorkerPlan; stop?: true; id?: number; reply?: ServerReply }) => {
  if (message.plan !== undefined) void work(message.plan).then(() => process.exit(0));
  if (message.stop === true) {
    stop.abort();
    // What still waits at the server is not the benchmark's business.
    setTimeout(() => process.exit(0), 200);
  }
  if (message.id !== undefined && message.reply !== undefined) {
    pending.get(message.id)?.(message.reply);
    pending.delete(message.id);
  }
});

process.send?.({ ready: true });

function ask(): Promise<ServerReply> {
  asked += 1;
  const id = asked;
  return new Promise((resolve) => {
    pending.set(id, resolve);
    process.send?.({ id });
  });
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function work(plan: WorkerPlan): Promise<void> {
  const loop = (once: () => Promise<void>) =>
    Promise.all(
      Array.from({ length: plan.loops }, async () => {
        while (!stop.signal.aborted) await once();
      }),
    );
  switch (plan.pacing) {
    case "ours":
    case "ours-without-headers":
      return workWithOurs(plan);
    case "none":
      await loop(askWithRetries);
      return;
    case "p-queue": {
      const queue = new PQueue({ concurrency: plan.loops });
      while (!stop.signal.aborted) {
        await queue.onSizeLessThan(plan.loops);
        void queue.add(askWithRetries);
      }
      return;
    }
    case "bottleneck": {
      // Its best use here: even spacing; tokens can only be weighed by their estimate, so both become a count.
      const perMinute = plan.rpm ?? (plan.outputTpm ?? 0) / meanOutputTokens;
      const limiter = new Bottleneck({ minTime: plan.minuteMs / perMinute });
      await loop(() => limiter.schedule(askWithRetries));
      return;
    }
    case "bullmq": {
      const perMinute = Math.round(plan.rpm ?? (plan.outputTpm ?? 0) / meanOutputTokens);
      const { hostname: host, port } = new URL(plan.url);
      const worker = new Worker(plan.lane, askWithRetries, {
        connection: { host, port: Number(port) },
        concurrency: plan.loops,
        limiter: { max: perMinute, duration: plan.minuteMs },
      });
      await worker.waitUntilReady();
      await new Promise<never>(() => undefined);
    }
  }
}

/** As the vendors' SDKs do: retry-after, else exponential, with a little jitter. */
async function askWithRetries(): Promise<void> {
  for (let failures = 0; !stop.signal.aborted; failures += 1) {
    const reply = await ask();
    if (reply.accepted) return;
    await sleep(reply.retryAfterMs * (1 + Math.random() * 0.25) + Math.min(10 * 2 ** failures, 200) * Math.random());
  }
}

async function workWithOurs(plan: WorkerPlan): Promise<void> {
  const target = plan.url.startsWith("redis") ? { redisUrl: plan.url } : { databaseUrl: plan.url };
  const limiter = await openLimiter(target, { settings: { minuteMs: plan.minuteMs } });
  await limiter.configure(plan.lane, {
    ...(plan.rpm === undefined ? {} : { rpm: plan.rpm }),
    ...(plan.outputTpm === undefined ? {} : { outputTpm: plan.outputTpm }),
  });
  const once = async (id: string): Promise<void> => {
    const estimate = { id, inputTokens: 600, outputTokens: meanOutputTokens, tenant: "bench", weight: 1 };
    for (let answer = await limiter.reserve(plan.lane, estimate); answer.kind !== "granted"; ) {
      if (stop.signal.aborted || answer.kind === "never") return;
      await sleep(answer.afterMs);
      answer = await limiter.reserve(plan.lane, estimate);
    }
    const reply = await ask();
    const { requests, outputTokens } = reply.headers;
    if (plan.pacing === "ours") {
      await limiter.learn(plan.lane, {
        ...(requests === null ? {} : { requests }),
        ...(outputTokens === null ? {} : { outputTokens }),
      });
    }
    if (reply.accepted) {
      await limiter.settle(plan.lane, id, { inputTokens: 600, outputTokens: reply.outputTokens });
      return;
    }
    await limiter.cool(plan.lane, reply.retryAfterMs, true);
    await limiter.cancel(plan.lane, id);
  };
  let count = 0;
  await Promise.all(
    Array.from({ length: plan.loops }, async () => {
      while (!stop.signal.aborted) {
        count += 1;
        await once(`${process.pid}-${count}`);
      }
    }),
  );
}
