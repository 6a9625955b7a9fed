import { Queue } from "bullmq";

import { type Figure, figure, steadyFigures } from "./limit-figures.ts";
import { type LaneCounted, type LaneRun, runAgainstServer } from "./limit-run.ts";
import type { Pacing } from "./limit-worker.ts";
import { allowances, type Binding, inFlight, minuteMs, steadyLane } from "./steady-lane.ts";

/** What others reach on the same server; parts to be run one after another. BullMQ's limiter needs Redis. */
export function measureOthers(
  binding: Binding,
  redisUrl: string | undefined,
  minutes: number,
): readonly (() => Promise<readonly Figure[]>)[] {
  return [
    async () => (await Promise.all([measureSdk(binding, minutes), measureSpaced(binding, minutes)])).flat(),
    () => measureConcurrencies(binding, minutes),
    ...(redisUrl === undefined ? [] : [() => measureBullmq(binding, redisUrl, minutes)]),
  ];
}

/** The vendors' SDK alone: a loop a call, and the retries that it makes. */
async function measureSdk(binding: Binding, minutes: number): Promise<readonly Figure[]> {
  const counted = await run("sdk", steadyLane(binding), minutes);
  const name = `limits/bare-sdk/${binding}`;
  const calls = counted.completions.length + counted.gaveUp;
  return [
    ...steadyFigures(name, counted, allowances[binding], minutes),
    figure(`${name}/calls-given-up`, (100 * counted.gaveUp) / Math.max(1, calls), "%"),
  ];
}

async function measureSpaced(binding: Binding, minutes: number): Promise<readonly Figure[]> {
  const counted = await run("bottleneck", steadyLane(binding), minutes);
  return steadyFigures(`limits/bottleneck/${binding}`, counted, allowances[binding], minutes);
}

/**
 * Three fixed concurrencies, around what somebody would find by hand who knew the durations. All are told: which is best
 * depends on whether use or 429s count.
 */
async function measureConcurrencies(binding: Binding, minutes: number): Promise<readonly Figure[]> {
  const tried = await Promise.all(
    [0.85, 1, 1.15].map(async (share) => {
      const loops = Math.round(inFlight[binding] * share);
      const counted = await run("p-queue", steadyLane(binding, loops), minutes);
      return steadyFigures(`limits/p-queue-${loops}-at-once/${binding}`, counted, allowances[binding], minutes);
    }),
  );
  return tried.flat();
}

async function measureBullmq(binding: Binding, redisUrl: string, minutes: number): Promise<readonly Figure[]> {
  const { hostname: host, port } = new URL(redisUrl);
  const lane = steadyLane(binding);
  const queue = new Queue(lane.lane, { connection: { host, port: Number(port) } });
  await queue.addBulk(
    Array.from({ length: 6_000 }, (_, index) => ({
      name: "ask",
      data: { index },
      opts: { removeOnComplete: true, removeOnFail: true },
    })),
  );
  const counted = await run("bullmq", lane, minutes, redisUrl);
  await queue.obliterate({ force: true });
  await queue.close();
  return steadyFigures(`limits/bullmq-limiter/${binding}`, counted, allowances[binding], minutes);
}

async function run(pacing: Pacing, lane: LaneRun, minutes: number, url = ""): Promise<LaneCounted> {
  const processes = pacing === "bullmq" ? 4 : 1;
  const [counted] = await runAgainstServer({ pacing, url, lanes: [lane], processes, minuteMs, minutes });
  if (counted === undefined) throw new Error("a run without its lane");
  return counted;
}
