import { adjustPValues } from "@hallumaze/statistics";
import {
  type Contrast,
  type Draws,
  type ExperimentOptions,
  type Metric,
  type PairedSide,
  type Trial,
  type TrialTable,
  boundsOf,
  contrastSides,
  countTrials,
  estimateOf,
  mazeMean,
  openDraws,
  pairedSide,
  plainMean,
  repeatCorrelation,
  successRate,
} from "@hallumaze/trials";

import { levelsOf, missingWarnings } from "./missing-alarm.ts";
import type { Column, ExperimentResult, FigureData, ResultTable, Warning } from "./result.ts";
import { fewMazes } from "./sample-warnings.ts";
import { count, isOffZero, percent, pValue, two, withInterval } from "./wording.ts";

/** The two MEI that a ranking shows side by side. */
const meiMetrics = ["meiRobust", "mei"] as const satisfies readonly Metric[];
const meiNames = { meiRobust: "robust MEI", mei: "seed MEI" } as const;

/**
 * Compares models: each one's means over mazes, in all and by size and condition, and every pair on the mazes that both
 * answered under the same condition. Ranked by robust MEI: the seed's MEI cannot rank those who escape.
 */
export function compareModels(table: TrialTable, options: ExperimentOptions = {}): ExperimentResult {
  const draws = openDraws("models", options);
  const models = table.models();
  // A model's trials are let go before the next one's are looked at: a million of them would not fit beside each other.
  const found = models.map((model) => describeModel(model, table.ofModel(model), draws));
  const ranked = found.toSorted((a, b) => (b.mean.value ?? -1) - (a.mean.value ?? -1) || (a.model < b.model ? -1 : 1));
  const rows = ranked.flatMap((model) => model.rows);
  const pairs = comparePairs(
    table,
    ranked.map(({ model }) => model),
    draws,
  );
  return {
    experiment: "models",
    title: "Model comparison",
    tables: [{ name: "models", caption: caption(draws), columns: modelColumns, rows }, pairTable(pairs, draws)],
    figures: [figureOf(rows, draws)],
    reading: readingOf(
      ranked.map(({ model, mean }) => ({ ...mean, model })),
      pairs,
      draws,
    ),
    warnings: [
      ...missingWarnings(table),
      ...found.flatMap(({ model, mazes }) => fewMazes(model, mazes)),
      ...found.flatMap(({ atCeiling }) => atCeiling),
    ],
    provenance: draws.provenance(),
  };
}

/** All that the comparison keeps of one model. */
function describeModel(model: string, trials: readonly Trial[], draws: Draws) {
  return {
    model,
    mean: mazeMean(trials, "meiRobust", draws, `rank/${model}`),
    rows: modelRows(model, trials, draws),
    mazes: countTrials(trials).mazes,
    atCeiling: ceilingWarnings(model, trials),
  };
}

const modelColumns: readonly Column[] = [
  { key: "model", label: "Model", kind: "text" },
  { key: "condition", label: "Condition", kind: "text" },
  { key: "size", label: "Size", kind: "text" },
  { key: "planned", label: "Planned", kind: "count" },
  { key: "answered", label: "Answered", kind: "count" },
  { key: "coverage", label: "Coverage", kind: "share" },
  { key: "mazes", label: "Mazes", kind: "count" },
  { key: "sr", label: "SR", kind: "interval", better: "high" },
  { key: "meiRobust", label: "MEI robust", kind: "interval", better: "high" },
  { key: "meiRobustBounds", label: "its bounds", kind: "bounds" },
  { key: "mei", label: "MEI seed", kind: "interval", better: "high" },
  { key: "meiBounds", label: "its bounds", kind: "bounds" },
  { key: "meiRobustFull", label: "MEI robust, full answers", kind: "value", better: "high" },
  { key: "srFull", label: "SR, full answers", kind: "share", better: "high" },
  { key: "score", label: "Score", kind: "value", better: "high" },
  { key: "ce", label: "CE", kind: "value", better: "low" },
  { key: "brs", label: "BRS", kind: "value", better: "high" },
  { key: "hrr", label: "HRR", kind: "value", better: "high" },
  { key: "nonAnswers", label: "Non-answers", kind: "count" },
  { key: "cutOffs", label: "Cut off", kind: "count" },
  { key: "icc", label: "ICC of repeats", kind: "value" },
];

