import {
  type Draws,
  type ExperimentOptions,
  type Metric,
  type Trial,
  type TrialTable,
  answeredTrials,
  estimateOf,
  mazeMean,
  openDraws,
  rankCorrelation,
  rankedPairs,
  successRate,
} from "@hallumaze/trials";

import type { ExperimentResult, Warning } from "./result.ts";
import { fewMazesOf } from "./sample-warnings.ts";
import { count, isOffZero, percent, withInterval } from "./wording.ts";

const against = [
  { metric: "meiRobust", label: "robust MEI" },
  { metric: "mei", label: "seed MEI" },
  { metric: "hrr", label: "HRR" },
  { metric: "sr", label: "SR" },
] as const satisfies readonly { metric: Metric; label: string }[];

/**
 * Judge level against the metrics: their rank correlation over judged answers (all models pooled, and each alone), and the
 * metrics' means at each level. Answers without a level do not enter and are counted.
 */
export function compareJudge(table: TrialTable, options: ExperimentOptions = {}): ExperimentResult {
  const draws = openDraws("judge", options);
  const models = table.models();
  const sets = models.map((model) => ({ who: model, members: [model] }));
  const pooled = { who: "all models", members: models };
  const found = (models.length > 1 ? [pooled, ...sets] : sets).map((set) => describeSet(table, set, draws));
  return {
    experiment: "judge",
    title: "Judge level against metrics",
    tables: [
      {
        name: "judge-correlations",
        caption: "Spearman correlation of the judge's level with each metric over judged answers, interval over mazes.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "judged", label: "Judged", kind: "count" },
          { key: "unscored", label: "Without a level", kind: "count" },
          { key: "mazes", label: "Mazes", kind: "count" },
          ...against.map(({ metric, label }) => ({ key: metric, label: `ρ ${label}`, kind: "interval" as const })),
        ],
        rows: found.map(({ who, judged, unscored, correlations }) => ({
          model: who,
          judged,
          unscored,
          mazes: correlations[0]?.mazes ?? 0,
          ...Object.fromEntries(against.map(({ metric }, at) => [metric, correlationCell(correlations[at])])),
        })),
      },
      {
        name: "judge-levels",
        caption: "The metrics of the answers at each level.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "level", label: "Level", kind: "text" },
          { key: "answers", label: "Answers", kind: "count" },
          { key: "sr", label: "SR", kind: "interval", better: "high" },
          { key: "meiRobust", label: "MEI robust", kind: "interval", better: "high" },
          { key: "mei", label: "MEI seed", kind: "interval", better: "high" },
        ],
        rows: found.flatMap(({ who, levels }) => levels.map((level) => ({ model: who, ...level }))),
      },
    ],
    figures: [
      {
        kind: "intervals",
        name: "judge",
        title: "Judge level and metrics",
        valueLabel: "Spearman correlation with the judge's level",
        references: [{ at: 0, label: "unrelated" }],
        points: found.flatMap(({ who, correlations }) =>
          correlations.map((correlation, at) => ({
            category: who,
            series: against[at]?.label ?? "",
            ...estimateOf(correlation),
          })),
        ),
      },
    ],
    reading: found.map(({ who, judged, levels, correlations }) => {
      const [robust] = correlations;
      if (judged === 0 || robust === undefined) return `${who}: no answer has a judge's level.`;
      if (robust.value === null)
        return `${who}: the judge gave all ${count(judged, "answer")} one level, or their robust MEI is one, so nothing can be said of agreement.`;
      const verdict = isOffZero(robust) === true ? "go together" : "cannot be shown to go together";
      return `${who}: judge level and robust MEI ${verdict} (ρ ${withInterval(robust)} over ${count(robust.n, "answer")}); level 3 was given to ${percent((levels[2]?.answers ?? 0) / judged)}. The judge reads words, MEI the walk: neither proves the other.`;
    }),
    warnings: found.flatMap(({ who, judged, correlations }): readonly Warning[] =>
      judged === 0
        ? [{ code: "no-data", message: `${who}: no judged answer. Run judge SWEEP first.` }]
        : fewMazesOf(who, correlations[0]?.mazes ?? 0),
    ),
    provenance: draws.provenance(),
  };
}

/** One set of models: only its numbers are kept, as all judged answers beside each other would be too many. */
function describeSet(
  table: TrialTable,
  { who, members }: { readonly who: string; readonly members: readonly string[] },
  draws: Draws,
) {
  const answers = (): Iterable<Trial> => answeredTrials(table, members);
  const levels = [1, 2, 3].map((level) => {
    const own: Trial[] = [];
    for (const trial of answers()) if (trial.value("level") === level) own.push(trial);
    return {
      level: `L${level}`,
      answers: own.length,
      sr: successRate(own, draws.options.level),
      meiRobust: estimateOf(mazeMean(own, "meiRobust", draws, `${who}/L${level}`)),
      mei: estimateOf(mazeMean(own, "mei", draws, `${who}/L${level}`)),
    };
  });
  let answered = 0;
  for (const _ of answers()) answered += 1;
  const judged = levels.reduce((sum, { answers: own }) => sum + own, 0);
  const correlations = against.map(({ metric }) =>
    rankCorrelation(rankedPairs(answers(), "level", metric), draws, `${who}/${metric}`),
  );
  return { who, judged, unscored: answered - judged, levels, correlations };
}

function correlationCell(correlation: ReturnType<typeof rankCorrelation> | undefined) {
  return correlation === undefined ? null : estimateOf(correlation);
}
