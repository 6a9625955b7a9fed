import { type AriadneRow, type AriadneSummary, summariseAriadne } from "@hallumaze/ariadne";
import { bootstrapStatistic } from "@hallumaze/statistics";
import {
  type Condition,
  type Draws,
  type Estimate,
  type ExperimentOptions,
  type Trial,
  type TrialTable,
  contrast,
  openDraws,
} from "@hallumaze/trials";

import { contrastCells, contrastColumns, contrastFigure } from "./contrast-report.ts";
import { missingWarnings } from "./missing-alarm.ts";
import type { ExperimentResult, Warning } from "./result.ts";
import { fewMazesOf } from "./sample-warnings.ts";
import { count, isOffZero, pValue, two, withInterval } from "./wording.ts";

/**
 * Ariadne's Thread: how soon a model responds to a hint (NRS), how often it ignores a note (HIR), what hints change (ΔMEI
 * of B - A, paired) and the trainability index that the seed makes of them, with an interval from resampling mazes.
 *
 * SOURCE: seed, section 9.3; spec/benchmark.md, section 7.
 */
export function measureAriadne(table: TrialTable, options: ExperimentOptions = {}): ExperimentResult {
  const draws = openDraws("ariadne", options);
  const found = table.models().flatMap((model) => {
    const trials = table.ofModel(model);
    if (trials.every(({ condition }) => condition.group === "A")) return [];
    const rows = trials.map(toAriadneRow);
    const [summary] = summariseAriadne(rows, {
      random: draws.stream(`${model}/delta`),
      resamples: draws.options.resamples,
    });
    if (summary === undefined) return [];
    const sides = { a: trials.filter(inGroup("B")), b: trials.filter(inGroup("A")) };
    const effects = (["mei", "meiRobust"] as const).map((metric) =>
      contrast(sides, metric, draws, { name: model, pairKey: apartFromGroup }),
    );
    return [{ model, summary, effects, ti: trainabilityInterval(rows, summary, draws) }];
  });
  return {
    experiment: "ariadne",
    title: "Ariadne's Thread",
    tables: [
      {
        name: "ariadne",
        caption:
          "NRS: how soon group B responds to its hint. HIR: notes of group C that were ignored. TI = NRS·(MEI_B - MEI_A)/MEI_A, seed profile; above 0.3 high, below 0.1 low.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "triggered", label: "Triggered", kind: "share" },
          { key: "hints", label: "Hints", kind: "count" },
          { key: "nrs", label: "NRS", kind: "value", better: "high" },
          { key: "nrsBounds", label: "its bounds", kind: "bounds" },
          { key: "nrsGain", label: "NRS - shadow", kind: "value", better: "high" },
          { key: "hir", label: "HIR", kind: "share", better: "low" },
          { key: "meiA", label: "MEI A", kind: "value", better: "high" },
          { key: "meiB", label: "MEI B", kind: "value", better: "high" },
          { key: "ti", label: "TI", kind: "interval", better: "high" },
          { key: "tiLevel", label: "Level", kind: "text" },
          { key: "tiNorm", label: "TI norm", kind: "value", better: "high" },
        ],
        rows: found.map(({ model, summary, ti }) => ({
          model,
          triggered: summary.groups.B.shareTriggered,
          hints: summary.nrs.n,
          nrs: summary.nrs.mean,
          nrsBounds: summary.nrs.lo === null || summary.nrs.hi === null ? null : [summary.nrs.lo, summary.nrs.hi],
          nrsGain: summary.nrsGain,
          hir: summary.hir.rate,
          meiA: summary.ti.meiA,
          meiB: summary.ti.meiB,
          ti,
          tiLevel: summary.ti.level,
          tiNorm: summary.tiNorm.value,
        })),
      },
      {
        name: "ariadne-delta",
        caption: "ΔMEI: group B minus group A on the same mazes and conditions.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "metric", label: "Metric", kind: "text" },
          ...contrastColumns("Δ B - A"),
        ],
        rows: found.flatMap(({ model, effects }) =>
          effects.map((effect, at) => ({
            model,
            metric: at === 0 ? "seed MEI" : "robust MEI",
            ...contrastCells(effect, null),
          })),
        ),
      },
    ],
    figures: [
      contrastFigure({
        name: "ariadne",
        title: "What a hint changes",
        valueLabel: "MEI of group B - MEI of group A",
        effects: found.flatMap(({ model, effects }) =>
          effects.map((effect, at) => ({ category: model, series: at === 0 ? "seed MEI" : "robust MEI", effect })),
        ),
      }),
    ],
    reading: found.length === 0 ? ["No trial of groups B or C."] : found.map(sentence),
    warnings: [
      ...missingWarnings(table),
      ...found.flatMap(({ summary, effects }) => warningsOf(summary, effects[0]?.mazes ?? 0)),
    ],
    provenance: draws.provenance(),
  };
}

