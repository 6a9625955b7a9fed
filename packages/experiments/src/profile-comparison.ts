import { averageRanks, spearman } from "@hallumaze/statistics";
import {
  type Estimate,
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

import { missingWarnings } from "./missing-alarm.ts";
import type { ExperimentResult, Warning } from "./result.ts";
import { percent, two } from "./wording.ts";

/** The metrics of each profile that are shown side by side. */
const profiles = [
  { profile: "seed", mei: "mei", hrr: "hrr", score: "score" },
  { profile: "robust", mei: "meiRobust", hrr: "hrrRobust", score: "scoreRobust" },
  { profile: "published", mei: "meiPublished", hrr: "hrrPublished", score: "scorePublished" },
] as const satisfies readonly { profile: string; mei: Metric; hrr: Metric; score: Metric }[];

/**
 * The profiles `seed`, `robust` and `published` side by side: each one's means and ranks of the models, how many answers
 * it puts at its highest value, and how far two profiles order the same answers alike.
 */
export function compareProfiles(table: TrialTable, options: ExperimentOptions = {}): ExperimentResult {
  const draws = openDraws("profiles", options);
  const models = table.models();
  const answeredOf = (model: string): readonly Trial[] => table.ofModel(model, ({ kind }) => kind !== "missing");
  const columns = profiles.map((names) => {
    const means = models.map((model) => mazeMean(answeredOf(model), names.mei, draws, model));
    return { ...names, means, ranks: ranksOf(means) };
  });
  const rows = columns.flatMap(({ profile, mei, hrr, score, means, ranks }) =>
    models.map((model, at) => {
      const trials = answeredOf(model);
      const mean = means[at];
      return {
        model,
        profile,
        rank: ranks[at] ?? null,
        n: mean?.trials ?? 0,
        mei: mean === undefined ? null : estimateOf(mean),
        sr: successRate(trials, draws.options.level, profile === "published" ? "srPublished" : "sr"),
        hrr: estimateOf(mazeMean(trials, hrr, draws, model)),
        score: estimateOf(mazeMean(trials, score, draws, model)),
        atCeiling: ceilingShare(trials, mei),
      };
    }),
  );
  const pairs = [
    ["mei", "meiRobust", "seed", "robust"],
    ["mei", "meiPublished", "seed", "published"],
    ["meiRobust", "meiPublished", "robust", "published"],
  ] as const;
  const agreements = pairs.map(([one, other, a, b]) => ({
    a,
    b,
    ofTrials: rankCorrelation(rankedPairs(answeredTrials(table, models), one, other), draws, `${a}-${b}`),
    ofModels: spearman(
      columns.find(({ profile }) => profile === a)?.means.map(({ value }) => value) ?? [],
      columns.find(({ profile }) => profile === b)?.means.map(({ value }) => value) ?? [],
    ).value,
  }));
  return {
    experiment: "profiles",
    title: "Profiles side by side",
    tables: [
      {
        name: "profiles",
        caption:
          "The same answers by three sets of rules. `published` repeats the published reading, its weaknesses included; only `robust` can neither be talked up nor bumped up.",
        columns: [
          { key: "profile", label: "Profile", kind: "text" },
          { key: "model", label: "Model", kind: "text" },
          { key: "rank", label: "Rank", kind: "count" },
          { key: "n", label: "Answers", kind: "count" },
          { key: "mei", label: "MEI", kind: "interval", better: "high" },
          { key: "sr", label: "SR", kind: "interval", better: "high" },
          { key: "hrr", label: "HRR", kind: "interval", better: "high" },
          { key: "score", label: "Score", kind: "interval", better: "high" },
          { key: "atCeiling", label: "At the top", kind: "share" },
        ],
        rows,
      },
      {
        name: "profile-agreement",
        caption:
          "Spearman correlation of MEI in two profiles, over answers (interval over mazes) and over models' means.",
        columns: [
          { key: "a", label: "Profile", kind: "text" },
          { key: "b", label: "against", kind: "text" },
          { key: "answers", label: "Answers", kind: "count" },
          { key: "ofTrials", label: "ρ of answers", kind: "interval" },
          { key: "ofModels", label: "ρ of models", kind: "value" },
        ],
        rows: agreements.map(({ a, b, ofTrials, ofModels }) => ({
          a,
          b,
          answers: ofTrials.n,
          ofTrials: estimateOf(ofTrials),
          ofModels,
        })),
      },
    ],
    figures: [
      {
        kind: "intervals",
        name: "profiles",
        title: "MEI by profile",
        valueLabel: "MEI",
        references: [],
        points: rows.flatMap(({ model, profile, mei }) =>
          mei === null ? [] : [{ category: model, series: profile, ...mei }],
        ),
      },
    ],
    reading: agreements.flatMap(({ a, b, ofTrials, ofModels }) =>
      ofTrials.value === null
        ? []
        : [
            `${a} and ${b} order the answers with ρ ${two(ofTrials.value)}${ofModels === null ? "" : `, the models with ρ ${two(ofModels)}`}.`,
          ],
    ),
    warnings: [
      ...missingWarnings(table),
      ...rows.flatMap(({ model, profile, atCeiling }): readonly Warning[] =>
        atCeiling !== null && atCeiling >= 0.5 && profile !== "robust"
          ? [
              {
                code: "at-ceiling",
                message: `${model}: ${percent(atCeiling)} of its answers are at the highest MEI of profile ${profile} (0.9), which cannot rank them.`,
              },
            ]
          : [],
      ),
    ],
    provenance: draws.provenance(),
  };
}

function ceilingShare(trials: readonly Trial[], metric: Metric): number | null {
  const top = metric === "meiRobust" ? 1 : 0.9;
  const values = trials.flatMap((trial) => trial.value(metric) ?? []);
  return values.length === 0 ? null : values.filter((value) => value >= top - 1e-9).length / values.length;
}

/** 1 is the best; equal means share the mean of their ranks; null without a mean. */
function ranksOf(means: readonly Estimate[]): readonly (number | null)[] {
  const known = means.flatMap(({ value }, at) => (value === null ? [] : [{ value, at }]));
  const ranks = averageRanks(known.map(({ value }) => -value));
  const all: (number | null)[] = means.map(() => null);
  for (const [order, { at }] of known.entries()) all[at] = ranks[order] ?? null;
  return all;
}
