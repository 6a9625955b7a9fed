import { adjustPValues } from "@hallumaze/statistics";
import {
  type Condition,
  type ExperimentOptions,
  type Trial,
  type TrialTable,
  contrast,
  openDraws,
} from "@hallumaze/trials";

import { contrastCells, contrastColumns, contrastFigure, contrastSentence } from "./contrast-report.ts";
import { missingWarnings } from "./missing-alarm.ts";
import type { ExperimentResult, Warning } from "./result.ts";
import { fewMazesOf } from "./sample-warnings.ts";

const contrasted = [
  { metric: "meiRobust", label: "robust MEI" },
  { metric: "mei", label: "seed MEI" },
  { metric: "sr", label: "SR" },
] as const;

/** Korean minus English on the same mazes and conditions, of each model. */
export function compareLanguages(table: TrialTable, options: ExperimentOptions = {}): ExperimentResult {
  const draws = openDraws("language", options);
  const found = table.models().map((model) => {
    const inLanguage = (language: string): readonly Trial[] =>
      table.ofModel(model, ({ condition }) => condition.language === language);
    const sides = { a: inLanguage("ko"), b: inLanguage("en") };
    const effects = contrasted.map(({ metric, label }) => ({
      label,
      contrast: contrast(sides, metric, draws, { name: model, pairKey: apartFromLanguage }),
    }));
    return { model, effects };
  });
  const holm = contrasted.map((_, at) =>
    adjustPValues(
      found.map(({ effects }) => effects[at]?.contrast.p ?? null),
      "holm",
    ),
  );
  return {
    experiment: "language",
    title: "Korean and English",
    tables: [
      {
        name: "language",
        caption: "Korean minus English, paired on mazes and conditions; above 0 Korean goes better.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "metric", label: "Metric", kind: "text" },
          ...contrastColumns("Δ ko - en"),
        ],
        rows: found.flatMap(({ model, effects }, row) =>
          effects.map(({ label, contrast: effect }, at) => ({
            model,
            metric: label,
            ...contrastCells(effect, holm[at]?.[row] ?? null),
          })),
        ),
      },
    ],
    figures: [
      contrastFigure({
        name: "language",
        title: "Korean minus English",
        valueLabel: "difference of MEI",
        effects: found.flatMap(({ model, effects }) =>
          effects.slice(0, 2).map(({ label, contrast: effect }) => ({ category: model, series: label, effect })),
        ),
      }),
    ],
    reading: found.map(({ model, effects }) =>
      contrastSentence(model, effects[0]?.contrast ?? null, {
        metric: "robust MEI",
        up: "in Korean it is ahead by",
        down: "in English it is ahead by",
        none: "no difference between Korean and English can be shown",
        alpha: 1 - draws.options.level,
      }),
    ),
    warnings: [
      ...missingWarnings(table),
      ...found.flatMap(({ model, effects }): readonly Warning[] => {
        const mazes = effects[0]?.contrast.mazes ?? 0;
        if (mazes > 0) return fewMazesOf(model, mazes);
        return [
          {
            code: "no-common-mazes",
            message: `${model}: no maze was answered in both languages. Put languages: [ko, en] into the sweep.`,
          },
        ];
      }),
    ],
    provenance: draws.provenance(),
  };
}

function apartFromLanguage(condition: Condition): string {
  const { group, mirage, confidence, placement } = condition;
  return [group, mirage, confidence, placement].join(" ");
}
