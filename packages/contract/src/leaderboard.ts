import { z } from "zod";

import { conditionFilter, estimate, profileName, sweepName } from "./trial-words.ts";

/** Query of `GET /api/sweeps/{name}/leaderboard`: the profile, and what to count only. */
export const leaderboardQuery = z.strictObject({ profile: profileName.default("robust"), ...conditionFilter });

/** How an interval was made; null where there is none. */
export const intervalMethod = z.enum(["wilson", "maze-bootstrap"]).nullable();

/** A mean over mazes of one metric. */
export const leaderboardFigure = estimate.extend({
  n: z.int().describe("Trials with a value"),
  missing: z.int().describe("Answered trials without one: no confidence given, no attempt made"),
  method: intervalMethod,
});

/** A figure as it is served. */
export type LeaderboardFigure = z.infer<typeof leaderboardFigure>;

/** One model of a leaderboard. */
export const leaderboardRow = z.object({
  rank: z.int().nullable().describe("By MEI of the profile; equal means share it; null without an answer"),
  model: z.string(),
  planned: z.int(),
  answered: z.int(),
  coverage: z.number().describe("answered / planned, 0 … 1"),
  nonAnswers: z.int(),
  cutOffs: z.int(),
  mazes: z.int().describe("Distinct mazes with an answer: the units of the intervals"),
  levels: z
    .object({ l1: z.int(), l2: z.int(), l3: z.int(), unscored: z.int() })
    .nullable()
    .describe("Judged answers; null where no judge was asked"),
  sr: leaderboardFigure,
  mei: leaderboardFigure,
  hrr: leaderboardFigure,
  ce: leaderboardFigure.describe("Better when lower"),
  brs: leaderboardFigure,
  score: leaderboardFigure,
  hc: leaderboardFigure,
  bt: leaderboardFigure,
  bounds: z
    .object({ sr: z.tuple([z.number(), z.number()]), mei: z.tuple([z.number(), z.number()]).nullable() })
    .describe("Were every missing trial as bad, or as good, as can be"),
});

/** Answer of `GET /api/sweeps/{name}/leaderboard`. */
export const leaderboardView = z
  .object({
    sweep: z.string(),
    profile: profileName,
    level: z.number().describe("Two-sided confidence of the intervals"),
    rows: z.array(leaderboardRow),
    choices: z
      .object({
        sizes: z.array(z.int()),
        groups: z.array(z.string()),
        mirages: z.array(z.boolean()),
        languages: z.array(z.string()),
      })
      .describe("What the sweep has, for filters"),
  })
  .meta({ id: "Leaderboard" });

/** A leaderboard as it is served. */
export type LeaderboardView = z.infer<typeof leaderboardView>;

/** What two models may be compared by, of one profile. */
export const comparedMetric = z.enum(["sr", "mei", "hrr", "ce", "brs", "score"]);

/** Query of `GET /api/sweeps/{name}/compare`. */
export const comparisonQuery = z.strictObject({
  a: z.string().min(1).max(300),
  b: z.string().min(1).max(300),
  metric: comparedMetric.default("mei"),
  profile: profileName.default("robust"),
  ...conditionFilter,
});

/** Answer of `GET /api/sweeps/{name}/compare`: the paired difference a - b over the mazes that both have. */
export const comparisonView = z
  .object({
    sweep: sweepName,
    a: z.string(),
    b: z.string(),
    metric: comparedMetric,
    profile: profileName,
    better: z.enum(["high", "low"]),
    difference: estimate,
    level: z.number(),
    interval: z.string().describe("How the interval was made, such as bca over mazes"),
    mazes: z.int().describe("Common mazes: the units"),
    unpaired: z.int().describe("Mazes that one side only has a value of"),
    test: z.string().describe("Name of the test of p"),
    p: z.number().nullable(),
    wilcoxonP: z.number().nullable(),
    standardised: z.number().nullable(),
    detectable: z.number().nullable().describe("Smallest difference that these mazes find with power 0.8"),
    bounds: z.tuple([z.number(), z.number()]).nullable(),
    differences: z.array(z.number()).describe("Each maze's, in the order of sizes and seeds"),
    reading: z.string().describe("One plain sentence"),
  })
  .meta({ id: "Comparison" });

/** A comparison as it is served. */
export type ComparisonView = z.infer<typeof comparisonView>;
