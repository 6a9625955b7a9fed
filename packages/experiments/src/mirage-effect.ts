import { adjustPValues } from "@hallumaze/statistics";
import {
  type Condition,
  type ExperimentOptions,
  type TrialTable,
  contrast,
  estimateOf,
  mazeMean,
  openDraws,
} from "@hallumaze/trials";

import { contrastColumns, contrastCells, contrastFigure, contrastSentence } from "./contrast-report.ts";
import { missingWarnings } from "./missing-alarm.ts";
import type { ExperimentResult, Warning } from "./result.ts";
import { fewMazesOf } from "./sample-warnings.ts";

const contrasted = [
  { metric: "meiRobust", label: "robust MEI" },
  { metric: "mei", label: "seed MEI" },
  { metric: "brs", label: "BRS" },
] as const;

/**
 * The Mirage Δ of each model: MEI without tempting hints minus MEI with them, on the mazes that carry a trap and were
 * answered both ways. Above 0 the hints did harm. Beside it mirageResistance, which alone looks at the traps themselves.
 *
 * SOURCE: seed, section 9.1; spec/analysis.md.
 */
export function measureMirage(table: TrialTable, options: ExperimentOptions = {}): ExperimentResult {
  const draws = openDraws("mirage", options);
  const alpha = 1 - draws.options.level;
  const found = table.models().map((model) => {
    const trials = table.ofModel(model, ({ traps }) => traps > 0);
    const sides = {
      a: trials.filter(({ condition }) => !condition.mirage),
      b: trials.filter(({ condition }) => condition.mirage),
    };
    const effects = contrasted.map(({ metric, label }) => ({
      label,
      contrast: contrast(sides, metric, draws, { name: model, pairKey: apartFromMirage }),
    }));
    const resistance = mazeMean(sides.b, "mirageResistance", draws, model);
    const brs = {
      off: mazeMean(sides.a, "brs", draws, `${model}/off`),
      on: mazeMean(sides.b, "brs", draws, `${model}/on`),
    };
    const trapless = table.ofModel(model, ({ traps }) => traps === 0);
    const leftOut = new Set(trapless.map(({ maze }) => maze.key)).size;
    return { model, effects, resistance, brs, leftOut };
  });
  const holm = contrasted.map((_, at) =>
    adjustPValues(
      found.map(({ effects }) => effects[at]?.contrast.p ?? null),
      "holm",
    ),
  );
  const compared = found.filter(({ effects }) => (effects[0]?.contrast.mazes ?? 0) > 0);
  return {
    experiment: "mirage",
    title: "Linguistic Mirage",
    tables: [
      {
        name: "mirage",
        caption:
          "Mirage Δ: without tempting hints minus with them, paired on mazes that carry a trap; above 0 the hints did harm.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "metric", label: "Metric", kind: "text" },
          ...contrastColumns("Δ off - on"),
        ],
        rows: found.flatMap(({ model, effects }, row) =>
          effects.map(({ label, contrast: effect }, at) => ({
            model,
            metric: label,
            ...contrastCells(effect, holm[at]?.[row] ?? null),
          })),
        ),
      },
      {
        name: "mirage-resistance",
        caption:
          "mirageResistance: 1 - traps taken / traps faced. BRS as the seed defines it, on mazes that carry a trap.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "mirageResistance", label: "mirageResistance", kind: "interval", better: "high" },
          { key: "brsOff", label: "BRS, off", kind: "interval", better: "high" },
          { key: "brsOn", label: "BRS, on", kind: "interval", better: "high" },
          { key: "leftOut", label: "Mazes without a trap", kind: "count" },
        ],
        rows: found.map(({ model, resistance, brs, leftOut }) => ({
          model,
          mirageResistance: estimateOf(resistance),
          brsOff: estimateOf(brs.off),
          brsOn: estimateOf(brs.on),
          leftOut,
        })),
      },
    ],
    figures: [
      contrastFigure({
        name: "mirage",
        title: "Mirage Δ by model",
        valueLabel: "MEI off - MEI on",
        effects: found.flatMap(({ model, effects }) =>
          effects.slice(0, 2).map(({ label, contrast: effect }) => ({ category: model, series: label, effect })),
        ),
      }),
    ],
    reading: compared.map(({ model, effects, resistance }) =>
      contrastSentence(model, effects[0]?.contrast ?? null, {
        metric: "robust MEI",
        up: "the tempting hints cost it",
        down: "with the tempting hints it gained",
        none: "no effect of the tempting hints can be shown",
        alpha,
        further:
          resistance.value === null
            ? ""
            : ` It resisted ${(100 * resistance.value).toFixed(0)} % of the traps that it faced.`,
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
            message: `${model}: no maze with a trap was answered both with and without hints. Put mirage: [true, false] into the sweep.`,
          },
        ];
      }),
    ],
    provenance: draws.provenance(),
  };
}

function apartFromMirage(condition: Condition): string {
  const { group, language, confidence, placement } = condition;
  return [group, language, confidence, placement].join(" ");
}
