import { z } from "zod";

import { conditionFields, trialState } from "./trial-words.ts";

/** What may colour a cell of the grid: `state`, or a number of a profile. Levels are the judges'. */
export const gridMetric = z.enum([
  "state",
  ...(["seed", "robust", "published"] as const).flatMap((profile) =>
    (["sr", "hc", "fhr", "bt", "lt", "hrr", "mei", "ce", "brs", "score"] as const).map(
      (metric) => `${profile}.${metric}` as const,
    ),
  ),
]);

/** A grid's metric. */
export type GridMetric = z.infer<typeof gridMetric>;

/** Query of `GET /api/sweeps/{name}/grid`. */
export const gridQuery = z.strictObject({ metric: gridMetric.default("state") });

/** Most cells that one grid is served with. */
export const maxGridCells = 200_000;

/**
 * Answer of `GET /api/sweeps/{name}/grid`: columns of equal length, one place a trial, by model, size and seed. `model`, `condition`, `seed` and `state` are places in the lists of the same name.
 */
export const gridView = z
  .object({
    metric: gridMetric,
    models: z.array(z.string()),
    conditions: z.array(z.object({ ...conditionFields, repeat: z.int().describe("0-based") })),
    seeds: z.array(z.number()),
    states: z.array(trialState),
    cells: z.object({
      model: z.array(z.int()),
      condition: z.array(z.int()),
      seed: z.array(z.int()),
      state: z.array(z.int()),
      value: z.array(z.number().nullable()).describe("Null: not known. Empty where the metric is state"),
      trialId: z.array(z.string()),
    }),
    range: z
      .object({ lo: z.number(), hi: z.number(), better: z.enum(["high", "low", "neither"]) })
      .nullable()
      .describe("What the metric may be, or for counts what it was; null for state, or where no value is known"),
    truncated: z.boolean().describe("True where the sweep has more cells than are served"),
  })
  .meta({ id: "Grid" });

/** A grid as it is served. */
export type GridView = z.infer<typeof gridView>;
