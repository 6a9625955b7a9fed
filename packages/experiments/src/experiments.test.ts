import { type Judgement, type ReliabilityBin, reliabilityBins, summariseConfidence } from "@hallumaze/metrics";
import { type Estimate, type TrialSource, trialTable } from "@hallumaze/trials";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { lostRow, madeRow } from "../test/made-rows.ts";
import { estimateIn, rowOf } from "../test/read-tables.ts";
import {
  ablate,
  analysePaired,
  compareJudge,
  compareLanguages,
  compareModels,
  compareProfiles,
  compareReasoning,
  compareWithHumans,
  describeOutcomes,
  difficultyCurve,
  type ErrorPositions,
  type ExperimentResult,
  measureAriadne,
  measureConfidence,
  measureMirage,
} from "./index.ts";
import { binsOf, calibrationOf, poolLevels, toLevels } from "./confidence-levels.ts";

const options = { resamples: 300, permutations: 300 };

/** A small sweep with every factor, repeats, a judge and lost trials; the numbers follow from the seed. */
const sweep: readonly TrialSource[] = Array.from({ length: 12 }, (_, seed) =>
  ["x/one", "x/two", "x/three"].flatMap((alias, model) =>
    (
      [
        [true, "ko", "A"],
        [false, "ko", "A"],
        [true, "en", "A"],
        [true, "ko", "B"],
      ] as const
    ).flatMap(([mirage, language, group]) =>
      [0, 1].map((repeat) => {
        const mei = ((seed * 7 + model * 3 + repeat + (mirage ? 0 : 1)) % 10) / 10;
        const plan = { seed, size: seed % 2 === 0 ? 5 : 7, mirage, language, group, repeat };
        const change = {
          alias,
          plan,
          scores: { mei, sr: mei > 0.5 ? (1 as const) : (0 as const), hc: seed % 3, fhr: seed % 3 > 0 ? 2 : -1 },
          judge: { level: mei > 0.6 ? (3 as const) : mei > 0.3 ? (2 as const) : (1 as const) },
        };
        return (seed + model + repeat) % 11 === 0 ? lostRow(change) : madeRow(change);
      }),
    ),
  ),
).flat();

const humans = {
  people: ["x/three"],
  aggregates: [{ label: "undergraduates", n: 30, size: 7, sr: 0.73, mei: 0.61, meiSd: null }],
  errors: [],
};

const all: Readonly<Record<string, (rows: readonly TrialSource[]) => ExperimentResult>> = {
  models: (rows) => compareModels(trialTable(rows), options),
  mirage: (rows) => measureMirage(trialTable(rows), options),
  ariadne: (rows) => measureAriadne(trialTable(rows), options),
  difficulty: (rows) => difficultyCurve(trialTable(rows), options),
  ablation: (rows) => ablate(trialTable(rows), options),
  reasoning: (rows) => compareReasoning(trialTable(rows), { ...options, reasoning: ["x/one"] }),
  human: (rows) => compareWithHumans(trialTable(rows), humans, options),
  language: (rows) => compareLanguages(trialTable(rows), options),
  judge: (rows) => compareJudge(trialTable(rows), options),
  profiles: (rows) => compareProfiles(trialTable(rows), options),
  outcomes: (rows) => describeOutcomes(trialTable(rows), options),
};

describe.each(Object.keys(all))("%s", { timeout: 60_000 }, (name) => {
  const run = all[name] ?? expect.fail("no such experiment");

  it("gives plain JSON without NaN, a cell for every column, and says something", () => {
    const result = run(sweep);
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
    for (const { columns, rows } of result.tables) {
      for (const row of rows) expect(Object.keys(row)).toEqual(expect.arrayContaining(columns.map(({ key }) => key)));
    }
    expect(result.experiment).toBe(name);
    expect(result.reading.length).toBeGreaterThan(0);
    expect(result.reading.join(" ")).not.toMatch(/NaN|undefined|null|Infinity/);
    expect(result.tables[0]?.rows.length).toBeGreaterThan(0);
    expect(result.provenance).toMatchObject({ seed: "hallumaze", resamples: 300, level: 0.95 });
  });

  it("gives the same for the same rows in another order", () => {
    expect(run(sweep.toReversed())).toEqual(run(sweep));
  });

  it("does not fall over without a single answer, or without a row", () => {
    expect(() => run(sweep.map((row) => ({ ...row, state: "failed", outcome: null, scores: {} })))).not.toThrow();
    expect(() => run([])).not.toThrow();
  });
});

