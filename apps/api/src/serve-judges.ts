import { calibrationList, disagreementList, disagreementsQuery, type GateList, gateList } from "@hallumaze/contract";
import { gateStateOf, type ServiceJudge } from "@hallumaze/judging";
import { type CalibrationRow, viewCalibration, viewDisagreements } from "@hallumaze/viewing";
import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";

import { within } from "./bounded-calls.ts";
import type { ApiEnv } from "./guard-access.ts";
import type { Bounds, PagePorts } from "./page-ports.ts";
import { ProblemError } from "./problems.ts";
import { json, problems, security } from "./route-parts.ts";

const calibrationsRoute = createRoute({
  method: "get",
  path: "/api/judge/calibrations",
  summary: "How far judges agreed with people, newest first",
  security,
  responses: { 200: json("The calibrations", calibrationList), ...problems(401, 429, 503) },
});

const gateRoute = createRoute({
  method: "get",
  path: "/api/judge/gate",
  summary: "Whether each judge's verdicts are the default, and why not",
  security,
  responses: { 200: json("The gates", gateList), ...problems(401, 429, 503) },
});

const disagreementsRoute = createRoute({
  method: "get",
  path: "/api/judge/disagreements",
  summary: "The items on which a judge and people differ, to be read",
  security,
  request: { query: disagreementsQuery },
  responses: { 200: json("The items", disagreementList), ...problems(400, 401, 404, 429, 503) },
});

const calibrationsMax = 100;
const goldTextsMax = 2000;

/** Adds what is looked at of judges. */
export function addJudges(
  app: OpenAPIHono<ApiEnv>,
  ports: PagePorts,
  bounds: Bounds,
  judge: ServiceJudge | null,
): void {
  const { views, store } = ports;
  const { callMs } = bounds;
  app.openapi(calibrationsRoute, async (c) => {
    const rows = await within(callMs, views.calibrations(calibrationsMax));
    return c.json({ calibrations: rows.map(viewCalibration) }, 200);
  });
  app.openapi(gateRoute, async (c) => {
    const rows = await within(callMs, views.calibrations(calibrationsMax));
    const identities = distinct([...(judge === null ? [] : [judge.identity]), ...rows.map(identityOf)]);
    const gates: GateList["gates"] = [];
    for (const identity of identities) {
      const { open, refusals, calibratedAtMs } = await within(callMs, gateStateOf(store, identity));
      gates.push({ judge: identity, open, refusals: [...refusals], calibratedAtMs });
    }
    return c.json({ service: judge?.identity.judgeModel ?? null, gates }, 200);
  });
  app.openapi(disagreementsRoute, async (c) => {
    const { calibration } = c.req.valid("query");
    const row = await within(
      callMs,
      calibration === undefined
        ? views.calibrations(1).then(([newest]) => newest ?? null)
        : views.findCalibrationById(calibration),
    );
    if (row === null && calibration !== undefined) {
      throw new ProblemError("not-found", { detail: "There is no calibration of that id." });
    }
    const texts = row === null ? [] : await within(callMs, views.goldTexts(row.goldSetId, goldTextsMax));
    return c.json(viewDisagreements(row, texts), 200);
  });
}

type Identity = GateList["gates"][number]["judge"];

function identityOf({ judgeModel, promptVersion, promptHash, rubricVersion }: CalibrationRow): Identity {
  return { judgeModel, promptVersion, promptHash, rubricVersion };
}

function distinct(identities: readonly Identity[]): readonly Identity[] {
  return [...new Map(identities.map((identity) => [JSON.stringify(identityWords(identity)), identity])).values()];
}

function identityWords({ judgeModel, promptVersion, promptHash, rubricVersion }: Identity): readonly string[] {
  return [judgeModel, promptVersion, promptHash, rubricVersion];
}
