import { z } from "zod";

import { estimate, sweepName } from "./trial-words.ts";

/** The experiments of a report. */
export const experimentName = z.enum([
  "models",
  "outcomes",
  "mirage",
  "ariadne",
  "difficulty",
  "confidence",
  "ablation",
  "reasoning",
  "human",
  "language",
  "judge",
  "profiles",
]);

/** An experiment's name. */
export type ExperimentWord = z.infer<typeof experimentName>;

/** Parameters of an experiment's path. */
export const experimentParam = z.strictObject({ name: sweepName, experiment: experimentName });

const partName = z
  .string()
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "must be kebab-case")
  .max(100);

/** Parameters of a figure's path: `…/figures/{file}`, where file is its name and .json, .svg or .pdf. */
export const figureParam = experimentParam.extend({
  file: z
    .string()
    .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*\.(?:json|svg|pdf)$/, "must be a figure's name and .json, .svg or .pdf"),
});

/** Parameters of a table's path: `…/tables/{file}`, where file is its name and .csv. */
export const tableParam = experimentParam.extend({
  file: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*\.csv$/, "must be a table's name and .csv"),
});

/** Answer of `GET /api/sweeps/{name}/experiments`. */
export const experimentList = z
  .object({
    experiments: z.array(
      z.object({
        experiment: experimentName,
        title: z.string(),
        whyNot: z.string().nullable().describe("Why the sweep's data does not hold it; null: it does"),
      }),
    ),
  })
  .meta({ id: "ExperimentList" });

/** The experiments as they are served. */
export type ExperimentList = z.infer<typeof experimentList>;

const column = z.object({
  key: z.string(),
  label: z.string(),
  kind: z.enum(["text", "count", "share", "value", "interval", "p", "bounds"]),
  better: z.enum(["high", "low"]).optional(),
});

/** A cell of a table: an estimate under `interval`, [lowest, highest] under `bounds`; null is not known. */
export const tableCell = z.union([z.string(), z.number(), z.null(), estimate, z.tuple([z.number(), z.number()])]);

/** A table of an experiment. */
export const resultTable = z.object({
  name: partName,
  caption: z.string(),
  columns: z.array(column),
  rows: z.array(z.record(z.string(), tableCell)),
});

/** A table as it is served. */
export type ResultTableView = z.infer<typeof resultTable>;

/** Answer of `GET /api/sweeps/{name}/experiments/{experiment}`: what `report` writes of it. */
export const experimentView = z
  .object({
    experiment: experimentName,
    title: z.string(),
    reading: z.array(z.string()).describe("What it means, in plain sentences"),
    warnings: z.array(z.object({ code: z.string(), message: z.string() })),
    tables: z.array(resultTable),
    figures: z
      .array(z.object({ name: partName, title: z.string() }))
      .describe("Drawn by …/figures/{name}.json (a Vega-Lite specification), .svg or .pdf"),
    provenance: z.object({
      seed: z.string(),
      resamples: z.int(),
      permutations: z.int(),
      level: z.number(),
      interval: z.string(),
      unit: z.string(),
    }),
  })
  .meta({ id: "Experiment" });

/** An experiment as it is served. */
export type ExperimentView = z.infer<typeof experimentView>;
