import {
  cancelInput,
  laneParam,
  laneReport,
  laneResumeInput,
  limitInput,
  parkInput,
  pauseInput,
  prioritizeInput,
  resumeInput,
  retryInput,
  type SteeringReport,
  steeringReport,
  sweepParam,
} from "@hallumaze/contract";
import type { SweepRecord } from "@hallumaze/engine";
import { limiterLaneOf } from "@hallumaze/judging";
import {
  cancelNamed,
  type LimitChange,
  namedLanes,
  parkLane,
  pauseNamed,
  prioritizeSweep,
  readDurationMs,
  readSelector,
  resumeLane,
  resumeNamed,
  retryNamed,
  SteeringError,
} from "@hallumaze/steering";
import { createRoute, type OpenAPIHono, type z } from "@hono/zod-openapi";

import { within } from "./bounded-calls.ts";
import type { ApiEnv } from "./guard-access.ts";
import { type Bounds, type PagePorts, sweepOf } from "./page-ports.ts";
import { ProblemError } from "./problems.ts";
import { json, jsonBody, problems, security } from "./route-parts.ts";

/** A change takes its time with many trials: 200,000 are put back in some 20 s. */
const changeMs = 60_000;

function sweepRoute<Path extends string, Body extends z.ZodType>(path: Path, summary: string, body: Body) {
  return createRoute({
    method: "post",
    path: `/api/sweeps/{name}/${path}`,
    summary,
    security,
    request: { params: sweepParam, body: jsonBody(body) },
    responses: { 200: json("What was done", steeringReport), ...problems(400, 401, 404, 413, 422, 429, 503) },
  });
}

function laneRoute<Path extends string, Body extends z.ZodType>(path: Path, summary: string, body: Body) {
  return createRoute({
    method: "post",
    path: `/api/lanes/{lane}/${path}`,
    summary,
    security,
    request: { params: laneParam, body: jsonBody(body) },
    responses: { 200: json("What was done", laneReport), ...problems(400, 401, 413, 422, 429, 503) },
  });
}

const pauseRoute = sweepRoute(
  "pause",
  "Let nothing new of a sweep start; calls under way end and are kept",
  pauseInput,
);
const resumeRoute = sweepRoute("resume", "Let a paused sweep go on, and its lanes that a vendor stopped", resumeInput);
const cancelRoute = sweepRoute(
  "cancel",
  "Cancel what is open of a sweep; calls under way end and are kept",
  cancelInput,
);
const retryRoute = sweepRoute("retry", "Put failed trials back with a full new budget of tries", retryInput);
const prioritizeRoute = sweepRoute("prioritize", "Change a sweep's priority or weight while it runs", prioritizeInput);
const parkRoute = laneRoute("park", "Let nothing new start in a lane, on any machine", parkInput);
const laneResumeRoute = laneRoute("resume", "Let a parked lane go on, whoever parked it", laneResumeInput);
const limitRoute = laneRoute("limit", "Change limits of a lane while it runs, over every spec", limitInput);

/** Adds what an operator may change: the commands' use cases, with the commands' refusals. */
export function addSteering(app: OpenAPIHono<ApiEnv>, ports: PagePorts, bounds: Bounds): void {
  addPausing(app, ports, bounds);
  addChoosing(app, ports, bounds);
  addLanes(app, ports);
}

function addPausing(app: OpenAPIHono<ApiEnv>, ports: PagePorts, bounds: Bounds): void {
  app.openapi(pauseRoute, async (c) => {
    const sweep = await sweepOf(ports, bounds, c.req.valid("param").name);
    const paused = await change(pauseNamed(ports, sweep, c.req.valid("json").models));
    ports.onChange({ sweepId: sweep.sweepId, models: paused?.models }, "sweep paused");
    return c.json(await report(ports, sweep, {}), 200);
  });
  app.openapi(resumeRoute, async (c) => {
    const sweep = await sweepOf(ports, bounds, c.req.valid("param").name);
    const { models, trials, lanes, held } = await change(resumeNamed(ports, sweep, c.req.valid("json")));
    ports.onChange({ sweepId: sweep.sweepId, models, trials }, "sweep resumed");
    const goOn = lanes.filter(({ wasParked }) => wasParked).map(({ lane }) => lane);
    const kept = held.map(({ lane, parked }) => ({ lane, reason: parked?.reason ?? "" }));
    return c.json(await report(ports, sweep, { requeued: trials, lanes: goOn, held: kept }), 200);
  });
  app.openapi(prioritizeRoute, async (c) => {
    const { priority, weight, reset = false } = c.req.valid("json");
    if (priority === undefined && weight === undefined && !reset) {
      throw new ProblemError("bad-request", { detail: "Say what to change: priority, weight, or reset." });
    }
    const sweep = await sweepOf(ports, bounds, c.req.valid("param").name);
    const placed = await change(
      prioritizeSweep(ports, sweep.sweepId, {
        ...(reset && { priority: null, weight: null }),
        ...(priority !== undefined && { priority }),
        ...(weight !== undefined && { weight }),
      }),
    );
    ports.onChange({ sweepId: sweep.sweepId, priority, weight, placed }, "sweep prioritized");
    return c.json(await report(ports, sweep, { requeued: placed }), 200);
  });
}

