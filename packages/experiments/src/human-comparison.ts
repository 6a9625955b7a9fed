import type { Cell } from "@hallumaze/maze";
import { isIllegal, type Walk } from "@hallumaze/metrics";
import { wilsonInterval } from "@hallumaze/statistics";
import {
  type Draws,
  type Estimate,
  type ExperimentOptions,
  type RankedPair,
  type Trial,
  type TrialSource,
  type TrialTable,
  contrast,
  estimateOf,
  mazeKeyOf,
  mazeMean,
  openDraws,
  rankCorrelation,
  successRate,
} from "@hallumaze/trials";

import { contrastCells, contrastColumns, contrastFigure, contrastSentence } from "./contrast-report.ts";
import type { ExperimentResult, Warning } from "./result.ts";
import { count, isOffZero, two, withInterval } from "./wording.ts";

/** People's results known as means only, as the seed's section 9.4 gives them. */
export interface HumanAggregate {
  readonly label: string;
  readonly n: number;
  /** Null: all sizes. */
  readonly size: number | null;
  /** 0 … 1; null where it was not recorded, as is `mei`. */
  readonly sr: number | null;
  readonly mei: number | null;
  /** Standard deviation of people's MEI; null where it was not recorded: then their mean has no interval. */
  readonly meiSd: number | null;
}

/** Where one trial went wrong: the cell of each illegal attempt. */
export interface ErrorPositions {
  readonly who: string;
  readonly mazeKey: string;
  readonly size: number;
  readonly cells: readonly Cell[];
}

/** Takes the error positions out of a trial's walk. */
export function errorPositions(row: Pick<TrialSource, "alias" | "plan">, walk: Pick<Walk, "steps">): ErrorPositions {
  const cells = walk.steps.flatMap((step) => (isIllegal(step) && step.from !== null ? [step.from] : []));
  return { who: row.alias, mazeKey: mazeKeyOf(row.plan), size: row.plan.size, cells };
}

/** What people are known by: names of models that are people (per-trial logs), aggregates, error positions of both. */
export interface HumanData {
  readonly people: readonly string[];
  readonly aggregates: readonly HumanAggregate[];
  readonly errors: readonly ErrorPositions[];
}

/**
 * People against models: on the mazes that both walked where people's trials are known, else against their published
 * means; and how alike the places are where people and models go wrong on the same mazes (H3), as an estimate with its
 * interval beside what any two different mazes of that size share. None of it proves how anyone thinks (H1, H2).
 *
 * SOURCE: seed, section 9.4; spec/analysis.md.
 */
