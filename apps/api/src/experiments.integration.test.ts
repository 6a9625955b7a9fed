import { experimentList, experimentView, problem } from "@hallumaze/contract";
import { compareModels } from "@hallumaze/experiments";
import { resultChart } from "@hallumaze/reports";
import { createTrialTable } from "@hallumaze/trials";
import { afterAll, beforeAll, expect, it } from "vitest";

import { expectAnswer, openPageStage, type PageStage } from "../test/page-stage.ts";

let stage: PageStage;
const base = "/api/sweeps/studied/experiments";

beforeAll(async () => {
  stage = await openPageStage();
  const models = ["sim/dfs-honest", "sim/random-walk"];
  await stage.finish(await stage.submit("studied", { models, seeds: ["1..4"], mirage: [true, false] }));
}, 120_000);
afterAll(() => stage.close());

it("lists the experiments, and why the data does not hold one", async () => {
  const { experiments } = await expectAnswer(stage.call("GET", base), 200, experimentList);
  expect(experiments).toHaveLength(12);
  const reasons = Object.fromEntries(experiments.map(({ experiment, whyNot }) => [experiment, whyNot]));
  expect(reasons).toMatchObject({ models: null, mirage: null, human: "no record of people was imported" });
});

it("calls each experiment what its result calls itself", async () => {
  const { experiments } = await expectAnswer(stage.call("GET", base), 200, experimentList);
  const held = experiments.filter(({ whyNot }) => whyNot === null);
  expect(held.length).toBeGreaterThan(4);
  for (const { experiment, title } of held) {
    const view = await expectAnswer(stage.call("GET", `${base}/${experiment}`), 200, experimentView);
    expect(view.title).toBe(title);
  }
});

it("has an experiment's reading, warnings and tables as the report writes them", async () => {
  const view = await expectAnswer(stage.call("GET", `${base}/models`), 200, experimentView);
  const table = createTrialTable();
  const sweep = await stage.house.store.findSweep("studied");
  for await (const page of stage.house.store.streamTrials(sweep?.sweepId ?? "", 100)) {
    for (const row of page) table.add(row);
  }
  const report = compareModels(table);
  expect(view.reading).toEqual(report.reading);
  expect(view.tables).toEqual(JSON.parse(JSON.stringify(report.tables)));
  const [figure] = report.figures;
  const spec = await (await stage.call("GET", `${base}/models/figures/${figure?.name}.json`)).json();
  expect(spec).toEqual(figure === undefined ? null : JSON.parse(JSON.stringify(resultChart(figure))));
});

it("draws a figure as SVG and as PDF, neither of which may run or load anything", async () => {
  const { figures } = await expectAnswer(stage.call("GET", `${base}/models`), 200, experimentView);
  const path = `${base}/models/figures/${figures[0]?.name}`;
  const svg = await stage.call("GET", `${path}.svg`);
  expect(svg.headers.get("content-type")).toBe("image/svg+xml");
  expect(svg.headers.get("content-security-policy")).toContain("sandbox");
  expect(svg.headers.get("content-disposition")).toContain("attachment");
  expect(await svg.text()).toMatch(/^<svg[^>]*>|^<\?xml/);
  const pdf = await stage.call("GET", `${path}.pdf`);
  expect(
    Buffer.from(await pdf.arrayBuffer())
      .subarray(0, 5)
      .toString("latin1"),
  ).toBe("%PDF-");
});

it("gives a table as CSV", async () => {
  const response = await stage.call("GET", `${base}/models/tables/models.csv`);
  expect(response.headers.get("content-type")).toContain("text/csv");
  const lines = (await response.text()).split(/\r?\n/);
  expect(lines[0]).toMatch(/^model,/);
  expect(lines.some((line) => line.startsWith("sim/dfs-honest,"))).toBe(true);
});

it("refuses what is not there: another experiment, figure, table or file, and data that is not held", async () => {
  for (const [path, status] of [
    [`${base}/nothing`, 400],
    [`${base}/human`, 422],
    [`${base}/models/figures/none.svg`, 404],
    [`${base}/models/figures/models.exe`, 400],
    [`${base}/models/figures/..%2F..%2Fx.svg`, 400],
    [`${base}/models/tables/none.csv`, 404],
    ["/api/sweeps/nobody/experiments", 404],
  ] as const) {
    const told = await expectAnswer(stage.call("GET", path), status, problem);
    expect(told.status).toBe(status);
  }
});
