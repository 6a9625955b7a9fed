import { Queue } from "bullmq";

import { openLimiter } from "../src/index.ts";
import { fullestMinute, type Run, runAgainstServer, utilisation } from "./limit-run.ts";
import type { ServerLimits } from "./limit-server.ts";
import type { WorkerPlan } from "./limit-worker.ts";

/** One measured number; `ratio` is value over what the row named `against` got in the same run. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly ratio?: number;
  readonly against?: string;
}

/** A minute in ten seconds: real sleeping, and durations, refills and waits all scaled alike. */
const minuteMs = 10_000;
const minutes = 3;

/** Both ask for the same limit in their own unit; a mean request takes 400 tokens, a tenth of a percent of the second. */
const bounds = {
  rpm: { rpm: 300 },
  tpm: { outputTpm: 400_000 },
} as const satisfies Record<string, ServerLimits>;

/** By Little's law the limit keeps this many requests in flight: 10 s a request of 300 or 1,000 a minute. */
const inFlight = { rpm: 50, tpm: 167 } as const;

type Bound = keyof typeof bounds;

/** Share of the limit used, 429s and the fullest minute on an enforcing server, beside what others reach on it. */
export async function bench(env: {
  readonly redisUrl?: string;
  readonly databaseUrl?: string;
}): Promise<readonly Measurement[]> {
  const rows: Measurement[] = [];
  const { redisUrl, databaseUrl } = env;
  for (const [backEnd, url] of [
    ["redis", redisUrl],
    ["postgres", databaseUrl],
  ] as const) {
    if (url === undefined) continue;
    for (const bound of ["rpm", "tpm"] as const) {
      for (const processes of [1, 4]) {
        const name = `limits/${backEnd}/${bound}/${processes}-process`;
        rows.push(...(await steady(name, bound, "ours", url, processes, inFlight[bound] * 1.5)));
      }
    }
    rows.push(...(await operations(`limits/${backEnd}`, url)));
  }
  const url = redisUrl ?? databaseUrl;
  if (url !== undefined) {
    for (const pacing of ["ours", "ours-without-headers"] as const) rows.push(...(await disturbed(pacing, url)));
  }
  for (const bound of ["rpm", "tpm"] as const) rows.push(...(await others(bound, redisUrl)));
  return rows;
}

async function steady(
  name: string,
  bound: Bound,
  pacing: WorkerPlan["pacing"],
  url: string,
  processes: number,
  loops: number,
): Promise<readonly Measurement[]> {
  const limits = bounds[bound];
  const plan = { pacing, url, lane: newLane(), ...limits };
  return judge(name, { plan, processes, loops, minuteMs, minutes, serverLimits: limits }, bound);
}

async function judge(name: string, run: Run, bound: Bound): Promise<readonly Measurement[]> {
  const counted = await runAgainstServer(run);
  const [unit, limit] =
    bound === "rpm" ? (["requests", bounds.rpm.rpm] as const) : (["tokens", bounds.tpm.outputTpm] as const);
  const span = { fromMs: minuteMs, toMs: run.minutes * minuteMs, minuteMs };
  const sent = counted.completions.length + counted.refusals.length;
  return [
    { name: `${name}/used`, value: 100 * utilisation(counted, unit, limit, span), unit: "%" },
    { name: `${name}/429`, value: (100 * counted.refusals.length) / Math.max(1, sent), unit: "%" },
    { name: `${name}/fullest-minute`, value: 100 * fullestMinute(counted, unit, limit, minuteMs), unit: "%" },
  ];
}

/** The limit halves at 1.5 minutes and is restored at 3; then, apart, somebody takes 40 % of it from 1 minute on. */
async function disturbed(pacing: "ours" | "ours-without-headers", url: string): Promise<readonly Measurement[]> {
  const { rpm } = bounds.rpm;
  const base = { processes: 4, loops: inFlight.rpm * 1.5, minuteMs, serverLimits: { rpm } };
  const plan = (): Run["plan"] => ({ pacing, url, lane: newLane(), rpm });
  const halved = await runAgainstServer({
    ...base,
    plan: plan(),
    minutes: 4.5,
    changes: [
      { atMinute: 1.5, limits: { rpm: rpm / 2 } },
      { atMinute: 3, limits: { rpm } },
    ],
  });
  const shared = await runAgainstServer({
    ...base,
    plan: plan(),
    minutes: 4,
    changes: [{ atMinute: 1, limits: { rpm, takenByOthers: 0.4 } }],
  });
  const used = (counted: typeof halved, perMinute: number, from: number, to: number): number =>
    100 * utilisation(counted, "requests", perMinute, { fromMs: from * minuteMs, toMs: to * minuteMs, minuteMs });
  const refused = (counted: typeof halved): number =>
    (100 * counted.refusals.length) / (counted.refusals.length + counted.completions.length);
  const name = `limits/${pacing}`;
  return [
    { name: `${name}/halved/used-from-30s-on`, value: used(halved, rpm / 2, 2, 3), unit: "%" },
    { name: `${name}/restored/used-from-30s-on`, value: used(halved, rpm, 3.5, 4.5), unit: "%" },
    { name: `${name}/halved-and-restored/429`, value: refused(halved), unit: "%" },
    { name: `${name}/others-take-40%/used-of-the-rest`, value: used(shared, rpm * 0.6, 2, 4), unit: "%" },
    { name: `${name}/others-take-40%/429`, value: refused(shared), unit: "%" },
  ];
}

