import { type GroupedValue, groupMeans } from "@hallumaze/statistics";
import {
  type Contrast,
  type ExperimentOptions,
  type Metric,
  type TrialTable,
  describeDifferences,
  openDraws,
  stratumOf,
} from "@hallumaze/trials";

import { contrastCells, contrastColumns, contrastFigure, contrastSentence } from "./contrast-report.ts";
import { missingWarnings } from "./missing-alarm.ts";
import type { ExperimentResult } from "./result.ts";
import { fewMazesOf } from "./sample-warnings.ts";
import { count } from "./wording.ts";

const contrasted = [
  { metric: "meiRobust", label: "robust MEI" },
  { metric: "mei", label: "seed MEI" },
  { metric: "sr", label: "SR" },
] as const;

/**
 * Reasoning models against plain ones: on each maze and condition that all of them answered the mean over the reasoning
 * models minus the mean over the plain ones. Which model is which is the caller's to say: `reasoning` holds their names.
 *
 * The interval is over mazes for these models; it says nothing of other models of either kind, which a warning repeats.
 */
export function compareReasoning(
  table: TrialTable,
  options: ExperimentOptions & { readonly reasoning: readonly string[] },
): ExperimentResult {
  const draws = openDraws("reasoning", options);
  const reasoning = table.models().filter((model) => options.reasoning.includes(model));
  const plain = table.models().filter((model) => !options.reasoning.includes(model));
  const effects = contrasted.map(({ metric, label }) => {
    const differences = kindDifferences(table, { reasoning, plain }, metric);
    return { label, contrast: describeDifferences(differences, draws, metric) };
  });
  const first: Contrast | null = effects[0]?.contrast ?? null;
  return {
    experiment: "reasoning",
    title: "Reasoning models against plain ones",
    tables: [
      {
        name: "reasoning",
        caption: `Mean over ${count(reasoning.length, "reasoning model")} (${reasoning.join(", ")}) minus mean over ${count(plain.length, "plain model")} (${plain.join(", ")}), on the mazes and conditions that all answered.`,
        columns: [{ key: "metric", label: "Metric", kind: "text" }, ...contrastColumns("Reasoning - plain")],
        rows: effects.map(({ label, contrast }) => ({ metric: label, ...contrastCells(contrast, null) })),
      },
    ],
    figures: [
      contrastFigure({
        name: "reasoning",
        title: "Reasoning minus plain models",
        valueLabel: "difference",
        effects: effects.map(({ label, contrast }) => ({
          category: label,
          series: "reasoning - plain",
          effect: contrast,
        })),
      }),
    ],
    reading: [
      contrastSentence("Reasoning models against plain ones", first, {
        metric: "robust MEI",
        up: "the reasoning models are ahead by",
        down: "the plain models are ahead by",
        none: "no difference can be shown",
        alpha: 1 - draws.options.level,
      }),
    ],
    warnings: [
      ...missingWarnings(table),
      ...fewMazesOf("Mazes that all models answered", first?.mazes ?? 0),
      {
        code: "few-models",
        message: `${count(reasoning.length, "reasoning model")} and ${count(plain.length, "plain one")} were run: the interval is over mazes for these very models, not over models of their kind.`,
      },
    ],
    provenance: draws.provenance(),
  };
}

/** One difference for each maze and condition; null where a model has no answer there. */
function kindDifferences(
  table: TrialTable,
  kinds: { readonly reasoning: readonly string[]; readonly plain: readonly string[] },
  metric: Metric,
): readonly GroupedValue[] {
  const mazes = new Map<string, { readonly group: string; readonly stratum: string }>();
  const cells = new Map([...kinds.reasoning, ...kinds.plain].map((model) => [model, valuesByCell(model)]));
  function valuesByCell(model: string): ReadonlyMap<string, number | null> {
    const values = table.ofModel(model).map((trial) => {
      const group = `${trial.maze.key}|${trial.condition.key}`;
      mazes.set(group, { group: trial.maze.key, stratum: stratumOf(trial.maze) });
      return { group, value: trial.value(metric) };
    });
    return new Map(groupMeans(values).map(({ group, value }) => [group, value]));
  }
  const meanOf = (models: readonly string[], cell: string): number | null => {
    const values = models.flatMap((model) => cells.get(model)?.get(cell) ?? []);
    return models.length === 0 || values.length < models.length
      ? null
      : values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  return [...mazes].map(([cell, maze]) => {
    const [of, minus] = [meanOf(kinds.reasoning, cell), meanOf(kinds.plain, cell)];
    return { ...maze, value: of === null || minus === null ? null : of - minus };
  });
}
