import { autoScore, type AutoScoreSettings, measureFitness, serviceGate, standingVerdict } from "@hallumaze/judging";
import type { OpenAPIHono } from "@hono/zod-openapi";

import type { ApiPorts, ApiStore } from "./api-ports.ts";
import {
  autoScoreRoute,
  createResultRoute,
  createScenarioRoute,
  fitnessRoute,
  readResultRoute,
  readScenarioRoute,
} from "./benchmark-routes.ts";
import { pollPath, viewAutoScore, viewFitness, viewResult, viewScenario } from "./benchmark-views.ts";
import type { ApiEnv } from "./guard-access.ts";
import { ProblemError } from "./problems.ts";

/** How long a client waits before it polls. */
const pollSeconds = 2;

/** Adds `/api/benchmark/*`. Waiting calls end with their poll address when `stop` fires. */
export function addBenchmark(
  app: OpenAPIHono<ApiEnv>,
  ports: ApiPorts,
  settings: AutoScoreSettings,
  stop: AbortSignal,
): void {
  const { store } = ports;
  addScenarios(app, store);
  addResults(app, store, settings);
  addFitness(app, store, settings);
  app.openapi(autoScoreRoute, async (c) => {
    const resultId = c.req.valid("param").result_id;
    const dryRun = c.req.valid("query").dry_run === "true";
    const signal = AbortSignal.any([c.req.raw.signal, stop]);
    const answer = await autoScore(ports, settings, { resultId, dryRun }, signal);
    const poll = pollPath(resultId);
    switch (answer.kind) {
      case "scored":
      case "dryRun":
        return c.json(viewAutoScore(answer), 200);
      case "pending":
        return c.json({ result_id: resultId, status: "pending" as const, poll }, 202, {
          location: poll,
          "retry-after": String(pollSeconds),
        });
      case "busy":
        throw new ProblemError("judging-under-way", {
          detail: "Another call has this result judged. Read the verdict at the poll address.",
          poll,
          retryAfterSeconds: pollSeconds,
        });
      case "unknown":
        throw new ProblemError("not-found", { detail: "There is no result of that id." });
      case "nothingToJudge":
        throw new ProblemError("nothing-to-judge", {
          detail: "The result has no scenario and response of its own; a trial is judged by its sweep's judge.",
        });
      case "noJudge":
        throw new ProblemError("no-judge", { detail: "A dry run asks the judge, and this service has none." });
    }
  });
}

function addScenarios(app: OpenAPIHono<ApiEnv>, store: ApiStore): void {
  app.openapi(createScenarioRoute, async (c) => {
    const body = c.req.valid("json");
    const scenario = {
      prompt: body.prompt,
      expectedL3: body.expected_l3,
      criteriaL1: body.criteria_l1 ?? null,
      criteriaL2: body.criteria_l2 ?? null,
    };
    const { scenarioId } = await store.addScenario(scenario);
    const location = `/api/benchmark/scenarios/${scenarioId}`;
    return c.json(viewScenario({ ...scenario, scenarioId }), 201, { location });
  });
  app.openapi(readScenarioRoute, async (c) => {
    const scenario = await store.findScenario(c.req.valid("param").scenario_id);
    if (scenario === null) throw new ProblemError("not-found", { detail: "There is no scenario of that id." });
    return c.json(viewScenario(scenario), 200);
  });
}

function addResults(app: OpenAPIHono<ApiEnv>, store: ApiStore, settings: AutoScoreSettings): void {
  app.openapi(createResultRoute, async (c) => {
    const { scenario_id: scenarioId, response, submitter } = c.req.valid("json");
    const added = await store.addResult({ scenarioId, response, submitter: submitter ?? null });
    if (added === null) throw new ProblemError("not-found", { detail: "There is no scenario of that id." });
    const poll = pollPath(added.resultId);
    return c.json({ result_id: added.resultId, poll }, 201, { location: poll });
  });
  app.openapi(readResultRoute, async (c) => {
    const result = await store.findResult(c.req.valid("param").result_id);
    if (result === null) throw new ProblemError("not-found", { detail: "There is no result of that id." });
    const gate = await serviceGate(store, settings.judge);
    return c.json(viewResult(result, gate, standingVerdict(result, settings, gate)), 200);
  });
}

function addFitness(app: OpenAPIHono<ApiEnv>, store: ApiStore, settings: AutoScoreSettings): void {
  app.openapi(fitnessRoute, async (c) => {
    const { sweep: name, result_ids: ids, same_population: same } = c.req.valid("query");
    const { judge, consensus } = settings;
    if (judge === null) throw new ProblemError("gate-closed", { detail: "No judge is configured." });
    const sweep = name === undefined ? null : await store.findSweep(name);
    if (name !== undefined && sweep === null) {
      throw new ProblemError("not-found", { detail: "There is no sweep of that name." });
    }
    const scope =
      sweep === null
        ? { kind: "results" as const, resultIds: [...new Set(ids?.split(",") ?? [])] }
        : { kind: "sweep" as const, sweepId: sweep.sweepId };
    const asked = { judge: judge.identity, consensus, scope, samePopulation: same === "true" };
    const fitness = await measureFitness(store, asked, c.req.raw.signal);
    if (fitness.kind === "fitness") return c.json(viewFitness(fitness, judge.identity), 200);
    if (fitness.kind === "unknown") {
      throw new ProblemError("not-found", {
        detail: `There is no result ${fitness.resultIds.slice(0, 5).join(", ")}.`,
      });
    }
    const code = fitness.reason === "gateClosed" ? "gate-closed" : "no-fitness";
    throw new ProblemError(code, { detail: fitness.message, reason: fitness.reason });
  });
}
