import { findTool } from "@hallumaze/testkit";
import { describe, expect, it } from "vitest";

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