function addChoosing(app: OpenAPIHono<ApiEnv>, ports: PagePorts, bounds: Bounds): void {
  app.openapi(cancelRoute, async (c) => {
    const { now = false, ...words } = c.req.valid("json");
    const selector = asked(() => readSelector(words));
    const sweep = await sweepOf(ports, bounds, c.req.valid("param").name);
    const done = await change(cancelNamed(ports, sweep, selector, { now }));
    const isNothing = done.cancelled + done.ending + done.judgements === 0;
    if (!isNothing) ports.onChange({ sweepId: sweep.sweepId, ...done }, "trials cancelled");
    return c.json(await report(ports, sweep, { ...done, nothing: isNothing ? "open trial" : null }), 200);
  });
  app.openapi(retryRoute, async (c) => {
    const { failed = false, ...words } = c.req.valid("json");
    const selector = asked(() => readSelector(words));
    const sweep = await sweepOf(ports, bounds, c.req.valid("param").name);
    const { trials, judgements, states } = await change(retryNamed(ports, sweep, selector, failed));
    const isNothing = trials + judgements === 0;
    if (!isNothing) ports.onChange({ sweepId: sweep.sweepId, trials, judgements }, "trials put back");
    const nothing = isNothing ? `${states.join(" or ")} trial` : null;
    return c.json(await report(ports, sweep, { requeued: trials, judgements, nothing }), 200);
  });
}

function addLanes(app: OpenAPIHono<ApiEnv>, ports: PagePorts): void {
  app.openapi(parkRoute, async (c) => {
    const { reason = null, for: word } = c.req.valid("json");
    const forMs = word === undefined ? null : readDurationMs(word);
    if (word !== undefined && (forMs === null || forMs <= 0)) {
      throw new ProblemError("bad-request", { detail: "for: expected 30s, 90m, 2h, 1d; 1,000 days at most." });
    }
    const done = [];
    for (const lane of await lanesNamed(ports, c.req.valid("param").lane)) {
      const blocked = await change(parkLane(ports, lane, reason, forMs));
      ports.onChange({ lane, by: "operator", forMs, blocked }, "lane parked");
      done.push({ lane, parked: true, wasParked: false, blocked, requeued: 0 });
    }
    return c.json({ lanes: done }, 200);
  });
  app.openapi(laneResumeRoute, async (c) => {
    const done = [];
    for (const lane of await lanesNamed(ports, c.req.valid("param").lane)) {
      const { wasParked, putBack } = await change(resumeLane(ports, lane));
      if (wasParked || putBack > 0) ports.onChange({ lane, trials: putBack }, "lane resumed");
      done.push({ lane, parked: false, wasParked, blocked: 0, requeued: putBack });
    }
    return c.json({ lanes: done }, 200);
  });
  app.openapi(limitRoute, async (c) => {
    const { limits, reset = false } = c.req.valid("json");
    const given = limits === undefined ? [] : Object.entries(limits).filter(([, value]) => value !== undefined);
    if ((given.length === 0) !== reset) {
      throw new ProblemError("bad-request", { detail: "Say either limits, such as rpm 50, or reset." });
    }
    const limit: LimitChange | null = reset ? null : Object.fromEntries(given);
    const lanes = [...new Set((await lanesNamed(ports, c.req.valid("param").lane)).map(limiterLaneOf))];
    for (const lane of lanes) {
      await change(ports.store.limitLane(lane, limit));
      ports.onChange({ lane, limits: limit }, "lane limited");
    }
    await change(ports.refreshLanes());
    const done = lanes.map((lane) => ({ lane, parked: false, wasParked: false, blocked: 0, requeued: 0 }));
    return c.json({ lanes: done }, 200);
  });
}

/** Has a change made; what it refuses becomes a problem with its words. */
async function change<T>(work: Promise<T>): Promise<T> {
  try {
    return await within(changeMs, work);
  } catch (error) {
    throw refusalOf(error);
  }
}

function asked<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw refusalOf(error);
  }
}

/** These words are ours, and say what to say instead. */
function refusalOf(error: unknown): unknown {
  return error instanceof SteeringError ? new ProblemError("refused", { detail: error.message }) : error;
}

async function lanesNamed({ store }: PagePorts, word: string): Promise<readonly string[]> {
  return change(namedLanes(store, word));
}

async function report(
  { store }: PagePorts,
  before: SweepRecord,
  done: Partial<SteeringReport>,
): Promise<SteeringReport> {
  const sweep = (await within(changeMs, store.findSweep(before.name))) ?? before;
  return {
    sweep: sweep.name,
    paused: sweep.paused === null ? null : { sinceMs: sweep.paused.sinceMs, models: [...sweep.paused.models] },
    requeued: 0,
    judgements: 0,
    cancelled: 0,
    ending: 0,
    lanes: [],
    held: [],
    priority: sweep.priority,
    weight: sweep.weight,
    nothing: null,
    ...done,
  };
}
