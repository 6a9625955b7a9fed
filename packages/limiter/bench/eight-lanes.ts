import {
  type Allowance,
  type Figure,
  figure,
  fullestChargedMinute,
  makespanFigures,
  promised,
  refusedShare,
} from "./limit-figures.ts";
import { type LaneRun, runAgainstServer } from "./limit-run.ts";
import type { Pacing } from "./limit-worker.ts";
import { minuteMs, newLane } from "./steady-lane.ts";

/** Eight lanes of different limits: six bound by requests, two by output tokens. */
const limits: readonly Allowance[] = [
  ...[60, 90, 120, 150, 180, 240].map((perMinute) => ({ unit: "requests", perMinute, minuteMs }) as const),
  ...[300_000, 400_000].map((perMinute) => ({ unit: "tokens", perMinute, minuteMs }) as const),
];
const meanTokens = 400;

/**
 * All lanes at once, each with so many minutes of work: when the last reply came, over when it should have come with
 * every lane at its limit. A lane that is held up by another, or a slow start, shows at once.
 */
export async function measureEightLanes(
  url: string,
  pacings: readonly Pacing[],
  minutes: number,
): Promise<readonly Figure[]> {
  return (await Promise.all(pacings.map((pacing) => measure(url, pacing, minutes)))).flat();
}

async function measure(url: string, pacing: Pacing, minutes: number): Promise<readonly Figure[]> {
  const lanes = limits.map(({ unit, perMinute }): LaneRun => {
    const requestsPerMinute = unit === "requests" ? perMinute : perMinute / meanTokens;
    // Ten seconds a request, and half as many that wait; a fixed concurrency has no waiters.
    const inFlight = requestsPerMinute / 6;
    return {
      lane: newLane(),
      limits: unit === "requests" ? { rpm: perMinute } : { outputTpm: perMinute },
      loops: Math.ceil(pacing === "p-queue" ? inFlight : inFlight * 1.5),
      requests: Math.round(requestsPerMinute * minutes),
    };
  });
  // What is not done by twice the time counts as done then.
  const run = { pacing, url, lanes, minuteMs, minutes: minutes * 2 };
  const counted = await runAgainstServer({ ...run, processes: pacing.startsWith("ours") ? 4 : 1 });
  const parts = limits.flatMap((allowance, index) => {
    const [lane, work] = [counted[index], lanes[index]?.requests];
    if (lane === undefined) return [];
    const endMs = lane.completions.length === work ? (lane.completions.at(-1)?.atMs ?? 0) : run.minutes * minuteMs;
    return [{ counted: lane, allowance, endMs }];
  });
  const fullest = Math.max(...parts.map((part) => fullestChargedMinute(part.counted, part.allowance)));
  const name = `limits/${pacing}/eight-lanes`;
  return [
    ...makespanFigures(name, parts),
    figure(`${name}/429`, 100 * refusedShare(counted), "%", promised.refused),
    figure(`${name}/fullest-charged-minute-of-a-lane`, 100 * fullest, "%", promised.fullestMinute),
  ];
}