async function others(bound: Bound, redisUrl: string | undefined): Promise<readonly Measurement[]> {
  const rows: Measurement[] = [];
  rows.push(...(await steady(`limits/bare-retries/${bound}`, bound, "none", "", 1, inFlight[bound] * 1.5)));
  rows.push(...(await bestFixedConcurrency(bound)));
  rows.push(...(await steady(`limits/bottleneck/${bound}`, bound, "bottleneck", "", 1, inFlight[bound] * 1.5)));
  if (redisUrl === undefined) return rows;
  const { hostname: host, port } = new URL(redisUrl);
  const limits = bounds[bound];
  const lane = newLane();
  const queue = new Queue(lane, { connection: { host, port: Number(port) } });
  await queue.addBulk(
    Array.from({ length: 6_000 }, (_, index) => ({
      name: "ask",
      data: { index },
      opts: { removeOnComplete: true, removeOnFail: true },
    })),
  );
  const plan = { pacing: "bullmq", url: redisUrl, lane, ...limits } as const;
  const run = { plan, processes: 4, loops: inFlight[bound] * 1.5, minuteMs, minutes, serverLimits: limits };
  rows.push(...(await judge(`limits/bullmq-limiter/${bound}`, run, bound)));
  await queue.obliterate({ force: true });
  await queue.close();
  return rows;
}

/** The concurrency that used most among those tried, as somebody would find by hand who knew the durations. */
async function bestFixedConcurrency(bound: Bound): Promise<readonly Measurement[]> {
  let best: readonly Measurement[] = [];
  for (const share of [0.85, 1, 1.15]) {
    const loops = Math.round(inFlight[bound] * share);
    const rows = await steady(`limits/p-queue-best-fixed/${bound}`, bound, "p-queue", "", 1, loops);
    if ((rows[0]?.value ?? 0) > (best[0]?.value ?? 0)) best = rows;
  }
  return best;
}

/** Whole requests (reserve and settle) and refusals a second on one lane, 50 at a time from one process. */
async function operations(name: string, url: string): Promise<readonly Measurement[]> {
  const limiter = await openLimiter(url.startsWith("redis") ? { redisUrl: url } : { databaseUrl: url });
  const [free, full] = [newLane(), newLane()];
  await limiter.configure(free, { rpm: 1e9, inputTpm: 1e12, outputTpm: 1e12, concurrency: 1_000 });
  await limiter.configure(full, { rpm: 1 });
  const request = (id: string) => ({ id, inputTokens: 600, outputTokens: 400, tenant: "bench", weight: 1 });
  await limiter.reserve(full, request("first"));
  const total = url.startsWith("redis") ? 10_000 : 1_500;
  const perSecond = async (act: (id: string) => Promise<unknown>): Promise<number> => {
    let next = 0;
    const startMs = performance.now();
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        while (next < total) {
          next += 1;
          await act(`op-${next}`);
        }
      }),
    );
    return (total / (performance.now() - startMs)) * 1_000;
  };
  const whole = await perSecond(async (id) => {
    await limiter.reserve(free, request(id));
    await limiter.settle(free, id, { inputTokens: 600, outputTokens: 300 });
  });
  const refusals = await perSecond((id) => limiter.reserve(full, request(`${Number(id.slice(3)) % 200}`)));
  await limiter.close();
  return [
    { name: `${name}/reserve-and-settle`, value: whole, unit: "1/s" },
    { name: `${name}/refusals-of-200-waiters`, value: refusals, unit: "1/s" },
  ];
}

let lanes = 0;
function newLane(): string {
  lanes += 1;
  return `bench-${Date.now()}-${lanes}`;
}
