import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

import { type Counted, openLimitServer, type ServerLimits } from "./limit-server.ts";
import type { LanePlan, Pacing, WorkerMessage, WorkerPlan } from "./limit-worker.ts";

/** A lane of a run: the limits that workers are told and the server enforces, until `changes` come at their minute. */
export interface LaneRun {
  readonly lane: string;
  readonly limits: ServerLimits;
  /** Requests at once, over all processes. */
  readonly loops: number;
  /** Requests in all; as many as the time allows where left out. */
  readonly requests?: number;
  readonly changes?: readonly { readonly atMinute: number; readonly limits: ServerLimits }[];
}

/** One run: workers against one enforcing server a lane. */
export interface Run {
  readonly pacing: Pacing;
  /** Of Redis or Postgres, where the pacing needs one. */
  readonly url: string;
  readonly lanes: readonly LaneRun[];
  readonly processes: number;
  readonly minuteMs: number;
  /** How long it lasts; with `requests` on all lanes it ends as soon as they are done. */
  readonly minutes: number;
}

/** What was counted on one lane; `gaveUp` are calls that a worker let fail. */
export interface LaneCounted extends Counted {
  readonly gaveUp: number;
}

/** Capacity of the server's buckets, of a minute's allowance: six seconds of it. */
export const capacityShare = 0.1;

/** Starts the workers, lets them work, ends them, and gives what was counted on each lane. */
export async function runAgainstServer(run: Run): Promise<readonly LaneCounted[]> {
  const children = Array.from({ length: run.processes }, () => fork(new URL("./limit-worker.ts", import.meta.url)));
  // The clock starts when all can work (their first message says so): start-up is not the limiter's.
  await Promise.all(children.map((child) => once(child, "message")));
  const desks = new Map(run.lanes.map((lane, index) => [lane.lane, openDesk(lane, run.minuteMs, index)]));
  for (const child of children) {
    child.on("message", (message: WorkerMessage) => {
      const desk = desks.get(message.lane);
      if (desk !== undefined) void serve(desk, message, child);
    });
    tell(child, { plan: planOf(run) });
  }
  const timers = run.lanes.flatMap(({ lane, changes = [] }) =>
    changes.map(({ atMinute, limits }) =>
      setTimeout(() => desks.get(lane)?.server.change(limits), atMinute * run.minuteMs),
    ),
  );
  const timeUp = new Promise<void>((resolve) => timers.push(setTimeout(resolve, run.minutes * run.minuteMs)));
  await Promise.race([timeUp, Promise.all([...desks.values()].map((desk) => desk.done))]);
  timers.forEach(clearTimeout);
  const counted = [...desks.values()].map((desk) => ({ ...desk.server.counted(), gaveUp: desk.gaveUp }));
  await Promise.all(children.map(stop));
  return counted;
}

interface Desk {
  readonly server: ReturnType<typeof openLimitServer>;
  /** Requests not yet handed out, and not yet ended. */
  toHandOut: number;
  toEnd: number;
  gaveUp: number;
  readonly done: Promise<void>;
  readonly end: () => void;
}

function openDesk({ limits, requests = Infinity }: LaneRun, minuteMs: number, index: number): Desk {
  let end = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  const server = openLimitServer(minuteMs, capacityShare, limits, 20_261_129 + index);
  return { server, toHandOut: requests, toEnd: requests, gaveUp: 0, done, end };
}

async function serve(desk: Desk, message: WorkerMessage, child: ChildProcess): Promise<void> {
  const value = await answer(desk, message.kind);
  tell(child, { id: message.id, value });
}

/** A worker that has just ended hears nothing any more; without the callback that would end the benchmark. */
function tell(child: ChildProcess, message: object): void {
  if (child.connected) child.send(message, () => undefined);
}

async function answer(desk: Desk, kind: WorkerMessage["kind"]): Promise<unknown> {
  switch (kind) {
    case "gave-up":
      desk.gaveUp += 1;
      return null;
    case "take":
      desk.toHandOut -= 1;
      return desk.toHandOut >= 0;
    case "ask": {
      const reply = await desk.server.ask();
      if (reply.accepted) desk.toEnd -= 1;
      if (desk.toEnd === 0) desk.end();
      return reply;
    }
  }
}

function planOf({ pacing, url, lanes, processes, minuteMs }: Run): WorkerPlan {
  const share = ({ lane, limits: { rpm, outputTpm }, loops }: LaneRun): LanePlan => ({
    lane,
    ...(rpm === undefined ? {} : { rpm }),
    ...(outputTpm === undefined ? {} : { outputTpm }),
    loops: Math.ceil(loops / processes),
  });
  const isNumbered = lanes.some(({ requests }) => requests !== undefined);
  return { pacing, url, minuteMs, lanes: lanes.map(share), isNumbered };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  tell(child, { stop: true });
  await gone;
}
