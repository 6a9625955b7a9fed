import { describe, expect, it } from "vitest";

import { calibrateOn, goldSetOf, type Said, times, verdict } from "../test/gold-fixtures.ts";
import { calibrationMarkdown, calibrationText, confusionChart } from "./calibration-report.ts";
import { decideGate } from "./gate.ts";
import type { Level } from "./judged.ts";

const people: Level[] = [1, 1, 1, 1, 2, 2, 2, 3, 3, 3];
const goldSet = goldSetOf(people);
const report = calibrateOn(goldSet, [1, 1, 2, 3, 2, 2, 1, 3, 3, null], { lookCount: 2 });

describe("calibrationMarkdown", () => {
  const text = calibrationMarkdown(report, decideGate(report));

  it("begins with the decision and its reasons", () => {
    expect(text).toMatch(/^# Calibration of `judge-1`\n/);
    expect(text).toContain("**The gate stays closed:**\n\n- Agreement is 6 of 10 (60.0 %): 90 % is needed.");
  });

  it("gives each share with its count, n and interval", () => {
    expect(text).toContain("| exact agreement | 60.0 % (6 of 10; 95 % 0.2624 … 0.8784) |");
    expect(text).toContain("| measured | 10 items (test split); 2 looks at the test split |");
    expect(text).toContain("| people among themselves | unknown: one rater |");
    expect(text).toContain("| flips over repeats | unknown: judged once |");
    expect(text).toContain("wrongNonce 1 |");
  });

  it("shows the matrix, the rules without understanding and every disagreement", () => {
    expect(text).toContain("| L1 | 2 | 1 | 1 | 0 | 50.0 % | 66.7 % |");
    expect(text).toContain("| always L1 | 4 of 10 (40.0 %) | 4 | 2 | 0.688 |");
    expect(text.match(/It goes back to the junction\./g)).toHaveLength(4);
    expect(text).toContain("unscored (wrongNonce)");
  });

  it("lets no judge's words become markup or break a table", () => {
    const reasoning = "a | b <script> [link](x) **bold**\n# head";
    const verdicts = new Map([[goldSet.items[0]?.id ?? "", [verdict(3, { reasoning })]]]);
    const hostile = calibrateOn(goldSet, [], { verdicts });
    expect(calibrationMarkdown(hostile, decideGate(hostile))).toContain(
      "a \\| b \\<script\\> \\[link\\](x) \\*\\*bold\\*\\* # head |",
    );
  });

  it("says what is undefined, and that nothing was found to differ", () => {
    const one = calibrateOn(goldSetOf([3, 3, 3]), [3, 3, 3]);
    const shown = calibrationMarkdown(one, decideGate(one));
    expect(shown).toContain("| kappa | undefined (single class) |");
    expect(shown).toContain("| false L3 | unknown: no items |");
    expect(shown).toContain("## Disagreements\n\nNone.");
  });

  it("says that the gate is open where it is", () => {
    const levels = times(12, [1, 2, 3] as Level[]).flat();
    const good = calibrateOn(goldSetOf(levels), levels);
    expect(calibrationMarkdown(good, decideGate(good))).toContain("**The gate is open.**");
  });
});

describe("calibrationText", () => {
  it("ends with the decision, and lists the first ten disagreements", () => {
    const levels = times(12, 1 as const);
    const bad = calibrateOn(goldSetOf(levels), times<Said>(12, 3));
    const text = calibrationText(bad, decideGate(bad));
    expect(text.match(/people L1, judge L3: It goes back/g)).toHaveLength(10);
    expect(text).toContain("  and 2 more\n");
    expect(text).toMatch(/The gate stays closed:\n {2}Agreement is 0 of 12/);
    expect(text).toContain("  people \\ judge  L1  L2  L3  unscored  recall   precision\n");
  });
});

describe("confusionChart", () => {
  it("has a cell for each pair of levels and for unscored, coloured by its share of the row", () => {
    const { data } = confusionChart(report) as { data: { values: unknown[] } };
    expect(data.values).toHaveLength(12);
    expect(data.values.slice(0, 4)).toEqual([
      { human: "L1", judge: "L1", count: 2, share: 0.5 },
      { human: "L1", judge: "L2", count: 1, share: 0.25 },
      { human: "L1", judge: "L3", count: 1, share: 0.25 },
      { human: "L1", judge: "unscored", count: 0, share: 0 },
    ]);
  });

  it("has no share where a level is absent, rather than 0", () => {
    const { data } = confusionChart(calibrateOn(goldSetOf([3]), [3])) as { data: { values: unknown[] } };
    expect(data.values[0]).toEqual({ human: "L1", judge: "L1", count: 0, share: null });
  });

  it("is plain JSON", () => {
    const chart = confusionChart(report);
    expect(JSON.parse(JSON.stringify(chart))).toEqual(chart);
  });
});
