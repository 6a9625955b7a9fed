import { adjustPValues } from "@hallumaze/statistics";
import {
  type Estimate,
  type ExperimentOptions,
  type Metric,
  type Provenance,
  type TrialTable,
  boundsOf,
  contrast,
  countTrials,
  estimateOf,
  mazeMean,
  openDraws,
  successRate,
} from "@hallumaze/trials";

import { missingWarnings } from "./missing-alarm.ts";
import type { Warning } from "./result.ts";

/** Mean and interval under the names that `analyze` prints. */
export interface PairedFigure {
  readonly mean: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
}

/** The JSON of `analyze --method paired`. */
export interface PairedAnalysis {
  readonly models: Readonly<
    Record<
      string,
      {
        /** Answered trials, of `planned`. */
        readonly n: number;
        readonly planned: number;
        readonly mazes: number;
        readonly sr: PairedFigure;
        readonly mei: PairedFigure;
        readonly meiRobust: PairedFigure;
        readonly hrr: PairedFigure;
        readonly brs: PairedFigure;
        /** Lowest and highest mean, whatever the missing answers would have been; null without a trial. */
        readonly bounds: {
          readonly mei: readonly [number, number] | null;
          readonly meiRobust: readonly [number, number] | null;
        };
      }
    >
  >;
  /** a - b of every pair of models, names in order, on common mazes. */
  readonly pairs: readonly {
    readonly a: string;
    readonly b: string;
    readonly metric: "mei" | "meiRobust";
    readonly mazes: number;
    readonly difference: PairedFigure;
    readonly p: number | null;
    readonly pWilcoxon: number | null;
    readonly pHolm: number | null;
    readonly pBenjaminiHochberg: number | null;
    readonly detectable: number | null;
  }[];
  readonly warnings: readonly Warning[];
  readonly provenance: Provenance;
}

/** Models compared with each other on common mazes, as numbers for a program. For people: `compareModels`. */
export function analysePaired(table: TrialTable, options: ExperimentOptions = {}): PairedAnalysis {
  const draws = openDraws("paired", options);
  const models = table.models();
  const figure = (model: string, metric: Metric): PairedFigure =>
    named(mazeMean(table.ofModel(model), metric, draws, model));
  const pairs = (["mei", "meiRobust"] as const).flatMap((metric) => {
    const found = models.flatMap((a, at) =>
      models.slice(at + 1).map((b) => {
        const sides = { a: table.ofModel(a), b: table.ofModel(b) };
        return { a, b, metric, effect: contrast(sides, metric, draws, { name: `${a} - ${b}` }) };
      }),
    );
    const pValues = found.map(({ effect }) => effect.p);
    const [holm, bh] = [adjustPValues(pValues, "holm"), adjustPValues(pValues, "bh")];
    return found.map(({ a, b, effect }, at) => ({
      a,
      b,
      metric,
      mazes: effect.mazes,
      difference: named(effect),
      p: effect.p,
      pWilcoxon: effect.wilcoxonP,
      pHolm: holm[at] ?? null,
      pBenjaminiHochberg: bh[at] ?? null,
      detectable: effect.detectable,
    }));
  });
  return {
    models: Object.fromEntries(
      models.map((model) => {
        const trials = table.ofModel(model);
        const { answered, planned, mazes } = countTrials(trials);
        return [
          model,
          {
            n: answered,
            planned,
            mazes,
            sr: named(successRate(trials, draws.options.level)),
            mei: figure(model, "mei"),
            meiRobust: figure(model, "meiRobust"),
            hrr: figure(model, "hrr"),
            brs: figure(model, "brs"),
            bounds: { mei: boundsOf(trials, "mei"), meiRobust: boundsOf(trials, "meiRobust") },
          },
        ];
      }),
    ),
    pairs,
    warnings: missingWarnings(table),
    provenance: draws.provenance(),
  };
}

function named({ value, lo, hi }: Estimate): PairedFigure {
  const estimate = estimateOf({ value, lo, hi });
  return { mean: estimate.value, lo: estimate.lo, hi: estimate.hi };
}