/** The model in all, then by each size and each condition that it has more than one of. */
function modelRows(model: string, trials: readonly Trial[], draws: Draws) {
  const sizes = distinct(trials.map(({ condition }) => condition.size)).sort((a, b) => a - b);
  const conditions = distinct(trials.map(conditionName)).sort();
  const parts = [
    { condition: "all", size: "all", members: trials },
    ...(sizes.length < 2
      ? []
      : sizes.map((size) => ({
          condition: "all",
          size: String(size),
          members: trials.filter(({ condition }) => condition.size === size),
        }))),
    ...(conditions.length < 2
      ? []
      : conditions.map((condition) => ({
          condition,
          size: "all",
          members: trials.filter((trial) => conditionName(trial) === condition),
        }))),
  ];
  return parts.map(({ condition, size, members }) => ({
    model,
    condition,
    size,
    ...describeTrials(members, draws, `${model}/${condition}/${size}`),
  }));
}

function describeTrials(trials: readonly Trial[], draws: Draws, name: string) {
  const full = trials.filter(({ kind }) => kind === "full");
  const [robust, seed] = [mazeMean(trials, "meiRobust", draws, name), mazeMean(trials, "mei", draws, name)];
  return {
    ...countTrials(trials),
    sr: successRate(trials, draws.options.level),
    meiRobust: estimateOf(robust),
    meiRobustBounds: boundsOf(trials, "meiRobust"),
    mei: estimateOf(seed),
    meiBounds: boundsOf(trials, "mei"),
    meiRobustFull: plainMean(full, "meiRobust"),
    srFull: successRate(full, draws.options.level).value,
    score: plainMean(trials, "score"),
    ce: plainMean(trials, "ce"),
    brs: plainMean(trials, "brs"),
    hrr: plainMean(trials, "hrr"),
    icc: repeatCorrelation(trials, "meiRobust").value,
  };
}

/** A pair of models, the one that is ranked higher first, in one metric. */
interface Pair {
  readonly a: string;
  readonly b: string;
  readonly metric: (typeof meiMetrics)[number];
  readonly contrast: Contrast;
  readonly holm: number | null;
  readonly bh: number | null;
}

/** Every pair in every metric; corrected over the pairs of a metric. */
/** Two models' sides are held at a time: of a million trials all of them would take half a gigabyte. */
function comparePairs(table: TrialTable, ranked: readonly string[], draws: Draws): readonly Pair[] {
  const sideOf = (model: string, metric: Metric): PairedSide => pairedSide(table.ofModel(model), metric);
  return meiMetrics.flatMap((metric) => {
    const pairs = ranked.slice(0, -1).flatMap((a, at) => {
      const side = sideOf(a, metric);
      return ranked.slice(at + 1).map((b) => {
        const contrast = contrastSides(side, sideOf(b, metric), draws, `${a} - ${b}/${metric}`);
        return { a, b, metric, contrast };
      });
    });
    const pValues = pairs.map((pair) => pair.contrast.p);
    const [holm, bh] = [adjustPValues(pValues, "holm"), adjustPValues(pValues, "bh")];
    return pairs.map((pair, at) => ({ ...pair, holm: holm[at] ?? null, bh: bh[at] ?? null }));
  });
}

function pairTable(pairs: readonly Pair[], { options }: Draws): ResultTable {
  return {
    name: "model-pairs",
    caption: `Paired differences on common mazes, the higher-ranked model first. p: sign-flip permutation, corrected over the pairs of a metric. Detectable: what these mazes would find at ${percent(1 - options.level)} with power 0.8.`,
    columns: [
      { key: "a", label: "Model", kind: "text" },
      { key: "b", label: "against", kind: "text" },
      { key: "metric", label: "Metric", kind: "text" },
      { key: "mazes", label: "Common mazes", kind: "count" },
      { key: "unpaired", label: "Others", kind: "count" },
      { key: "difference", label: "Difference", kind: "interval" },
      { key: "bounds", label: "its bounds", kind: "bounds" },
      { key: "standardised", label: "in SD", kind: "value" },
      { key: "p", label: "p", kind: "p" },
      { key: "wilcoxonP", label: "p (Wilcoxon)", kind: "p" },
      { key: "holm", label: "p (Holm)", kind: "p" },
      { key: "bh", label: "p (BH)", kind: "p" },
      { key: "detectable", label: "Detectable", kind: "value" },
    ],
    rows: pairs.map(({ a, b, metric, contrast: found, holm, bh }) => ({
      a,
      b,
      metric: meiNames[metric],
      mazes: found.mazes,
      unpaired: found.unpaired,
      difference: estimateOf(found),
      bounds: found.bounds,
      standardised: found.standardised,
      p: found.p,
      wilcoxonP: found.wilcoxonP,
      holm,
      bh,
      detectable: found.detectable,
    })),
  };
}

