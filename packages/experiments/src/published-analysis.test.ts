import { describe, expect, it } from "vitest";

import {
  analysePublished,
  type PublishedAnalysis,
  type PublishedModel,
  type PublishedTrial,
} from "./published-analysis.ts";

const numbers = (text: string): number[] => text.trim().split(/\s+/).map(Number);

/** MiniMax-M2.5, MEI, 5×5 then 7×7. SOURCE: the published trials, as spec/analysis.md prints them. */
const minimax = numbers(`
.62 .9 .9 .9 .9 .9 .9 .9 .9 .9 .9 .9 .9 .9 .03 .9 .9 .9 .698 .23 .9 .9 .9 .9 .23 .9 .9 .9 .9 .9
.9 .9 .03 .23 .23 .8349 .9 .9 .23 .23 .23 .03 .7186 .03 .03 .03 .23 .03 .23 .23 .9 .03 .23 .23 .9 .23 .23 .9 .23 .23`);

/** GLM-4.7 on 5×5, thirty published trials: MEI, SR, HRR, BRS of a row each. SOURCE: published-trials-5x5.csv. */
const glm = `
0.842 0 1.0 0.6667
0.5793 0 0.3333 0.25
0.62 0 1.0 0.8333
0.9 1 1.0 1.0
0.9 1 1.0 1.0
0.734 0 1.0 0.75
0.582 0 1.0 0.8333
0.242 0 0.0 0.0
0.23 0 0.0 1.0
0.23 0 0.0 1.0
0.23 0 0.0 1.0
0.23 0 0.0 1.0
0.738 0 1.0 0.7273
0.76 0 1.0 0.6
0.784 0 1.0 0.7143
0.836 0 1.0 0.5556
0.834 0 1.0 0.7
0.832 0 1.0 0.7143
0.62 0 1.0 0.75
0.832 0 1.0 0.5
0.89 1 1.0 0.8
0.82 0 1.0 0.5
0.89 1 1.0 0.6667
0.82 0 1.0 0.7143
0.758 0 1.0 0.8
0.23 0 0.0 1.0
0.808 0 1.0 0.6
0.51 0 1.0 0.5
0.9 1 1.0 1.0
0.206 0 0.0 0.0`
  .trim()
  .split("\n")
  .map((row): PublishedTrial => {
    const [mei = 0, sr = 0, hrr = 0, brs = 0] = numbers(row);
    return { model: "glm-4.7", mei, sr, hrr, brs };
  });

const meiOnly = (model: string, values: readonly number[]): PublishedTrial[] =>
  values.map((mei) => ({ model, mei, sr: 0, hrr: 0, brs: 0 }));

function modelOf(models: PublishedAnalysis["models"], name: string): PublishedModel {
  const model = models[name];
  if (model === undefined) throw new Error(`no model ${name}`);
  return model;
}

describe("the published analysis", () => {
  it("gives the published figures of MiniMax", () => {
    const { models } = analysePublished(meiOnly("MiniMax-M2.5", minimax));
    const { n, mei, wilcoxon, glassDelta } = modelOf(models, "MiniMax-M2.5");
    expect(n).toBe(60);
    // SOURCE: spec/analysis.md: 0.593192, 0.5004–0.6821, 28 nonzero differences, W+ = 0, p = 3.79e-6, delta 0.847.
    expect(mei.mean.toFixed(6)).toBe("0.593192");
    expect(mei.lo.toFixed(4)).toBe("0.5004");
    expect(mei.hi.toFixed(4)).toBe("0.6821");
    expect(wilcoxon).toMatchObject({ n: 28, wPlus: 0 });
    expect(wilcoxon.p?.toExponential(2)).toBe("3.79e-6");
    expect(glassDelta?.toFixed(3)).toBe("0.847");
  });

  it("gives for GLM-4.7 what an independent recomputation gives", () => {
    const { models } = analysePublished(glm);
    // SOURCE: the same rules in Python 3.11 with its own random.Random(42) and math.erfc, over the CSV's 30 rows.
    expect(models["glm-4.7"]).toEqual({
      n: 30,
      mei: {
        mean: expect.closeTo(0.6462433333, 9),
        lo: expect.closeTo(0.5581533333, 9),
        hi: expect.closeTo(0.7325766667, 9),
      },
      sr: { mean: expect.closeTo(1 / 6, 9), lo: expect.closeTo(1 / 30, 9), hi: expect.closeTo(0.3, 9) },
      hrr: { mean: expect.closeTo(0.7444433333, 9), lo: expect.closeTo(0.5999966667, 9), hi: expect.closeTo(0.9, 9) },
      brs: { mean: expect.closeTo(0.70586, 9), lo: expect.closeTo(0.60549, 9), hi: expect.closeTo(0.7892733333, 9) },
      wilcoxon: {
        n: 27,
        wPlus: 0,
        p: expect.closeTo(5.606116527e-6, 14),
        pBonferroni: expect.closeTo(5.606116527e-6, 14),
      },
      glassDelta: expect.closeTo(0.9940646141, 9),
    });
  });

  it("corrects by the number of models, and draws every model anew", () => {
    const alone = analysePublished(glm).models["glm-4.7"];
    const { models } = analysePublished([...meiOnly("MiniMax-M2.5", minimax), ...glm]);
    expect(models["glm-4.7"]?.mei).toEqual(alone?.mei);
    expect(models["glm-4.7"]?.wilcoxon.pBonferroni).toBeCloseTo(2 * 5.606116527e-6, 14);
  });

  it("warns that the test compares with the highest value that there is", () => {
    expect(analysePublished(glm).warnings).toEqual([
      { code: "ceiling-test", message: expect.stringContaining("all 27 differences that are not zero lie below") },
    ]);
  });

  it("has no p-value, and says so, where every trial is perfect", () => {
    const { models, warnings } = analysePublished(meiOnly("oracle", [0.9, 0.9, 0.9]));
    expect(models["oracle"]).toMatchObject({ wilcoxon: { n: 0, p: null, pBonferroni: null }, glassDelta: null });
    expect(warnings[0]?.message).toContain("nothing to test");
  });
});