interface MazeResponse {
  readonly meiA: number;
  readonly meiB: number;
  /** Mean response to the maze's hints; null where none was given or all are censored. */
  readonly response: number | null;
}

/** TI over resampled mazes; null bounds where it is undefined. */
function trainabilityInterval(rows: readonly AriadneRow[], { ti }: AriadneSummary, draws: Draws): Estimate {
  const mazes = [...new Set(rows.map(({ mazeKey }) => mazeKey))].sort().flatMap((mazeKey): readonly MazeResponse[] => {
    const own = rows.filter((row) => row.mazeKey === mazeKey);
    const meiOf = (group: "A" | "B"): number | null =>
      average(own.flatMap((row) => (row.group === group && row.meiSeed !== null ? row.meiSeed : [])));
    const [meiA, meiB] = [meiOf("A"), meiOf("B")];
    if (meiA === null || meiB === null) return [];
    const trials = own
      .filter(({ group }) => group === "B")
      .map(({ record }) => average((record?.hints ?? []).flatMap(({ score }) => score ?? [])));
    return [{ meiA, meiB, response: average(trials.flatMap((response) => response ?? [])) }];
  });
  const { resamples, level } = draws.options;
  const random = draws.stream(`${rows[0]?.model ?? ""}/ti`);
  const { lo, hi } = bootstrapStatistic(mazes, trainabilityOf, { random, resamples: Math.min(resamples, 2000), level });
  return ti.value === null ? { value: null, lo: null, hi: null } : { value: ti.value, lo, hi };
}

function trainabilityOf(mazes: readonly MazeResponse[]): number | null {
  const [meiA, meiB] = [average(mazes.map((maze) => maze.meiA)), average(mazes.map((maze) => maze.meiB))];
  const nrs = average(mazes.flatMap(({ response }) => response ?? []));
  return meiA === null || meiB === null || nrs === null || meiA <= 0.01 ? null : (nrs * (meiB - meiA)) / meiA;
}

function sentence({
  model,
  summary,
  ti,
  effects,
}: {
  readonly model: string;
  readonly summary: AriadneSummary;
  readonly ti: Estimate;
  readonly effects: readonly {
    readonly value: number | null;
    readonly lo: number | null;
    readonly hi: number | null;
    readonly p: number | null;
    readonly mazes: number;
  }[];
}): string {
  const [effect] = effects;
  const shown =
    effect === undefined || effect.value === null
      ? "no maze was answered in both groups"
      : isOffZero(effect) !== true
        ? `no detectable effect of the hint (ΔMEI ${withInterval(effect)} on ${count(effect.mazes, "maze")}, ${pValue(effect.p)})`
        : `with the hint its MEI changes by ${withInterval(effect)} (${count(effect.mazes, "maze")}, ${pValue(effect.p)})`;
  const index =
    ti.value === null
      ? "it has no TI"
      : `TI ${withInterval(ti)}, ${summary.ti.level === "between" ? "between low and high" : (summary.ti.level ?? "")}`;
  const ignored =
    summary.hir.rate === null ? "" : ` It ignored ${summary.hir.ignored} of ${count(summary.hir.given, "note")}.`;
  return `${model}: ${shown}; NRS ${two(summary.nrs.mean)}, ${index}.${ignored}`;
}

const reasons = {
  noCommonMaze: "no maze has a result in both groups",
  noHint: "no hint was given",
  allCensored: "every answer to a hint was cut off",
  baselineTooLow: "MEI of group A is 0.01 or less",
  baselineAtMaximum: "nothing was left to gain",
  noShadow: "group A has no shadow turn to compare with",
} as const;

function warningsOf({ model, ti, tiNorm }: AriadneSummary, mazes: number): readonly Warning[] {
  const warning = (message: string): Warning => ({ code: "index-undefined", message: `${model}: ${message}` });
  return [
    ...fewMazesOf(model, mazes),
    ...(ti.why === null ? [] : [warning(`no TI: ${reasons[ti.why]}.`)]),
    ...(tiNorm.why === null ? [] : [warning(`no TI norm: ${reasons[tiNorm.why]}.`)]),
    ...(ti.cannotBeHigh === true
      ? [
          {
            code: "at-ceiling" as const,
            message: `${model}: MEI of group A is above 0.69, so TI cannot pass 0.3 whatever the hint does.`,
          },
        ]
      : []),
  ];
}

function toAriadneRow(trial: Trial): AriadneRow {
  const { model, maze, condition, ariadne } = trial;
  return {
    model,
    mazeKey: `${maze.key} ${apartFromGroup(condition)}`,
    group: condition.group,
    meiSeed: trial.value("mei"),
    record: ariadne,
  };
}

function inGroup(group: "A" | "B"): (trial: Trial) => boolean {
  return ({ condition }) => condition.group === group;
}

function apartFromGroup(condition: Condition): string {
  const { mirage, language, confidence, placement } = condition;
  return [mirage, language, confidence, placement].join(" ");
}

function average(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
