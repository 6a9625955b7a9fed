import { bootstrapDraws, groupMeans, spearman } from "@hallumaze/statistics";
import {
  type Draws,
  type Estimate,
  type ExperimentOptions,
  type Metric,
  type Trial,
  type TrialTable,
  boundsOf,
  countTrials,
  estimateOf,
  groupedValues,
  mazeMean,
  openDraws,
  successRate,
} from "@hallumaze/trials";

import { missingWarnings } from "./missing-alarm.ts";
import type { ExperimentResult } from "./result.ts";
import { fewMazesOf } from "./sample-warnings.ts";
import { isOffZero, two, withInterval } from "./wording.ts";

const shown = [
  { metric: "meiRobust", label: "robust MEI" },
  { metric: "mei", label: "seed MEI" },
] as const;

/**
 * How a model's figures change with the size of the maze: means by size, the slope per two cells of size (the step of the
 * seed's 5, 7, 9, 11) with an interval from resampling mazes within their size, and within a size the rank correlation of
 * robust MEI with the maze's own difficulty (expected moves of a random walk to EXIT).
 */
export function difficultyCurve(table: TrialTable, options: ExperimentOptions = {}): ExperimentResult {
  const draws = openDraws("difficulty", options);
  const found = table.models().map((model) => {
    const trials = table.ofModel(model);
    const sizes = [...new Set(trials.map(({ condition }) => condition.size))].sort((a, b) => a - b);
    const points = sizes.map((size) => {
      const own = trials.filter(({ condition }) => condition.size === size);
      const means = shown.map(({ metric }) => mazeMean(own, metric, draws, `${model}/${size}`));
      return { size, own, means, sr: successRate(own, draws.options.level), hardness: hardness(own) };
    });
    const slopes = shown.map(({ metric }) => slope(trials, metric, draws, `${model}/slope/${metric}`));
    return { model, points, slopes };
  });
  return {
    experiment: "difficulty",
    title: "Difficulty curve",
    tables: [
      {
        name: "difficulty",
        caption:
          "By size of the maze. ρ: Spearman correlation of robust MEI with the maze's hitting time, within the size.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "size", label: "Size", kind: "count" },
          { key: "mazes", label: "Mazes", kind: "count" },
          { key: "coverage", label: "Coverage", kind: "share" },
          { key: "sr", label: "SR", kind: "interval", better: "high" },
          { key: "meiRobust", label: "MEI robust", kind: "interval", better: "high" },
          { key: "meiRobustBounds", label: "its bounds", kind: "bounds" },
          { key: "mei", label: "MEI seed", kind: "interval", better: "high" },
          { key: "hardness", label: "ρ", kind: "value" },
        ],
        rows: found.flatMap(({ model, points }) =>
          points.map(({ size, own, means, sr, hardness: rho }) => ({
            model,
            size,
            mazes: countTrials(own).mazes,
            coverage: countTrials(own).coverage,
            sr,
            meiRobust: means[0] === undefined ? null : estimateOf(means[0]),
            meiRobustBounds: boundsOf(own, "meiRobust"),
            mei: means[1] === undefined ? null : estimateOf(means[1]),
            hardness: rho,
          })),
        ),
      },
      {
        name: "difficulty-slope",
        caption: "Change of MEI per step of two cells in size, by least squares over mazes.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "meiRobust", label: "MEI robust per step", kind: "interval" },
          { key: "mei", label: "MEI seed per step", kind: "interval" },
        ],
        rows: found.map(({ model, slopes }) => ({ model, meiRobust: slopes[0] ?? null, mei: slopes[1] ?? null })),
      },
    ],
    figures: [
      {
        kind: "lines",
        name: "difficulty",
        title: "MEI by size",
        xLabel: "size of the maze",
        yLabel: "MEI",
        points: found.flatMap(({ model, points }) =>
          points.flatMap(({ size, means }) =>
            means.map((mean, at) => ({ series: model, x: size, panel: shown[at]?.label ?? "", ...estimateOf(mean) })),
          ),
        ),
      },
    ],
    reading: found.map(({ model, points, slopes }) => sentence(model, points.length, slopes[0])),
    warnings: [
      ...missingWarnings(table),
      ...found.flatMap(({ model, points }) =>
        points.flatMap(({ size, own }) => fewMazesOf(`${model} at size ${size}`, countTrials(own).mazes)),
      ),
    ],
    provenance: draws.provenance(),
  };
}

