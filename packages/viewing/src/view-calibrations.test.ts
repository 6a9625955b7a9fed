import { calibrationView, disagreementList } from "@hallumaze/contract";
import { goldItemId } from "@hallumaze/judge";
import { expect, it } from "vitest";

import type { CalibrationRow } from "./ports.ts";
import { viewCalibration, viewDisagreements } from "./view-calibrations.ts";

const scenario = { prompt: "Why?", expectedL3: "Because.", criteriaL1: null, criteriaL2: null };
const item = { scenario, response: "<b>So</b>" };
const proportion = { count: 50, n: 54, share: 50 / 54, lo: 0.8, hi: 0.98 };
const row: CalibrationRow = {
  calibrationId: "c",
  createdAtMs: 1,
  goldSetId: "g",
  split: "test",
  judgeModel: "sim/judge",
  promptVersion: "v",
  promptHash: "h",
  rubricVersion: "r",
  items: 54,
  open: false,
  refusals: ["Agreement is too low."],
  reportJson: JSON.stringify({
    agreement: proportion,
    adjacent: proportion,
    kappa: { value: 0.8, n: 54, undefinedBecause: null, lo: 0.7, hi: 0.9 },
    signedBias: 0.1,
    lookCount: 3,
    confusion: {
      counts: [
        [18, 0, 0],
        [2, 15, 1],
        [0, 0, 18],
      ],
      unscored: [0, 0, 1],
    },
    baselines: {
      majority: { rule: "always L1", agreed: 18 },
      heuristic: null,
      length: { rule: "by length", agreed: 30 },
    },
    disagreements: [
      {
        id: goldItemId(item),
        line: 4,
        human: 3,
        judge: null,
        repeats: [null, 2],
        confidence: null,
        unscoredReason: "empty",
        excerpt: null,
      },
    ],
  }),
};

it("shows a calibration's report; what it does not say is not known", () => {
  const view = viewCalibration(row);
  expect(calibrationView.parse(view)).toEqual(view);
  expect(view.agreement).toEqual(proportion);
  expect(view.falseL3).toEqual({ count: 0, n: 0, share: null, lo: null, hi: null });
  expect(view.kappa).toMatchObject({ value: 0.8, lo: 0.7 });
  expect(view.confusion).toContainEqual({ human: 2, judge: 3, count: 1 });
  expect(view.confusion).toContainEqual({ human: 3, judge: null, count: 1 });
  expect(view.baselines.map(({ rule }) => rule)).toEqual(["always L1", "by length"]);
});

it("shows a report that is no report at all as one that says nothing", () => {
  for (const reportJson of ["{", "[]", "null", '{"agreement": "all"}']) {
    const view = viewCalibration({ ...row, reportJson });
    expect(calibrationView.parse(view)).toMatchObject({ confusion: [], baselines: [], signedBias: null });
    expect(viewDisagreements({ ...row, reportJson }, [item])).toEqual({ calibrationId: "c", disagreements: [] });
  }
});

it("shows the items on which judge and people differ with their texts, where they are known", () => {
  const known = viewDisagreements(row, [item]);
  expect(disagreementList.parse(known)).toEqual(known);
  expect(known.disagreements).toMatchObject([
    { line: 4, human: 3, judge: null, prompt: "Why?", response: "<b>So</b>" },
  ]);
  expect(viewDisagreements(row, []).disagreements).toMatchObject([{ line: 4, prompt: null, response: null }]);
  expect(viewDisagreements(null, [])).toEqual({ calibrationId: null, disagreements: [] });
});
