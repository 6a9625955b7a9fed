// One worker process of the benchmark: asks the server over IPC, paced as its plan says, until it is told to stop.
import Bottleneck from "bottleneck";
import { Worker } from "bullmq";
import PQueue from "p-queue";

import { openLimiter } from "../src/index.ts";
import type { ServerReply } from "./limit-server.ts";

/** How requests are paced. */
export type Pacing = "ours" | "ours-without-headers" | "sdk" | "p-queue" | "bottleneck" | "bullmq";

/** A lane as a worker process is told of it. */
export interface LanePlan {
  readonly lane: string;
  readonly rpm?: number;
  readonly outputTpm?: number;
  /** Requests at once in this process. */
  readonly loops: number;
}

/** What a worker process is told; `url` is that of Redis or Postgres where the pacing needs one. */
export interface WorkerPlan {
  readonly pacing: Pacing;
  readonly minuteMs: number;
  readonly url: string;
  readonly lanes: readonly LanePlan[];
  /** Requests are numbered: each has to be asked for. Else there is always another one. */
  readonly isNumbered: boolean;
}

/** What a worker process says: may I begin a request, here is one, or one was given up. */
export interface WorkerMessage {
  readonly kind: "take" | "ask" | "gave-up";
  readonly id: number;
  readonly lane: string;
}

const meanOutputTokens = 400;
const pending = new Map<number, (value: unknown) => void>();
let told = 0;
const stop = new AbortController();

process.on("message", (message: { plan?: WorkerPlan; stop?: true; id?: number; value?: unknown }) => {
  if (message.plan !== undefined) void work(message.plan);
  if (message.stop === true) {
    stop.abort();
    // What still waits at the server is not the benchmark's business.
    setTimeout(() => process.exit(0), 200);
  }
  if (message.id !== undefined) {
    pending.get(message.id)?.(message.value);
    pending.delete(message.id);
  }
});
process.on("disconnect", () => process.exit(0));

process.send?.({ ready: true });

function say<Answer>(kind: WorkerMessage["kind"], lane: string): Promise<Answer> {
  told += 1;
  const id = told;
  return new Promise((resolve) => {
    pending.set(id, resolve as (value: unknown) => void);
    process.send?.({ kind, id, lane } satisfies WorkerMessage);
  });
}

const ask = (lane: string): Promise<ServerReply> => say("ask", lane);
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function work(plan: WorkerPlan): Promise<void> {
  const once = await openPacing(plan);
  const mayBegin = async (lane: string): Promise<boolean> => !plan.isNumbered || say<boolean>("take", lane);
  await Promise.all(
    plan.lanes.flatMap((lane) =>
      Array.from({ length: lane.loops }, async () => {
        while (!stop.signal.aborted && (await mayBegin(lane.lane))) await once(lane);
      }),
    ),
  );
}

type Pace = (lane: LanePlan) => Promise<void>;

async function openPacing(plan: WorkerPlan): Promise<Pace> {
  switch (plan.pacing) {
    case "ours":
    case "ours-without-headers":
      return openOurs(plan);
    case "sdk":
      return ({ lane }) => askAsSdk(lane, plan.minuteMs);
    case "p-queue": {
      const queues = openEach(plan, ({ loops }) => new PQueue({ concurrency: loops }));
      return ({ lane }) => queues(lane).add(() => askUntilAccepted(lane));
    }
    case "bottleneck": {
      // Its best use here: even spacing; tokens can only be weighed by their estimate, so both become a count.
      const queues = openEach(plan, (lane) => new Bottleneck({ minTime: plan.minuteMs / requestsPerMinute(lane) }));
      return ({ lane }) => queues(lane).schedule(() => askUntilAccepted(lane));
    }
    case "bullmq": {
      const { hostname: host, port } = new URL(plan.url);
      const workers = plan.lanes.map(
        (lane) =>
          new Worker(lane.lane, () => askUntilAccepted(lane.lane), {
            connection: { host, port: Number(port) },
            concurrency: lane.loops,
            limiter: { max: Math.round(requestsPerMinute(lane)), duration: plan.minuteMs },
          }),
      );
      await Promise.all(workers.map((worker) => worker.waitUntilReady()));
      // Its workers fetch by themselves; the loops have nothing to do.
      return () => new Promise<never>(() => undefined);
    }
  }
}

