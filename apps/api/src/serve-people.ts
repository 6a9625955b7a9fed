import { peopleMaze, peopleMazeQuery, peopleTrialCreated, peopleTrialInput } from "@hallumaze/contract";
import { parseImport, problemText } from "@hallumaze/imports";
import { peopleRecord, peopleTrialId, viewPeopleMaze } from "@hallumaze/viewing";
import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";

import { within } from "./bounded-calls.ts";
import type { ApiEnv } from "./guard-access.ts";
import type { Bounds, PagePorts } from "./page-ports.ts";
import { ProblemError } from "./problems.ts";
import { json, jsonBody, problems, security } from "./route-parts.ts";

const mazeRoute = createRoute({
  method: "get",
  path: "/api/people/maze",
  summary: "A maze for a person to walk: what a model would get, without its solution",
  security,
  request: { query: peopleMazeQuery },
  responses: { 200: json("The maze", peopleMaze), ...problems(400, 401, 429) },
});

const trialRoute = createRoute({
  method: "post",
  path: "/api/people/trials",
  summary: "Keep a person's walk; it is read and scored as a model's log",
  security,
  request: { body: jsonBody(peopleTrialInput) },
  responses: { 201: json("The trial's id and numbers", peopleTrialCreated), ...problems(400, 401, 413, 422, 429, 503) },
});

/** Adds the mazes for people and what becomes of their walks: rows as those that `import` adds. */
export function addPeople(app: OpenAPIHono<ApiEnv>, ports: PagePorts, bounds: Bounds): void {
  app.openapi(mazeRoute, (c) => {
    const { mirage, ...wish } = c.req.valid("query");
    return c.json(viewPeopleMaze({ ...wish, mirage: mirage === "on" }), 200);
  });
  app.openapi(trialRoute, async (c) => {
    const walk = c.req.valid("json");
    const bytes = Buffer.from(JSON.stringify([peopleRecord(walk)]));
    const reading = parseImport({ fileName: "page-walk.json", bytes, as: "human", model: null, skipBad: false });
    if (reading.kind === "refused") {
      throw new ProblemError("refused", { detail: reading.problems.map(problemText).join("; ").slice(0, 500) });
    }
    const [row] = reading.rows;
    const { stored } = await within(bounds.callMs, ports.store.addImport(reading.file, reading.rows));
    ports.onChange({ importId: stored.importId, size: walk.size, seed: walk.seed }, "walk of a person kept");
    const trialId = peopleTrialId(stored.importId, row?.position ?? 1);
    const { robust, seed } = row?.scores ?? {};
    const numbers = { outcome: row?.outcome ?? "ok", sr: seed?.sr ?? 0, mei: robust?.mei ?? 0 };
    return c.json({ trialId, ...numbers }, 201, { location: `/api/trials/${trialId}` });
  });
}
