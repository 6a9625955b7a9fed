import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

import { type Counted, openLimitServer, type ServerLimits } from "./limit-server.ts";
import type { WorkerPlan } from "./limit-worker.ts";

/** One run: workers against an enforcing server; `changes` come at their minute. */
export interface Run {
  readonly plan: Omit<WorkerPlan, "loops" | "minuteMs">;
  readonly processes: number;
  /** Requests at once, over all processes. */
  readonly loops: number;
  readonly minuteMs: number;
  readonly minutes: number;
  readonly changes?: readonly { readonly atMinute: number; readonly limits: ServerLimits }[];
  readonly serverLimits: ServerLimits;
}

/** Capacity of the server's buckets, of a minute's allowance: six seconds of it. */
export const capacityShare = 0.1;

/** Starts the workers, lets them work for the run's minutes, and ends them. */
export async function runAgainstServer(run: Run): Promise<Counted> {
  const children = Array.from({ length: run.processes }, () => fork(new URL("./limit-worker.ts", import.meta.url)));
  // The clock starts when all can work (their first message says so): start-up is not the limiter's.
  await Promise.all(children.map((child) => once(child, "message")));
  const server = openLimitServer(run.minuteMs, capacityShare, run.serverLimits);
  for (const child of children) {
    child.on("message", (message: { readonly id: number }) => {
      void server.ask().then((reply) => child.connected && child.send({ id: message.id, reply }));
    });
    child.send({ plan: { ...run.plan, minuteMs: run.minuteMs, loops: Math.ceil(run.loops / run.processes) } });
  }
  const timers = (run.changes ?? []).map(({ atMinute, limits }) =>
    setTimeout(() => server.change(limits), atMinute * run.minuteMs),
  );
  await new Promise((resolve) => setTimeout(resolve, run.minutes * run.minuteMs));
  timers.forEach(clearTimeout);
  const counted = server.counted();
  const snapshot = { completions: [...counted.completions], refusals: [...counted.refusals] };
  await Promise.all(children.map(stop));
  return snapshot;
}

async function stop(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.send({ stop: true });
  await gone;
}

/** Completed over allowed between two minutes of a run; `perMinute` of requests, or of tokens. */
export function utilisation(
  { completions }: Counted,
  unit: "requests" | "tokens",
  perMinute: number,
  span: { readonly fromMs: number; readonly toMs: number; readonly minuteMs: number },
): number {
  const used = completions
    .filter(({ atMs }) => atMs >= span.fromMs && atMs < span.toMs)
    .reduce((sum, { tokens }) => sum + (unit === "requests" ? 1 : tokens), 0);
  return used / ((perMinute * (span.toMs - span.fromMs)) / span.minuteMs);
}

/** Most that completed in any window of one minute, over the limit. */
export function fullestMinute(
  { completions }: Counted,
  unit: "requests" | "tokens",
  perMinute: number,
  minuteMs: number,
): number {
  let [sum, first, most] = [0, 0, 0];
  const cost = (tokens: number): number => (unit === "requests" ? 1 : tokens);
  for (const { atMs, tokens } of completions) {
    sum += cost(tokens);
    while (atMs - (completions[first]?.atMs ?? 0) >= minuteMs) {
      sum -= cost(completions[first]?.tokens ?? 0);
      first += 1;
    }
    most = Math.max(most, sum);
  }
  return most / perMinute;
}
