import {
  experimentList,
  experimentParam,
  experimentView,
  type ExperimentWord,
  figureParam,
  sweepParam,
  tableParam,
} from "@hallumaze/contract";
import type { ExperimentResult, FigureData } from "@hallumaze/experiments";
import { csvTable, resultChart } from "@hallumaze/reports";
import { createSweepCache, partFileName, viewExperiment } from "@hallumaze/viewing";
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";

import { within } from "./bounded-calls.ts";
import type { ApiEnv } from "./guard-access.ts";
import { type Bounds, type PagePorts, sweepOf, worked } from "./page-ports.ts";
import { ProblemError } from "./problems.ts";
import { type Study, studiesHere } from "./run-study.ts";
import { json, problems, security } from "./route-parts.ts";

const base = "/api/sweeps/{name}/experiments";

const listRoute = createRoute({
  method: "get",
  path: base,
  summary: "The experiments, and why a sweep's data does not hold one",
  security,
  request: { params: sweepParam },
  responses: { 200: json("The experiments", experimentList), ...problems(400, 401, 404, 429, 503) },
});

const experimentRoute = createRoute({
  method: "get",
  path: `${base}/{experiment}`,
  summary: "What an experiment found, as the report writes it",
  security,
  request: { params: experimentParam },
  responses: { 200: json("The result", experimentView), ...problems(400, 401, 404, 422, 429, 503) },
});

const file = (type: string) => ({ [type]: { schema: z.string() } });

const figureRoute = createRoute({
  method: "get",
  path: `${base}/{experiment}/figures/{file}`,
  summary: "A figure: its Vega-Lite specification (.json), or drawn (.svg, .pdf)",
  security,
  request: { params: figureParam },
  responses: {
    200: {
      description: "The figure",
      content: { ...file("application/json"), ...file("image/svg+xml"), ...file("application/pdf") },
    },
    ...problems(400, 401, 404, 422, 429, 503),
  },
});

const tableRoute = createRoute({
  method: "get",
  path: `${base}/{experiment}/tables/{file}`,
  summary: "A table as CSV; text that a spreadsheet would take for a formula is quoted",
  security,
  request: { params: tableParam },
  responses: {
    200: { description: "The table", content: file("text/csv") },
    ...problems(400, 401, 404, 422, 429, 503),
  },
});

/** Sweeps whose data is kept: walks and confidences of a large one take some hundred MB. */
const studiesKept = 1;
/** A sweep under way is read anew after so long. */
const freshMs = 60_000;

/** Adds the experiments with their figures and tables. `stop` ends what is being read. */
export function addExperiments(
  app: OpenAPIHono<ApiEnv>,
  ports: PagePorts,
  bounds: Bounds,
  now: () => number,
  stop: AbortSignal,
): void {
  const openStudy = ports.openStudy ?? studiesHere(ports.store);
  const cache = createSweepCache<Study>({ most: studiesKept, freshMs, now, drop: ({ close }) => close() });
  const studyOf = async (name: string): Promise<Study> => {
    const sweep = await sweepOf(ports, bounds, name);
    const { sweeps } = await within(bounds.callMs, ports.views.versions());
    const version = sweeps.get(sweep.name) ?? "";
    return worked(
      bounds,
      cache.of(sweep.sweepId, version, () => openStudy(sweep, stop)),
    );
  };
  const resultOf = async (name: string, experiment: ExperimentWord): Promise<ExperimentResult> => {
    const study = await studyOf(name);
    const reason = study.held.find((one) => one.experiment === experiment)?.whyNot ?? null;
    if (reason !== null) throw new ProblemError("no-experiment", { detail: reason });
    return worked(bounds, study.run(experiment));
  };
  app.openapi(listRoute, async (c) => {
    const { held } = await studyOf(c.req.valid("param").name);
    return c.json({ experiments: held.map((one) => ({ ...one })) }, 200);
  });
  app.openapi(experimentRoute, async (c) => {
    const { name, experiment } = c.req.valid("param");
    return c.json(viewExperiment(await resultOf(name, experiment)), 200);
  });
  app.openapi(figureRoute, async (c) => {
    const { name, experiment, file: asked } = c.req.valid("param");
    const [part = "", kind = ""] = asked.split(".");
    const { figures } = await resultOf(name, experiment);
    const figure = figures.find((one) => one.name === part && one.points.length > 0);
    if (figure === undefined) throw new ProblemError("not-found", { detail: "The experiment has no such figure." });
    const drawn = await drawFigure(figure, kind);
    return c.body(drawn.body, 200, download(drawn.type, `${partFileName(experiment, part)}.${kind}`));
  });
  app.openapi(tableRoute, async (c) => {
    const { name, experiment, file: asked } = c.req.valid("param");
    const [part = ""] = asked.split(".");
    const table = (await resultOf(name, experiment)).tables.find((one) => one.name === part);
    if (table === undefined) throw new ProblemError("not-found", { detail: "The experiment has no such table." });
    const fileName = `${partFileName(experiment, part)}.csv`;
    return c.body(csvTable(table), 200, download("text/csv; charset=utf-8", fileName));
  });
}

async function drawFigure(
  figure: FigureData,
  kind: string,
): Promise<{ readonly type: string; readonly body: string | Uint8Array<ArrayBuffer> }> {
  const chart = resultChart(figure);
  if (kind === "json") return { type: "application/json", body: JSON.stringify(chart) };
  // Its libraries take as much memory as all else of the service: only who draws needs them.
  const { FigureError, renderWide } = await import("@hallumaze/figures");
  try {
    const { svg, pdf } = await renderWide(chart, figure.title);
    if (kind === "pdf") return { type: "application/pdf", body: Uint8Array.from(pdf) };
    return { type: "image/svg+xml", body: svg };
  } catch (error) {
    if (error instanceof FigureError) throw new ProblemError("refused", { detail: error.message });
    throw error;
  }
}

/** An SVG that is opened by itself is a document: it may run nothing and load nothing. */
function download(type: string, fileName: string): Record<string, string> {
  return {
    "content-type": type,
    "content-disposition": `attachment; filename="${fileName}"`,
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; font-src data:; sandbox",
  };
}