function openEach<Queue>(plan: WorkerPlan, open: (lane: LanePlan) => Queue): (lane: string) => Queue {
  const queues = new Map(plan.lanes.map((lane) => [lane.lane, open(lane)]));
  return (lane) => {
    const queue = queues.get(lane);
    if (queue === undefined) throw new Error(`no lane ${lane} in the plan`);
    return queue;
  };
}

function requestsPerMinute({ rpm, outputTpm }: LanePlan): number {
  return rpm ?? (outputTpm ?? 0) / meanOutputTokens;
}

/**
 * One call as openai 6.49 and @anthropic-ai/sdk make it: two retries, after the time told, else from half a second
 * doubled to 8 s and up to a quarter less; then the call fails.
 */
async function askAsSdk(lane: string, minuteMs: number): Promise<void> {
  const second = minuteMs / 60;
  for (let failures = 0; !stop.signal.aborted; failures += 1) {
    const reply = await ask(lane);
    if (reply.accepted) return;
    if (failures === 2) {
      void say("gave-up", lane);
      return;
    }
    const ownMs = Math.min(0.5 * 2 ** failures, 8) * second * (1 - Math.random() * 0.25);
    await sleep(reply.retryAfterMs > 0 && reply.retryAfterMs < minuteMs ? reply.retryAfterMs : ownMs);
  }
}

/** Retries as somebody writes them around a queue: the time told and some jitter, until it is accepted. */
async function askUntilAccepted(lane: string): Promise<void> {
  for (let failures = 0; !stop.signal.aborted; failures += 1) {
    const reply = await ask(lane);
    if (reply.accepted) return;
    await sleep(reply.retryAfterMs * (1 + Math.random() * 0.25) + Math.min(10 * 2 ** failures, 200) * Math.random());
  }
}

async function openOurs(plan: WorkerPlan): Promise<Pace> {
  const target = plan.url.startsWith("redis") ? { redisUrl: plan.url } : { databaseUrl: plan.url };
  const limiter = await openLimiter(target, { settings: { minuteMs: plan.minuteMs } });
  for (const { lane, rpm, outputTpm } of plan.lanes) {
    await limiter.configure(lane, {
      ...(rpm === undefined ? {} : { rpm }),
      ...(outputTpm === undefined ? {} : { outputTpm }),
    });
  }
  let count = 0;
  /** Asks until the request is accepted: one that was answered 429 is given back and asked for anew. */
  const once = async ({ lane }: LanePlan): Promise<void> => {
    while (!stop.signal.aborted) {
      count += 1;
      const id = `${process.pid}-${count}`;
      if (!(await reserve(lane, id))) return;
      const reply = await ask(lane);
      const { requests, outputTokens } = reply.headers;
      if (plan.pacing === "ours") {
        await limiter.learn(lane, {
          ...(requests === null ? {} : { requests }),
          ...(outputTokens === null ? {} : { outputTokens }),
        });
      }
      if (reply.accepted) {
        await limiter.settle(lane, id, { inputTokens: 600, outputTokens: reply.outputTokens });
        return;
      }
      await limiter.cool(lane, reply.retryAfterMs, true);
      await limiter.cancel(lane, id);
    }
  };
  const reserve = async (lane: string, id: string): Promise<boolean> => {
    const estimate = { id, inputTokens: 600, outputTokens: meanOutputTokens, tenant: "bench", weight: 1 };
    while (!stop.signal.aborted) {
      const answer = await limiter.reserve(lane, estimate);
      if (answer.kind === "granted") return true;
      if (answer.kind === "never") throw new Error(answer.message);
      await sleep(answer.afterMs);
    }
    return false;
  };
  return once;
}
