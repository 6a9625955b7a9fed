import {
  type GridView,
  gridQuery,
  gridView,
  maxGridCells,
  pairList,
  pairsQuery,
  sweepList,
  sweepParam,
  sweepView,
  trialParam,
  trialView,
} from "@hallumaze/contract";
import type { SweepRecord } from "@hallumaze/engine";
import { limiterLaneOf } from "@hallumaze/judging";
import { knownLanes, limitsUnder } from "@hallumaze/steering";
import { judgesOf, parseStoredSpec } from "@hallumaze/sweep";
import {
  createGrid,
  gridColumn,
  type LaneState,
  readPeopleTrialId,
  viewHumanPair,
  viewHumanTrial,
  viewPairs,
  viewPairsOfPerson,
  viewSummary,
  viewSweep,
  viewTrial,
} from "@hallumaze/viewing";
import { findInSweep, type SweepFindings } from "@hallumaze/watching";
import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";

import { within } from "./bounded-calls.ts";
import type { ApiEnv } from "./guard-access.ts";
import { type Bounds, type PagePorts, sweepOf } from "./page-ports.ts";
import { ProblemError } from "./problems.ts";
import { json, problems, security } from "./route-parts.ts";

const listRoute = createRoute({
  method: "get",
  path: "/api/sweeps",
  summary: "All sweeps with their counts",
  security,
  responses: { 200: json("The sweeps", sweepList), ...problems(401, 429, 503) },
});

const sweepRoute = createRoute({
  method: "get",
  path: "/api/sweeps/{name}",
  summary: "A sweep: progress, failures, money, lanes, judges, findings",
  security,
  request: { params: sweepParam },
  responses: { 200: json("The sweep", sweepView), ...problems(400, 401, 404, 429, 503) },
});

const gridRoute = createRoute({
  method: "get",
  path: "/api/sweeps/{name}/grid",
  summary: "Every cell of a sweep's grid, in columns",
  security,
  request: { params: sweepParam, query: gridQuery },
  responses: { 200: json("The grid", gridView), ...problems(400, 401, 404, 429, 503) },
});

const pairsRoute = createRoute({
  method: "get",
  path: "/api/sweeps/{name}/pairs",
  summary: "The trials on the same maze as one of the sweep's",
  security,
  request: { params: sweepParam, query: pairsQuery },
  responses: { 200: json("The trials", pairList), ...problems(400, 401, 404, 429, 503) },
});

const trialRoute = createRoute({
  method: "get",
  path: "/api/trials/{trialId}",
  summary: "A trial: its maze, replies, verified walk, formulas, judgements and exchanges",
  security,
  request: { params: trialParam },
  responses: { 200: json("The trial", trialView), ...problems(400, 401, 404, 429, 503) },
});

/** Trials on one maze that are listed beside another. */
const pairsMax = 500;

/** Adds what is looked at of sweeps and trials. */
export function addSweeps(app: OpenAPIHono<ApiEnv>, ports: PagePorts, bounds: Bounds, now: () => number): void {
  const { views, store } = ports;
  const { callMs } = bounds;
  const findings = createFindings(ports, now);
  app.openapi(listRoute, async (c) => {
    const [records, counts] = await within(callMs, Promise.all([store.listSweeps(), views.sweepCounts()]));
    const countsOf = new Map(counts.map((one) => [one.sweepId, one]));
    return c.json({ sweeps: records.map((sweep) => viewSummary(sweep, countsOf.get(sweep.sweepId) ?? null)) }, 200);
  });
  app.openapi(sweepRoute, async (c) => {
    const sweep = await sweepOf(ports, bounds, c.req.valid("param").name);
    const [progress, judges, firstFailures] = await within(
      callMs,
      Promise.all([
        store.progress(sweep.sweepId),
        store.judgeProgress(sweep.sweepId),
        views.firstFailures(sweep.sweepId),
      ]),
    );
    const trials = progress.models.flatMap(({ states }) => Object.values(states)).reduce((sum, n) => sum + n, 0);
    const lanes = await within(callMs, readLanes(ports, sweep));
    const found = await findings(sweep.sweepId, trials);
    return c.json(
      viewSweep({
        progress,
        lanes,
        judges,
        findings: found.findings,
        findingsScope: found.scope,
        firstFailures,
        nowMs: now(),
      }),
      200,
    );
  });
  app.openapi(gridRoute, async (c) => {
    const sweep = await sweepOf(ports, bounds, c.req.valid("param").name);
    return c.json(await readGrid(ports, bounds, sweep.sweepId, c.req.valid("query").metric), 200);
  });
  app.openapi(pairsRoute, async (c) => {
    const sweep = await sweepOf(ports, bounds, c.req.valid("param").name);
    const asked = readPeopleTrialId(c.req.valid("query").trial);
    const person = asked === null ? null : await within(callMs, views.findPerson(asked.importId, asked.position));
    if (person !== null) {
      const rows = await within(callMs, views.trialsOnMaze(sweep.sweepId, person, pairsMax));
      return c.json(viewPairsOfPerson(person, rows), 200);
    }
    const trial = await within(callMs, views.findTrial(c.req.valid("query").trial));
    if (trial === null || trial.sweepId !== sweep.sweepId) {
      throw new ProblemError("not-found", { detail: "The sweep has no trial of that id." });
    }
    const [rows, people] = await within(
      callMs,
      Promise.all([views.trialsOnMaze(sweep.sweepId, trial.plan, pairsMax), views.peopleOnMaze(trial.plan, pairsMax)]),
    );
    return c.json(viewPairs(trial, rows, people.map(viewHumanPair)), 200);
  });
  app.openapi(trialRoute, async (c) => {
    const { trialId } = c.req.valid("param");
    const asked = readPeopleTrialId(trialId);
    const person = asked === null ? null : await within(callMs, views.findPerson(asked.importId, asked.position));
    if (person !== null) return c.json(viewHumanTrial(person), 200);
    const trial = await within(callMs, views.findTrial(trialId));
    if (trial === null) throw new ProblemError("not-found", { detail: "There is no trial of that id." });
    const { resultId } = trial;
    const judgements = resultId === null ? [] : await within(callMs, store.judgementsOf([resultId]));
    return c.json(viewTrial(trial, judgements), 200);
  });
}

