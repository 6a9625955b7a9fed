import { setImmediate as pause } from "node:timers/promises";

import { judgedTrials } from "@hallumaze/analysis";
import {
  comparisonQuery,
  comparisonView,
  leaderboardQuery,
  type LeaderboardView,
  leaderboardView,
  sweepParam,
} from "@hallumaze/contract";
import type { SweepRecord } from "@hallumaze/engine";
import { createTrialTable, type TrialTable } from "@hallumaze/trials";
import { type ConditionFilter, createSweepCache, viewComparison, viewLeaderboard } from "@hallumaze/viewing";
import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";

import { within } from "./bounded-calls.ts";
import type { ApiEnv } from "./guard-access.ts";
import { type Bounds, type PagePorts, sweepOf, worked } from "./page-ports.ts";
import { ProblemError } from "./problems.ts";
import { json, problems, security } from "./route-parts.ts";

const leaderboardRoute = createRoute({
  method: "get",
  path: "/api/sweeps/{name}/leaderboard",
  summary: "The models of a sweep, ranked in one profile, with intervals and coverage",
  security,
  request: { params: sweepParam, query: leaderboardQuery },
  responses: { 200: json("The leaderboard", leaderboardView), ...problems(400, 401, 404, 429, 503) },
});

const comparisonRoute = createRoute({
  method: "get",
  path: "/api/sweeps/{name}/compare",
  summary: "Two models on the mazes that both have",
  security,
  request: { params: sweepParam, query: comparisonQuery },
  responses: { 200: json("The paired difference", comparisonView), ...problems(400, 401, 404, 422, 429, 503) },
});

/** Sweeps whose numbers are kept; 200,000 trials take some 35 MB. */
const tablesKept = 4;
/** Leaderboards that are kept: some 20 kB each. */
const boardsKept = 100;
/** A sweep under way is counted anew after so long. */
const freshMs = 5000;

/** Adds the leaderboard and the comparison of two models. */
export function addRanking(app: OpenAPIHono<ApiEnv>, ports: PagePorts, bounds: Bounds, now: () => number): void {
  const cache = createSweepCache<TrialTable>({ most: tablesKept, freshMs, now });
  const boards = createSweepCache<LeaderboardView>({ most: boardsKept, freshMs, now });
  const tableOf = async (sweep: SweepRecord): Promise<TrialTable> => {
    const { sweeps } = await within(bounds.callMs, ports.views.versions());
    const made = cache.of(sweep.sweepId, sweeps.get(sweep.name) ?? "", () => readTable(ports, sweep));
    return worked(bounds, made);
  };
  app.openapi(leaderboardRoute, async (c) => {
    const sweep = await sweepOf(ports, bounds, c.req.valid("param").name);
    const { profile, ...words } = c.req.valid("query");
    const asked = { sweep: sweep.name, profile, filter: filterOf(words) };
    const { sweeps } = await within(bounds.callMs, ports.views.versions());
    const key = JSON.stringify([sweep.sweepId, profile, words]);
    const board = boards.of(key, sweeps.get(sweep.name) ?? "", async () =>
      viewLeaderboard(await tableOf(sweep), asked, () => pause()),
    );
    return c.json(await worked(bounds, board), 200);
  });
  app.openapi(comparisonRoute, async (c) => {
    const sweep = await sweepOf(ports, bounds, c.req.valid("param").name);
    const { a, b, metric, profile, ...words } = c.req.valid("query");
    const table = await tableOf(sweep);
    for (const model of [a, b]) {
      if (!table.models().includes(model)) {
        throw new ProblemError("not-found", { detail: "The sweep has no model of one of these names." });
      }
    }
    const compared = viewComparison(table, { sweep: sweep.name, a, b, metric, profile, filter: filterOf(words) });
    if (compared === null) throw new ProblemError("no-such-metric", { detail: `${profile} has no ${metric}.` });
    return c.json(compared, 200);
  });
}

async function readTable({ store }: PagePorts, sweep: SweepRecord): Promise<TrialTable> {
  const table = createTrialTable();
  for await (const page of judgedTrials(store, sweep, { of: "scores" })) {
    for (const row of page) table.add(row);
  }
  return table;
}

function filterOf(words: {
  readonly size?: number | undefined;
  readonly group?: string | undefined;
  readonly mirage?: "on" | "off" | undefined;
  readonly language?: string | undefined;
}): ConditionFilter {
  const { size, group, mirage, language } = words;
  return { size, group, mirage: mirage === undefined ? undefined : mirage === "on", language };
}
