import { createRandom } from "@hallumaze/foundation";
import { adjustPValues, glassDelta, wilcoxonSignedRank } from "@hallumaze/statistics";

import type { Warning } from "./result.ts";
import { count } from "./wording.ts";

/** One trial as the published analysis takes it: a row of its CSV, or the profile `published` of a trial of ours. */
export interface PublishedTrial {
  readonly model: string;
  readonly mei: number;
  readonly sr: number;
  readonly hrr: number;
  readonly brs: number;
}

/** A mean with the published interval. */
export interface PublishedFigure {
  readonly mean: number;
  readonly lo: number;
  readonly hi: number;
}

/** What the published analysis says of one model. */
export interface PublishedModel {
  readonly n: number;
  readonly mei: PublishedFigure;
  readonly sr: PublishedFigure;
  readonly hrr: PublishedFigure;
  readonly brs: PublishedFigure;
  /** One-sample signed-rank test of MEI against 0.9; `n` differences are not zero. p is null where n is 0. */
  readonly wilcoxon: {
    readonly n: number;
    readonly wPlus: number;
    readonly p: number | null;
    readonly pBonferroni: number | null;
  };
  /** |0.9 - mean| / sd of MEI; null with fewer than two trials or where all are equal. */
  readonly glassDelta: number | null;
}

/** The published analysis of some trials: the JSON of `analyze --method published`, and what to think of it. */
export interface PublishedAnalysis {
  readonly models: Readonly<Record<string, PublishedModel>>;
  readonly warnings: readonly Warning[];
  readonly provenance: { readonly generator: string; readonly seed: 42; readonly resamples: 2000 };
}

/** The constant that the published test compares with: also the highest MEI that the formula can give. */
const comparedConstant = 0.9;
const resamples = 2000;
const seed = 42;

/**
 * Computes the figures of the published analysis as it computed them: a percentile bootstrap of 2,000 resamples from
 * CPython's generator seeded with 42 anew for every metric and model, bounds = sorted means 50 and 1949; the signed-rank
 * test against 0.9 by a normal approximation without corrections; Bonferroni by the number of models; Glass's delta.
 *
 * Trials count in the order given: another order gives another interval. Figures are not rounded. For comparison only: it
 * takes trials, not mazes, as units, and its test cannot fail (see its warning). SOURCE: spec/analysis.md, `published`.
 */
export function analysePublished(trials: readonly PublishedTrial[]): PublishedAnalysis {
  const byModel = new Map<string, PublishedTrial[]>();
  for (const trial of trials) {
    const own = byModel.get(trial.model);
    if (own === undefined) byModel.set(trial.model, [trial]);
    else own.push(trial);
  }
  const tests = [...byModel.values()].map((own) =>
    wilcoxonSignedRank(
      own.map(({ mei }) => mei - comparedConstant),
      { method: "normal", tieCorrection: false },
    ),
  );
  const adjusted = adjustPValues(
    tests.map(({ p }) => p),
    "bonferroni",
  );
  const entries = [...byModel].map(([model, own], at): [string, PublishedModel] => {
    const { n, wPlus, p } = tests[at] ?? { n: 0, wPlus: 0, p: null };
    const meis = own.map(({ mei }) => mei);
    return [
      model,
      {
        n: own.length,
        mei: published(meis),
        sr: published(own.map(({ sr }) => sr)),
        hrr: published(own.map(({ hrr }) => hrr)),
        brs: published(own.map(({ brs }) => brs)),
        wilcoxon: { n, wPlus, p, pBonferroni: adjusted[at] ?? null },
        glassDelta: glassDelta(meis, comparedConstant),
      },
    ];
  });
  return {
    models: Object.fromEntries(entries),
    warnings: entries.flatMap(([model, result]) => ceilingTest(model, result)),
    provenance: { generator: "MT19937 as CPython seeds it, anew for every metric and model", seed, resamples },
  };
}

function published(values: readonly number[]): PublishedFigure {
  const { length: n } = values;
  const random = createRandom(seed);
  const means = Array.from({ length: resamples }, () => {
    let sum = 0;
    for (let draw = 0; draw < n; draw++) sum += values[random.below(n)] ?? 0;
    return sum / n;
  }).sort((a, b) => a - b);
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  return { mean, lo: means[50] ?? mean, hi: means[1949] ?? mean };
}

/** A test against the highest possible value says only that a model is not perfect. */
function ceilingTest(model: string, { wilcoxon: { n, wPlus, p } }: PublishedModel): readonly Warning[] {
  if (wPlus > 0) return [];
  const found = n === 0 ? "no trial differs from it" : `all ${count(n, "difference")} that are not zero lie below`;
  return [
    {
      code: "ceiling-test",
      message: `${model}: the test compares with ${comparedConstant}, the highest MEI that the formula can give: ${found}, so W+ is 0 whatever the model does, and ${p === null ? "there is nothing to test" : "the p-value only counts the trials that are not perfect"}. Compare models with each other instead (analyze --method paired).`,
    },
  ];
}
