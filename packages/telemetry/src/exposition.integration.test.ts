import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { findTool, runTool } from "@hallumaze/testkit";
import { describe, expect, it, onTestFinished } from "vitest";

import { checkMetrics } from "../test/promtool.ts";
import { openMetricsStage, paidCall } from "../test/stage.ts";

const tool = findTool("promtool");
const path = tool.kind === "installed" ? tool.path : "";

describe.skipIf(tool.kind === "missing")("Prometheus' own checker", () => {
  it("finds nothing in an exposition with one of everything", async () => {
    const { metrics } = openMetricsStage();
    metrics.called("trial", "openai/gpt-4o", paidCall);
    metrics.called("trial", "openai/new", { ...paidCall, costUsd: null, isCostUnknown: true });
    metrics.ended("judge", "openai/gpt-4o", "done", "verdict");
    metrics.late("trial");
    metrics.notified("done", "webhook", true);
    expect(await checkMetrics(path, await metrics.expose())).toEqual({ code: 0, says: "" });
  });

  it("would find a name without its unit, a counter without _total, and a broken line", async () => {
    const wrong = "# HELP a_milliseconds A.\n# TYPE a_milliseconds counter\na_milliseconds 1\n";
    expect((await checkMetrics(path, wrong)).says).toMatch(/counter metrics should have "_total" suffix[\s\S]*/);
    expect((await checkMetrics(path, 'a{b="c} 1\n')).code).not.toBe(0);
  });
});

describe.skipIf(tool.kind === "missing")("every query of the Grafana dashboard", () => {
  it("is one that Prometheus understands", async () => {
    const folder = await mkdtemp(join(tmpdir(), "hallumaze-rules-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const text = await readFile(new URL("../../../docs/grafana/hallumaze.json", import.meta.url), "utf8");
    const { panels } = JSON.parse(text) as { panels: { targets?: { expr: string }[] }[] };
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const rules = queries.map((expr, index) => ({
      record: `query:${index}`,
      expr: expr.replaceAll("$__rate_interval", "5m").replaceAll(/\$(?:sweep|lane)\b/g, ".*"),
    }));
    const rulesFile = join(folder, "rules.json");
    await writeFile(rulesFile, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
    expect(queries.length).toBeGreaterThan(30);
    expect(runTool(path, ["check", "rules", rulesFile])).toContain(`${queries.length} rules found`);
  });
});
