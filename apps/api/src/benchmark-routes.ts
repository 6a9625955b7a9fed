import {
  autoScoreView,
  fitnessQuery,
  fitnessView,
  pendingView,
  resultCreated,
  resultInput,
  resultView,
  scenarioInput,
  scenarioView,
} from "@hallumaze/contract";
import { createRoute, z } from "@hono/zod-openapi";

import { json, problems, security } from "./route-parts.ts";

const resultId = z.object({ result_id: z.string().max(100) });

/** `POST /api/benchmark/scenarios`: the same scenario is one row. */
export const createScenarioRoute = createRoute({
  method: "post",
  path: "/api/benchmark/scenarios",
  summary: "Keep a scenario",
  security,
  request: { body: { required: true, content: { "application/json": { schema: scenarioInput } } } },
  responses: { 201: json("The scenario", scenarioView), ...problems(400, 401, 413, 429, 503) },
});

/** `GET /api/benchmark/scenarios/{scenario_id}`. */
export const readScenarioRoute = createRoute({
  method: "get",
  path: "/api/benchmark/scenarios/{scenario_id}",
  summary: "Read a scenario",
  security,
  request: { params: z.object({ scenario_id: z.string().max(100) }) },
  responses: { 200: json("The scenario", scenarioView), ...problems(401, 404, 429, 503) },
});

/** `POST /api/benchmark/results`. */
export const createResultRoute = createRoute({
  method: "post",
  path: "/api/benchmark/results",
  summary: "Keep a response to a scenario",
  security,
  request: { body: { required: true, content: { "application/json": { schema: resultInput } } } },
  responses: { 201: json("The result's id", resultCreated), ...problems(400, 401, 404, 413, 429, 503) },
});

/** `GET /api/benchmark/results/{result_id}`: the poll address. */
export const readResultRoute = createRoute({
  method: "get",
  path: "/api/benchmark/results/{result_id}",
  summary: "Read a result with all its judgements",
  security,
  request: { params: resultId },
  responses: { 200: json("The result", resultView), ...problems(401, 404, 429, 503) },
});

/** `POST /api/benchmark/auto-score/{result_id}`: the seed's endpoint. */
export const autoScoreRoute = createRoute({
  method: "post",
  path: "/api/benchmark/auto-score/{result_id}",
  summary: "Score a result",
  security,
  request: {
    params: resultId,
    query: z.strictObject({
      dry_run: z
        .enum(["true", "false"])
        .optional()
        .describe("true: buy the judge's verdict and show it beside what stands, which stays as it is"),
    }),
  },
  responses: {
    200: json("The verdict", autoScoreView),
    202: json("The judge is at work; poll", pendingView),
    ...problems(400, 401, 404, 409, 413, 422, 429, 501, 503),
  },
});

/** `GET /api/benchmark/fitness`. */
export const fitnessRoute = createRoute({
  method: "get",
  path: "/api/benchmark/fitness",
  summary: "The mean level of results, corrected for how the judge errs",
  security,
  request: { query: fitnessQuery },
  responses: { 200: json("The mean", fitnessView), ...problems(400, 401, 404, 409, 422, 429, 501, 503) },
});