function figureOf(rows: readonly ReturnType<typeof modelRows>[number][], { options }: Draws): FigureData {
  const points = rows
    .filter(({ condition }) => condition === "all")
    .flatMap((row) =>
      meiMetrics.map((metric) => ({
        ...row[metric],
        category: row.model,
        series: meiNames[metric],
        panel: row.size === "all" ? "all sizes" : `${row.size}×${row.size}`,
      })),
    );
  return {
    kind: "intervals",
    name: "models",
    title: "MEI by model",
    valueLabel: `MEI, mean over mazes with ${percent(options.level)} interval`,
    references: [{ at: 0.9, label: "highest seed MEI" }],
    points,
  };
}

function readingOf(
  means: readonly ({ readonly model: string; readonly mazes: number } & ReturnType<typeof estimateOf>)[],
  pairs: readonly Pair[],
  draws: Draws,
): readonly string[] {
  const known = means.filter(({ value }) => value !== null);
  if (known.length === 0) return ["No model has an answer yet."];
  const alpha = 1 - draws.options.level;
  const ranking = known.map((mean) => `${mean.model} ${withInterval(mean)}`).join(", ");
  const robust = pairs.filter(({ metric }) => metric === "meiRobust");
  const apart = robust.filter(({ holm }) => holm !== null && holm < alpha);
  const sentences = [`By robust MEI (mean over mazes, ${percent(draws.options.level)} interval): ${ranking}.`];
  if (robust.length > 0) {
    sentences.push(
      `${apart.length} of ${count(robust.length, "pair")} of models differ after Holm's correction at ${percent(alpha)}.`,
    );
  }
  const next = robust.find(({ a, b }) => a === known[0]?.model && b === known[1]?.model);
  if (next === undefined || next.contrast.value === null) return sentences;
  const { contrast: found, a, b, holm } = next;
  const verdict =
    holm !== null && holm < alpha
      ? `${a} is ahead of ${b}`
      : `${a} cannot be told from ${b}; ${found.mazes} mazes would show a difference of about ${two(found.detectable)}`;
  return [
    ...sentences,
    `${verdict}: on ${count(found.mazes, "common maze")} the difference is ${withInterval(found)} (Holm-adjusted ${pValue(holm)}).`,
    ...(isOffZero(found) === true && found.bounds !== null && found.bounds[0] <= 0 && found.bounds[1] >= 0
      ? [
          `With missing answers at their worst or best it could lie anywhere in [${two(found.bounds[0])}, ${two(found.bounds[1])}].`,
        ]
      : []),
  ];
}

function ceilingWarnings(model: string, trials: readonly Trial[]): readonly Warning[] {
  const values = trials.flatMap((trial) => trial.value("mei") ?? []);
  const top = values.filter((value) => value >= 0.9 - 1e-9).length;
  if (values.length === 0 || top < values.length / 2) return [];
  return [
    {
      code: "at-ceiling",
      message: `${model}: ${percent(top / values.length)} of its answers have the highest seed MEI there is (0.9). Seed MEI cannot rank those; read robust MEI.`,
    },
  ];
}

function caption({ options }: Draws): string {
  return `Means over mazes (repeats averaged within their maze first) with ${percent(options.level)} maze-clustered bootstrap intervals (${options.interval}, ${options.resamples} resamples within size); SR with Wilson's. Bounds: every missing answer 0, every one 1.`;
}

function conditionName({ condition }: Trial): string {
  return levelsOf(condition).slice(1).join(" ");
}

function distinct<Item>(items: readonly Item[]): Item[] {
  return [...new Set(items)];
}
