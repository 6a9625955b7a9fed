import type { FigureData } from "@hallumaze/experiments";
import { resultChart } from "@hallumaze/reports";
import { describe, expect, it } from "vitest";

import { renderFigure } from "./render-figure.ts";

const models = ["oracle", "dfs-honest", "언어 모델"];
const unknown = { value: null, lo: null, hi: null };
const interval = (value: number) => ({ value, lo: value - 0.05, hi: value + 0.05 });

const intervals: FigureData = {
  kind: "intervals",
  name: "mirage",
  title: "Mirage",
  valueLabel: "MEI off - on",
  references: [{ at: 0, label: "no effect" }],
  points: [
    ...models.flatMap((category, at) =>
      ["seed", "robust"].map((series) => ({ category, series, ...interval(at / 10 + (series === "seed" ? 0 : 0.03)) })),
    ),
    { category: "gone", series: "seed", ...unknown },
  ],
};
const lines: FigureData = {
  kind: "lines",
  name: "difficulty",
  title: "Difficulty",
  xLabel: "size",
  yLabel: "MEI",
  points: models.flatMap((series, at) =>
    ["seed", "robust"].flatMap((panel) =>
      [5, 7, 9].map((x) => ({ series, panel, x, ...interval(0.9 - at / 5 - x / 50) })),
    ),
  ),
};
const reliability: FigureData = {
  kind: "reliability",
  name: "reliability",
  title: "Reliability",
  points: models.flatMap((series, at) =>
    [0.3, 0.5, 0.7, 0.9].map((confidence) => ({ series, confidence, accuracy: confidence - at / 10, count: 10 })),
  ),
};
const stacked: FigureData = {
  kind: "stacked",
  name: "outcomes",
  title: "Outcomes",
  valueLabel: "share of trials",
  points: models.flatMap((category, at) =>
    ["ok", "truncated", "refused", "timeout"].map((part, index) => ({ category, part, count: 10 + at * index })),
  ),
};

describe("a result's figure is drawn for one column and for two", { timeout: 60_000 }, () => {
  it.each([intervals, lines, reliability, stacked])("$kind", async (figure) => {
    for (const columns of [1, 2] as const) {
      const { svg, pdf } = await renderFigure(resultChart(figure), { columns, title: figure.title });
      expect(svg).not.toMatch(/NaN|undefined|null</);
      expect(svg).toContain("언어 모델</text>");
      expect(pdf.length).toBeGreaterThan(2000);
    }
  });

  it("a value that is not known is drawn nowhere, and keeps its name on the axis", async () => {
    const { svg } = await renderFigure(resultChart(intervals), { columns: 1, title: "t" });
    expect(svg.match(/aria-roledescription="point"/g)).toHaveLength(6);
    expect(svg).toContain("dashed: no effect (0)</t");
  });
});