function sentence(model: string, sizes: number, slopeOf: Estimate | undefined): string {
  if (sizes < 2 || slopeOf === undefined || slopeOf.value === null)
    return `${model}: one size only, so there is no curve.`;
  if (isOffZero(slopeOf) !== true)
    return `${model}: no change of robust MEI with size can be shown (${withInterval(slopeOf)} per step).`;
  const { value, lo, hi } = slopeOf;
  const verb = value < 0 ? "loses" : "gains";
  const size = value < 0 && lo !== null && hi !== null ? { value: -value, lo: -hi, hi: -lo } : slopeOf;
  return `${model}: ${verb} ${withInterval(size)} robust MEI per step of two cells in size (${two(value * (sizes - 1))} from the smallest to the largest along the line).`;
}

/** The least-squares slope over mazes per two cells of size; resampled within each size. */
function slope(trials: readonly Trial[], metric: Metric, draws: Draws, name: string): Estimate {
  const sizes = new Map<number, number[]>();
  for (const { stratum, value } of groupMeans(groupedValues(trials, metric))) {
    if (value === null) continue;
    const own = sizes.get(Number(stratum));
    if (own === undefined) sizes.set(Number(stratum), [value]);
    else own.push(value);
  }
  const strata = [...sizes].map(([size, values]) => ({ step: size / 2, values }));
  const line = lineOver(strata);
  const drawn = Float64Array.from(strata.flatMap(({ values }) => values));
  const value = line.slopeOf(drawn);
  // A slope is the mean of what each maze adds to it, so that of many mazes its law is known too.
  const expanded = value === null ? null : draws.expand(line.shares(strata));
  if (expanded !== null) return { value, ...expanded };
  const { resamples, level } = draws.options;
  const { lo, hi } = bootstrapDraws(
    value,
    (random) => {
      let place = 0;
      for (const { values } of strata)
        for (let at = 0; at < values.length; at++) drawn[place++] = values[random.below(values.length)] ?? 0;
      return line.slopeOf(drawn);
    },
    { random: draws.stream(name), resamples: Math.min(resamples, 2000), level },
  );
  return { value, lo, hi };
}

interface Stratum {
  readonly step: number;
  readonly values: readonly number[];
}

/** Least squares over mazes whose steps stay as they are, whatever values are drawn for them, stratum by stratum. */
function lineOver(strata: readonly Stratum[]) {
  const steps = strata.flatMap(({ step, values }) => values.map(() => step));
  const { length: n } = steps;
  const middle = steps.reduce((sum, step) => sum + step, 0) / n;
  const off = Float64Array.from(steps, (step) => step - middle);
  const squares = off.reduce((sum, own) => sum + own ** 2, 0);
  return {
    /** Null where all mazes are of one size. */
    slopeOf: (values: Float64Array): number | null => {
      if (n === 0 || squares === 0) return null;
      let [total, products] = [0, 0];
      for (let at = 0; at < n; at++) total += values[at] ?? 0;
      const mean = total / n;
      for (let at = 0; at < n; at++) products += (off[at] ?? 0) * ((values[at] ?? 0) - mean);
      return products / squares;
    },
    /** What each maze adds to the slope, times the number of mazes: their mean is the slope. */
    shares: (drawn: readonly Stratum[]): readonly (readonly number[])[] =>
      drawn.map(({ step, values }) => values.map((value) => ((step - middle) * value * n) / squares)),
  };
}

function hardness(trials: readonly Trial[]): number | null {
  const times = new Map(trials.map(({ maze }) => [maze.key, maze.hittingTime]));
  const means = groupMeans(groupedValues(trials, "meiRobust"));
  return spearman(
    means.map(({ group }) => times.get(group) ?? null),
    means.map(({ value }) => value),
  ).value;
}
