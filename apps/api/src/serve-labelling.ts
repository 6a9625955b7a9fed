import {
  agreementView,
  labellingDrawInput,
  labellingDrawn,
  labellingParam,
  labellingQuery,
  labellingView,
  labelInput,
  labelReport,
  maxLabellingItems,
} from "@hallumaze/contract";
import type { SweepRecord } from "@hallumaze/engine";
import { countByRater, goldLine, type StoredLabel, viewAgreement, viewLabellingItem } from "@hallumaze/viewing";
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";

import { within } from "./bounded-calls.ts";
import type { ApiEnv } from "./guard-access.ts";
import { type Bounds, type PagePorts, sweepOf } from "./page-ports.ts";
import { ProblemError } from "./problems.ts";
import { json, jsonBody, problems, security } from "./route-parts.ts";

const drawRoute = createRoute({
  method: "post",
  path: "/api/labelling/{set}",
  summary: "Draw a sweep's answers to be labelled, once, in a fixed order",
  security,
  request: { params: labellingParam, body: jsonBody(labellingDrawInput) },
  responses: { 200: json("The set", labellingDrawn), ...problems(400, 401, 404, 413, 422, 429, 503) },
});

const nextRoute = createRoute({
  method: "get",
  path: "/api/labelling/{set}",
  summary: "A rater's next item, blind",
  security,
  request: { params: labellingParam, query: labellingQuery },
  responses: { 200: json("The item", labellingView), ...problems(400, 401, 404, 409, 429, 503) },
});

const labelRoute = createRoute({
  method: "post",
  path: "/api/labelling/{set}/labels",
  summary: "Keep a rater's level of an item; a second one replaces the first",
  security,
  request: { params: labellingParam, body: jsonBody(labelInput) },
  responses: { 200: json("How far the rater is", labelReport), ...problems(400, 401, 404, 413, 429, 503) },
});

const agreementRoute = createRoute({
  method: "get",
  path: "/api/labelling/{set}/agreement",
  summary: "How far raters agree, once two of them have labelled every item",
  security,
  request: { params: labellingParam },
  responses: { 200: json("The agreement", agreementView), ...problems(400, 401, 404, 409, 429, 503) },
});

const goldRoute = createRoute({
  method: "get",
  path: "/api/labelling/{set}/gold.jsonl",
  summary: "The labels as a gold set for judge calibrate, once two raters have finished",
  security,
  request: { params: labellingParam },
  responses: {
    200: { description: "A line an item", content: { "text/plain": { schema: z.string() } } },
    ...problems(400, 401, 404, 409, 429, 503),
  },
});

/** Adds labelling by people. A set is a sweep's; nobody sees another's labels before two have finished. */
export function addLabelling(app: OpenAPIHono<ApiEnv>, ports: PagePorts, bounds: Bounds): void {
  const { labels, views, onChange } = ports;
  const { callMs } = bounds;
  const drawnSet = async (name: string): Promise<{ readonly sweep: SweepRecord; readonly total: number }> => {
    const sweep = await sweepOf(ports, bounds, name);
    const total = await within(callMs, labels.countLabelling(sweep.sweepId));
    if (total === 0) throw new ProblemError("not-drawn", { detail: "Draw it with POST /api/labelling/{set} first." });
    return { sweep, total };
  };
  app.openapi(drawRoute, async (c) => {
    const sweep = await sweepOf(ports, bounds, c.req.valid("param").set);
    const total = await within(bounds.workMs, labels.drawLabelling(sweep.sweepId, maxLabellingItems));
    if (total === 0) throw new ProblemError("refused", { detail: "The sweep has no answer whose text is there." });
    onChange({ sweepId: sweep.sweepId, total }, "labelling set drawn");
    return c.json({ set: sweep.name, total }, 200);
  });
  app.openapi(nextRoute, async (c) => {
    const { sweep, total } = await drawnSet(c.req.valid("param").set);
    const { rater } = c.req.valid("query");
    const next = await within(callMs, labels.nextLabelling(sweep.sweepId, rater));
    const trial = next === null ? null : await within(callMs, views.findTrial(next.trialId));
    const item = next === null || trial === null ? null : viewLabellingItem(next.itemId, trial);
    const done = await doneBy(rater, sweep);
    return c.json({ set: sweep.name, rater, total, done, item }, 200);
  });
  app.openapi(labelRoute, async (c) => {
    const { rater, itemId, level, reason = null } = c.req.valid("json");
    const { sweep, total } = await drawnSet(c.req.valid("param").set);
    const label = { itemId, rater, level: level as StoredLabel["level"], reason };
    if (!(await within(callMs, labels.saveLabel(sweep.sweepId, label)))) {
      throw new ProblemError("not-found", { detail: "The set has no item of that id." });
    }
    onChange({ sweepId: sweep.sweepId, itemId }, "label kept");
    return c.json({ done: await doneBy(rater, sweep), total }, 200);
  });
  app.openapi(agreementRoute, async (c) => {
    const { sweep, total } = await drawnSet(c.req.valid("param").set);
    const given = await within(callMs, labels.labelsOf(sweep.sweepId));
    return c.json(viewAgreement(sweep.name, total, given), 200);
  });
  app.openapi(goldRoute, async (c) => {
    const { sweep, total } = await drawnSet(c.req.valid("param").set);
    const given = await within(callMs, labels.labelsOf(sweep.sweepId));
    const finished = countByRater(given)
      .filter(({ done }) => done === total)
      .map(({ rater }) => rater);
    if (finished.length < 2) throw new ProblemError("labelling-under-way");
    const lines: string[] = [];
    const ofFinished = given.filter(({ rater }) => finished.includes(rater));
    for (const trialId of new Set(ofFinished.map((label) => label.trialId))) {
      const trial = await within(callMs, views.findTrial(trialId));
      if (trial !== null)
        lines.push(
          goldLine(
            trial,
            ofFinished.filter((label) => label.trialId === trialId),
          ),
        );
    }
    return c.text(`${lines.join("\n")}\n`, 200, {
      "content-disposition": 'attachment; filename="gold.jsonl"',
    });
  });

  async function doneBy(rater: string, { sweepId }: SweepRecord): Promise<number> {
    const given = await within(callMs, labels.labelsOf(sweepId));
    return given.filter((label) => label.rater === rater).length;
  }
}