describe("experiments", { timeout: 60_000 }, () => {
  it("move no model's interval when another model joins", () => {
    const alone = compareModels(trialTable(sweep.filter(({ alias }) => alias === "x/one")), options).tables[0]?.rows;
    const together = compareModels(trialTable(sweep), options).tables[0]?.rows.filter(({ model }) => model === "x/one");
    expect(together).toEqual(alone);
  });

  it("draw anew with another seed, and say which", () => {
    const other = compareModels(trialTable(sweep), { ...options, seed: "other" });
    expect(other.provenance.seed).toBe("other");
    expect(other.tables).not.toEqual(compareModels(trialTable(sweep), options).tables);
  });

  it("find a language in which a model does better, on the mazes of both", () => {
    const rows = Array.from({ length: 60 }, (_, seed) =>
      (["ko", "en"] as const).map((language) =>
        madeRow({ plan: { seed, language }, scores: { mei: language === "en" && seed % 3 > 0 ? 0.9 : 0.5 } }),
      ),
    ).flat();
    const result = compareLanguages(trialTable(rows), options);
    expect(result.reading[0]).toMatch(
      /^model: in English it is ahead by 0\.27 \[0\.2\d, 0\.3\d\] robust MEI \(on 60 mazes, p = 0\.003\)/,
    );
  });

  it("compare kinds of models on the mazes that all of them answered, and say that models are few", () => {
    const rows = Array.from({ length: 30 }, (_, seed) =>
      ["deep", "plain-1", "plain-2"].map((alias) =>
        madeRow({ alias, plan: { seed }, scores: { mei: alias === "deep" ? 0.9 : 0.4 + (seed % 2) / 10 } }),
      ),
    ).flat();
    const lost = rows.map((row) =>
      row.alias === "plain-2" && row.plan.seed < 5 ? lostRow({ alias: "plain-2", plan: row.plan }) : row,
    );
    const result = compareReasoning(trialTable(lost), { ...options, reasoning: ["deep"] });
    expect(result.tables[0]?.rows[0]).toMatchObject({ metric: "robust MEI", mazes: 25, unpaired: 5 });
    expect(estimateIn(rowOf(result, "reasoning", { metric: "robust MEI" }), "difference").value).toBeCloseTo(0.45, 1);
    expect(result.warnings.map(({ code }) => code)).toContain("few-models");
  });

  it("find a judge that follows MEI and one that follows nothing", () => {
    const rows = (levelOf: (seed: number) => 1 | 2 | 3) =>
      Array.from({ length: 60 }, (_, seed) =>
        madeRow({ plan: { seed }, scores: { mei: (seed % 9) / 10 }, judge: { level: levelOf(seed) } }),
      );
    const rho = (levelOf: (seed: number) => 1 | 2 | 3): Estimate =>
      estimateIn(rowOf(compareJudge(trialTable(rows(levelOf)), options), "judge-correlations"), "meiRobust");
    expect(rho((seed) => (seed % 9 < 3 ? 1 : seed % 9 < 6 ? 2 : 3)).lo).toBeGreaterThan(0.8);
    const unrelated = rho((seed) => (seed % 4 === 0 ? 1 : seed % 4 === 1 ? 3 : 2));
    expect((unrelated.lo ?? 1) <= 0 && (unrelated.hi ?? -1) >= 0).toBe(true);
    const single = compareJudge(trialTable(rows(() => 3)), options);
    expect(single.reading[0]).toContain("one level");
  });

  it("set models beside people known by means only, without an interval that nobody recorded", () => {
    const rows = Array.from({ length: 60 }, (_, seed) =>
      madeRow({ plan: { seed, size: 7 }, scores: { sr: seed < 30 ? 1 : 0, mei: 0.5 } }),
    );
    const result = compareWithHumans(trialTable(rows), { ...humans, people: [] }, options);
    // SOURCE: Newcombe (1998), method 10, from the Wilson intervals of 30 of 60 and 22 of 30.
    expect(result.tables[1]?.rows[0]).toMatchObject({
      people: "undergraduates",
      n: 30,
      humanMei: { value: 0.61, lo: null, hi: null },
      srDifference: {
        value: expect.closeTo(0.5 - 0.73, 10),
        lo: expect.closeTo(-0.4044, 2),
        hi: expect.closeTo(-0.01, 1),
      },
    });
    expect(result.warnings).toContainEqual({
      code: "single-value",
      message: expect.stringContaining("undergraduates"),
    });
    expect(result.reading.at(-1)).toMatch(/^H1 .* H2 .* cannot decide them\.$/);
  });

  it("find that errors lie at the same places only where they do", () => {
    const errors = (who: string, shift: number): ErrorPositions[] =>
      Array.from({ length: 40 }, (_, maze) => ({
        who,
        mazeKey: `dfs 5 ${maze}`,
        size: 5,
        cells: [0, 1, 2].map(
          (at) => [(maze * 7 + at * 11 + shift * (maze + 3)) % 5, (maze * 3 + at + shift * maze) % 5] as const,
        ),
      }));
    const rows = ["alike", "elsewhere", "person"].map((alias) => madeRow({ alias }));
    const given = {
      people: ["person"],
      aggregates: [],
      errors: [...errors("person", 0), ...errors("alike", 0), ...errors("elsewhere", 1)],
    };
    const result = compareWithHumans(trialTable(rows), given, options);
    const same = (model: string) => estimateIn(rowOf(result, "error-positions", { model }), "same");
    expect(same("alike").lo).toBeGreaterThan(0.9);
    expect(same("elsewhere").hi).toBeLessThan(0.5);
  });

  it("pool confidences by their level into what the judgements themselves give", () => {
    const judgement = fc.record({
      confidence: fc.integer({ min: 0, max: 20 }).map((step) => step / 20),
      correct: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(fc.array(judgement, { maxLength: 40 }), { maxLength: 5 }), (mazes: Judgement[][]) => {
        const levels = poolLevels(mazes.map(toLevels));
        const { ce, bias, brier, ece, auroc2 } = summariseConfidence(mazes.flat());
        const found = calibrationOf(levels);
        const digits = (numbers: object) =>
          Object.values(numbers).map((value: number | null) => value && Number(value.toFixed(10)));
        expect(digits(found)).toEqual(digits({ ce, bias, brier, ece, auroc2 }));
        const bins = (of: readonly ReliabilityBin[]) => of.map(({ count, accuracy }) => ({ count, accuracy }));
        expect(bins(binsOf(levels))).toEqual(bins(reliabilityBins(mazes.flat())));
      }),
      { seed: 6, numRuns: 50 },
    );
  });

  it("say that there was no confidence rather than that it was 0", () => {
    const trial = { model: "silent", mazeKey: "dfs 5 1", levels: { legal: [], onRoute: [] }, missing: 9, attempts: [] };
    const result = measureConfidence([trial], options);
    expect(result.tables[0]?.rows[0]).toMatchObject({
      attempts: 9,
      stated: 0,
      ce: { value: null, lo: null, hi: null },
    });
    expect(result.reading).toEqual(["silent: no confidence was given."]);
  });

  it("give a program what analyze --method paired prints", () => {
    const { models, pairs } = analysePaired(trialTable(sweep), options);
    expect(Object.keys(models)).toEqual(["x/one", "x/three", "x/two"]);
    expect(models["x/one"]).toMatchObject({ planned: 96, mazes: 12 });
    expect(pairs.map(({ a, b, metric }) => `${a} ${b} ${metric}`)).toHaveLength(6);
    expect(pairs[0]?.mazes).toBe(12);
  });
});