export function compareWithHumans(
  table: TrialTable,
  humans: HumanData,
  options: ExperimentOptions = {},
): ExperimentResult {
  const draws = openDraws("human", options);
  const models = table.models().filter((model) => !humans.people.includes(model));
  const people = humans.people.flatMap((name) => table.ofModel(name, inGroupA));
  const paired = models.map((model) => {
    const sides = { a: table.ofModel(model, inGroupA), b: people };
    const effects = (["meiRobust", "mei", "sr"] as const).map((metric) => ({
      metric,
      effect: contrast(sides, metric, draws, { name: model, pairKey: () => "" }),
    }));
    return { model, effects };
  });
  const against = humans.aggregates.flatMap((human) =>
    models.map((model) => againstAggregate(table, model, human, draws)),
  );
  const alike = models.map((model) => ({ model, ...positionsAlike(humans, model, draws) }));
  return {
    experiment: "human",
    title: "People and models",
    tables: [
      {
        name: "human-paired",
        caption: "Model minus people on the mazes that both walked.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "metric", label: "Metric", kind: "text" },
          ...contrastColumns("Model - people"),
        ],
        rows: paired.flatMap(({ model, effects }) =>
          effects.map(({ metric, effect }) => ({ model, metric, ...contrastCells(effect, null) })),
        ),
      },
      {
        name: "human-aggregate",
        caption: "Models beside people's recorded means. The mazes differ, so a difference may be the mazes'.",
        columns: [
          { key: "people", label: "People", kind: "text" },
          { key: "n", label: "n", kind: "count" },
          { key: "size", label: "Size", kind: "text" },
          { key: "model", label: "Model", kind: "text" },
          { key: "humanSr", label: "SR, people", kind: "interval" },
          { key: "sr", label: "SR, model", kind: "interval" },
          { key: "srDifference", label: "SR, model - people", kind: "interval" },
          { key: "humanMei", label: "MEI, people", kind: "interval" },
          { key: "mei", label: "MEI seed, model", kind: "interval" },
        ],
        rows: against.map(({ human, ...row }) => ({
          people: human.label,
          n: human.n,
          size: human.size === null ? "all" : String(human.size),
          ...row,
        })),
      },
      {
        name: "error-positions",
        caption:
          "H3: Spearman correlation over cells of how often people and the model err there, on the same mazes; elsewhere: the model's errors laid over another maze of the size.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "mazes", label: "Mazes", kind: "count" },
          { key: "same", label: "ρ, same maze", kind: "interval" },
          { key: "other", label: "ρ, another maze", kind: "value" },
        ],
        rows: alike.map(({ model, same, other }) => ({ model, mazes: same.mazes, same: estimateOf(same), other })),
      },
    ],
    figures: [
      contrastFigure({
        name: "human",
        title: "Models minus people",
        valueLabel: "difference",
        effects: paired.flatMap(({ model, effects }) =>
          effects
            .filter(({ effect }) => effect.mazes > 0)
            .map(({ metric, effect }) => ({ category: model, series: metric, effect })),
        ),
      }),
    ],
    reading: [
      ...paired.flatMap(({ model, effects }) => {
        const effect = effects[0]?.effect;
        if (effect === undefined || effect.mazes === 0) return [];
        const words = {
          metric: "robust MEI",
          up: "it is ahead of people by",
          down: "people are ahead of it by",
          none: "no difference from people can be shown",
          alpha: 1 - draws.options.level,
        };
        return [contrastSentence(model, effect, words)];
      }),
      ...against.flatMap(({ model, human, srDifference }) =>
        srDifference.value === null
          ? []
          : [
              `${model}: SR ${withInterval(srDifference)} above that of ${human.label} (n = ${human.n})${isOffZero(srDifference) === true ? "" : ", which leaves open who is ahead"}.`,
            ],
      ),
      ...alike.flatMap(({ model, same, other }) =>
        same.value === null
          ? []
          : [
              `${model}: errors lie where people's lie with ρ ${withInterval(same)} over ${count(same.mazes, "maze")} (another maze of the size: ${two(other)}). A low correlation is an estimate of how differently they err, no proof of a different way to think.`,
            ],
      ),
      "H1 (a mental map) and H2 (token sequences) say how an answer comes about; results of trials cannot decide them.",
    ],
    warnings: warningsOf(humans, people, draws),
    provenance: draws.provenance(),
  };
}

function inGroupA({ condition }: Trial): boolean {
  return condition.group === "A";
}

function againstAggregate(table: TrialTable, model: string, human: HumanAggregate, draws: Draws) {
  const trials = table.ofModel(
    model,
    (trial) => inGroupA(trial) && (human.size === null || trial.condition.size === human.size),
  );
  const { level } = draws.options;
  const sr = successRate(trials, level);
  const interval = human.sr === null ? null : wilsonInterval(Math.round(human.sr * human.n), human.n, level);
  const humanSr: Estimate = { value: human.sr, lo: interval?.lo ?? null, hi: interval?.hi ?? null };
  const error = human.meiSd === null ? null : (1.96 * human.meiSd) / Math.sqrt(human.n);
  const humanMei: Estimate = {
    value: human.mei,
    lo: human.mei === null || error === null ? null : human.mei - error,
    hi: human.mei === null || error === null ? null : human.mei + error,
  };
  const mei = estimateOf(mazeMean(trials, "mei", draws, `${model}/${human.label}`));
  return { human, model, humanSr, sr, srDifference: shareDifference(sr, humanSr), humanMei, mei };
}

