import {
  type ExperimentOptions,
  type Trial,
  type TrialTable,
  boundsOf,
  countTrials,
  estimateOf,
  mazeMean,
  openDraws,
  plainMean,
  successRate,
} from "@hallumaze/trials";

import { findMissingClusters, missingWarnings } from "./missing-alarm.ts";
import type { ExperimentResult } from "./result.ts";
import { count, percent, two } from "./wording.ts";

/**
 * What became of the trials: outcomes and coverage by model and size, the means with bounds over what is missing, with and
 * without non-answers and cut-offs, and whether missing answers are concentrated anywhere.
 */
export function describeOutcomes(table: TrialTable, options: ExperimentOptions = {}): ExperimentResult {
  const draws = openDraws("outcomes", options);
  const models = table.models();
  const parts = models.flatMap((model) => {
    const trials = table.ofModel(model);
    const sizes = [...new Set(trials.map(({ condition }) => condition.size))].sort((a, b) => a - b);
    return sizes.map((size) => ({ model, size, trials: trials.filter(({ condition }) => condition.size === size) }));
  });
  const names = [...new Set(parts.flatMap(({ trials }) => trials.map(({ outcome }) => outcome)))].sort(okFirst);
  const clusters = findMissingClusters(table);
  return {
    experiment: "outcomes",
    title: "Outcomes and coverage",
    tables: [
      {
        name: "outcomes",
        caption:
          "How the trials ended. Everything but answers and non-answers of the model itself is missing, not wrong.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "size", label: "Size", kind: "count" },
          { key: "planned", label: "Planned", kind: "count" },
          { key: "coverage", label: "Coverage", kind: "share", better: "high" },
          ...names.map((name) => ({ key: `outcome-${name}`, label: name, kind: "count" as const })),
        ],
        rows: parts.map(({ model, size, trials }) => ({
          model,
          size,
          planned: trials.length,
          coverage: countTrials(trials).coverage,
          ...Object.fromEntries(
            names.map((name) => [`outcome-${name}`, trials.filter(({ outcome }) => outcome === name).length]),
          ),
        })),
      },
      {
        name: "coverage",
        caption:
          "Means with and without the model's own non-answers and cut-off answers; bounds: every missing answer at its worst, and at its best.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "size", label: "Size", kind: "count" },
          { key: "answered", label: "Answered", kind: "count" },
          { key: "nonAnswers", label: "Non-answers", kind: "count" },
          { key: "cutOffs", label: "Cut off", kind: "count" },
          { key: "meiRobust", label: "MEI robust", kind: "interval", better: "high" },
          { key: "meiRobustBounds", label: "its bounds", kind: "bounds" },
          { key: "meiRobustFull", label: "full answers", kind: "value", better: "high" },
          { key: "sr", label: "SR", kind: "interval", better: "high" },
          { key: "srBounds", label: "its bounds", kind: "bounds" },
          { key: "srFull", label: "full answers", kind: "share", better: "high" },
        ],
        rows: parts.map(({ model, size, trials }) => {
          const full = trials.filter(({ kind }) => kind === "full");
          const { answered, nonAnswers, cutOffs } = countTrials(trials);
          return {
            model,
            size,
            answered,
            nonAnswers,
            cutOffs,
            meiRobust: estimateOf(mazeMean(trials, "meiRobust", draws, `${model}/${size}`)),
            meiRobustBounds: boundsOf(trials, "meiRobust"),
            meiRobustFull: plainMean(full, "meiRobust"),
            sr: successRate(trials, draws.options.level),
            srBounds: boundsOf(trials, "sr"),
            srFull: successRate(full, draws.options.level).value,
          };
        }),
      },
      {
        name: "missing-clusters",
        caption: "Parts of the sweep that lost significantly more answers than the rest (Fisher's exact test, Holm).",
        columns: [
          { key: "part", label: "Part", kind: "text" },
          { key: "missing", label: "Missing", kind: "count" },
          { key: "trials", label: "of", kind: "count" },
          { key: "missingShare", label: "Share", kind: "share", better: "low" },
          { key: "restShare", label: "elsewhere", kind: "share" },
          { key: "p", label: "p (Holm)", kind: "p" },
        ],
        rows: clusters.map((cluster) => ({ ...cluster })),
      },
    ],
    figures: [
      {
        kind: "stacked",
        name: "outcomes",
        title: "How trials ended",
        valueLabel: "trials",
        points: models.flatMap((model) => {
          const trials = table.ofModel(model);
          return names.map((part) => ({
            category: model,
            part,
            count: trials.filter(({ outcome }) => outcome === part).length,
          }));
        }),
      },
    ],
    reading: models.map((model) => sentence(model, table.ofModel(model))),
    warnings: missingWarnings(table),
    provenance: draws.provenance(),
  };
}

function sentence(model: string, trials: readonly Trial[]): string {
  const { planned, answered, coverage, nonAnswers, cutOffs } = countTrials(trials);
  const bounds = boundsOf(trials, "meiRobust");
  const range =
    answered === planned || bounds === null
      ? ""
      : ` Whatever the missing answers would have been, its robust MEI lies in [${two(bounds[0])}, ${two(bounds[1])}].`;
  return `${model}: ${answered} of ${count(planned, "planned trial")} answered (${percent(coverage)}), of them ${count(nonAnswers, "non-answer")} and ${cutOffs} cut off.${range}`;
}

function okFirst(a: string, b: string): number {
  if (a === b) return 0;
  if (a === "ok" || b === "ok") return a === "ok" ? -1 : 1;
  return a < b ? -1 : 1;
}
