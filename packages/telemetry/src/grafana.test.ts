import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";
import { z } from "zod";

import { openMetricsStage, paidCall } from "../test/stage.ts";

const file = fileURLToPath(new URL("../../../docs/grafana/hallumaze.json", import.meta.url));

const source = z.strictObject({ type: z.literal("prometheus"), uid: z.literal("${datasource}") });
const place = z.strictObject({
  h: z.int().min(1),
  w: z.int().min(1).max(24),
  x: z.int().min(0).max(23),
  y: z.int().min(0),
});
const row = z.strictObject({
  id: z.int().min(1),
  type: z.literal("row"),
  title: z.string().min(1),
  collapsed: z.literal(false),
  gridPos: place,
  panels: z.array(z.never()),
});
const graph = z.strictObject({
  id: z.int().min(1),
  type: z.enum(["stat", "timeseries"]),
  title: z.string().min(1),
  description: z.string().min(1),
  datasource: source,
  gridPos: place,
  fieldConfig: z.strictObject({ defaults: z.looseObject({ unit: z.string() }), overrides: z.array(z.never()) }),
  options: z.looseObject({}),
  targets: z
    .array(z.strictObject({ refId: z.string(), datasource: source, expr: z.string().min(1), legendFormat: z.string() }))
    .min(1),
});

/** The classic dashboard's parts that are used here. SOURCE: Grafana, "Dashboard JSON model" (read 2026-11-30). */
const dashboardShape = z.strictObject({
  uid: z.string().regex(/^[\w-]{1,40}$/),
  title: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  schemaVersion: z.int().min(36),
  version: z.int(),
  editable: z.boolean(),
  graphTooltip: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  refresh: z.string(),
  timezone: z.enum(["browser", "utc", ""]),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  timepicker: z.looseObject({}),
  fiscalYearStartMonth: z.int().min(0).max(11),
  liveNow: z.boolean(),
  weekStart: z.string(),
  links: z.array(z.never()),
  annotations: z.strictObject({ list: z.array(z.never()) }),
  templating: z.strictObject({
    list: z.array(z.looseObject({ name: z.string(), type: z.enum(["datasource", "query"]) })),
  }),
  panels: z.array(z.discriminatedUnion("type", [row, graph])),
});

function read(): z.infer<typeof dashboardShape> {
  return dashboardShape.parse(JSON.parse(readFileSync(file, "utf8")));
}

const ownNames = /\b(?:hallumaze|nodejs|process)_[a-z0-9_]+/g;

describe("the Grafana dashboard", () => {
  it("has the shape that Grafana loads, each panel once and none over another", () => {
    const { panels } = read();
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });

  it("asks for nothing but metrics that are exposed, by labels that they have", async () => {
    const { metrics } = openMetricsStage();
    metrics.called("trial", "m", { ...paidCall, isCostUnknown: true });
    metrics.ended("trial", "m", "done", "ok");
    metrics.late("trial");
    metrics.notified("done", "webhook", true);
    const text = await metrics.expose();
    const exposed = new Set(Array.from(text.matchAll(/^([a-z0-9_]+)[ {]/gm), (match) => match[1] ?? ""));
    const { panels, templating } = read();
    const asked = panels.flatMap((panel) => (panel.type === "row" ? [] : panel.targets.map(({ expr }) => expr)));
    const names = [...asked, JSON.stringify(templating)].flatMap((expr) => expr.match(ownNames) ?? []);
    expect(names.length).toBeGreaterThan(30);
    for (const name of names) expect([...exposed], name).toContain(name);
    const labels = new Set(Array.from(text.matchAll(/[{,]([a-z_]+)="/g), (match) => match[1] ?? ""));
    const used = asked.flatMap((expr) => Array.from(expr.matchAll(/by \(([^)]*)\)/g), (match) => match[1] ?? ""));
    for (const label of used.flatMap((list) => list.split(/, */))) expect([...labels, "instance"]).toContain(label);
  });

  it("shows every metric of ours but the build", async () => {
    const { metrics } = openMetricsStage();
    const own = Array.from((await metrics.expose()).matchAll(/^# TYPE (hallumaze_\w+) /gm), (match) => match[1] ?? "");
    const text = readFileSync(file, "utf8");
    expect(own.filter((name) => !text.includes(name))).toEqual([
      "hallumaze_build_info",
      "hallumaze_ledger_reading_failures_total",
    ]);
  });
});