/** a - b of two independent shares from their own intervals. SOURCE: Newcombe (1998), Statistics in Medicine 17:873-890, method 10. */
function shareDifference(a: Estimate, b: Estimate): Estimate {
  if (a.value === null || b.value === null) return { value: null, lo: null, hi: null };
  const value = a.value - b.value;
  if (a.lo === null || a.hi === null || b.lo === null || b.hi === null) return { value, lo: null, hi: null };
  return {
    value,
    lo: value - Math.hypot(a.value - a.lo, b.hi - b.value),
    hi: value + Math.hypot(a.hi - a.value, b.value - b.lo),
  };
}

function positionsAlike({ people, errors }: HumanData, model: string, draws: Draws) {
  const maps = (names: readonly string[]): ReadonlyMap<string, ErrorMap> =>
    errorMaps(errors.filter(({ who }) => names.includes(who)));
  const [ofPeople, ofModel] = [maps(people), maps([model])];
  const common = [...ofPeople.keys()].filter((maze) => ofModel.has(maze)).sort();
  const pairsWith = (other: (maze: string) => string): RankedPair[] =>
    common.flatMap((maze) => {
      const [theirs, its] = [ofPeople.get(maze), ofModel.get(other(maze))];
      if (theirs === undefined || its === undefined) return [];
      return theirs.rates.map((x, cell) => ({ maze, x, y: its.rates[cell] ?? 0 }));
    });
  const nextOfSize = (maze: string): string => {
    const size = ofModel.get(maze)?.size;
    const same = common.filter((other) => ofModel.get(other)?.size === size);
    return same[(same.indexOf(maze) + 1) % same.length] ?? maze;
  };
  return {
    same: rankCorrelation(
      pairsWith((maze) => maze),
      draws,
      `${model}/error positions`,
    ),
    other: common.length < 2 ? null : rankCorrelation(pairsWith(nextOfSize), draws, `${model}/other maze`).value,
  };
}

interface ErrorMap {
  readonly size: number;
  /** By cell, row by row: errors there a trial. */
  readonly rates: readonly number[];
}

function errorMaps(errors: readonly ErrorPositions[]): ReadonlyMap<string, ErrorMap> {
  const mazes = new Map<string, ErrorPositions[]>();
  for (const trial of errors) mazes.set(trial.mazeKey, [...(mazes.get(trial.mazeKey) ?? []), trial]);
  return new Map(
    [...mazes].map(([maze, trials]) => {
      const size = trials[0]?.size ?? 0;
      const rates = Array.from({ length: size * size }, () => 0);
      for (const [row, column] of trials.flatMap(({ cells }) => cells)) {
        const cell = row * size + column;
        rates[cell] = (rates[cell] ?? 0) + 1 / trials.length;
      }
      return [maze, { size, rates }];
    }),
  );
}

function warningsOf({ people, aggregates }: HumanData, trials: readonly Trial[], draws: Draws): readonly Warning[] {
  const warnings: Warning[] = [];
  if (people.length === 0 && aggregates.length === 0) {
    warnings.push({ code: "no-data", message: "There is no human record. Import aggregates or per-trial logs first." });
  }
  if (people.length > 0 && trials.length === 0) {
    warnings.push({ code: "no-data", message: `None of ${people.join(", ")} has a trial.` });
  }
  for (const { label, mei, meiSd } of aggregates) {
    if (mei !== null && meiSd === null) {
      warnings.push({
        code: "single-value",
        message: `${label}: a mean MEI without a standard deviation has no ${100 * draws.options.level} % interval, so no difference of MEI can be tested.`,
      });
    }
  }
  return warnings;
}