async function readGrid(
  { views }: PagePorts,
  { callMs }: Bounds,
  sweepId: string,
  metric: GridView["metric"],
): Promise<GridView> {
  const grid = createGrid(metric);
  // One more than are served tells that there are more.
  const pages = views.gridRows(sweepId, gridColumn(metric), maxGridCells + 1)[Symbol.asyncIterator]();
  let cells = 0;
  try {
    for (;;) {
      const { done, value } = await within(callMs, pages.next());
      if (done === true) return grid.finish(false);
      for (const row of value) {
        if (cells === maxGridCells) return grid.finish(true);
        grid.add(row);
        cells += 1;
      }
    }
  } finally {
    await pages.return?.();
  }
}

async function readLanes(
  { store, queue, limiter, defaultLimits }: PagePorts,
  sweep: SweepRecord,
): Promise<readonly LaneState[]> {
  const { models } = await store.progress(sweep.sweepId);
  const judged = judgesOf(parseStoredSpec(sweep.specJson)).map(({ lane }) => lane);
  const lanes = [...new Set([...models.map(({ lane }) => lane), ...judged])];
  const known = new Map(knownLanes([sweep], defaultLimits).map(({ lane, limits }) => [lane, limits]));
  const uses = new Map((await limiter.use(lanes.map(limiterLaneOf))).map((use) => [use.lane, use]));
  const controls = new Map((await store.laneControls()).map((control) => [control.lane, control]));
  return Promise.all(
    lanes.map(async (lane): Promise<LaneState> => {
      const control = controls.get(lane) ?? controls.get(limiterLaneOf(lane)) ?? null;
      return {
        lane,
        depth: await queue.depth(lane),
        limits: limitsUnder(known.get(lane) ?? {}, control?.limits ?? {}),
        use: uses.get(limiterLaneOf(lane)) ?? null,
        control,
      };
    }),
  );
}

/** Between two looks of the detectors at a sweep: they read replies, not counts alone. */
const findAgainMs = 30_000;
/** Sweeps whose findings are kept. */
const findingsKept = 50;

/** What the detectors last saw of each sweep. A look that takes long is not waited for: nothing is said until it is done. */
function createFindings({ store }: Pick<PagePorts, "store">, now: () => number) {
  const seen = new Map<string, { found: SweepFindings; atMs: number; isLooking: boolean }>();
  const nothing: SweepFindings = { findings: [], scope: "the detectors are still looking" };
  return async (sweepId: string, trials: number): Promise<SweepFindings> => {
    const known = seen.get(sweepId) ?? { found: nothing, atMs: Number.NEGATIVE_INFINITY, isLooking: false };
    if (known.isLooking || now() - known.atMs < findAgainMs) return known.found;
    known.isLooking = true;
    seen.delete(sweepId);
    seen.set(sweepId, known);
    for (const [oldest] of seen) {
      if (seen.size <= findingsKept) break;
      seen.delete(oldest);
    }
    const look = findInSweep(store, sweepId, trials).then(
      (found) => {
        known.found = found;
      },
      () => undefined,
    );
    const looked = look.finally(() => {
      known.isLooking = false;
      known.atMs = now();
    });
    await within(firstLookMs, looked).catch(() => undefined);
    return known.found;
  };
}

/** How long an answer waits for a first look. */
const firstLookMs = 1500;
