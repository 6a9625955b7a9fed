import { firstErrorFactor, hallumazeScore, loopEscape, tenthsOfMei } from "@hallumaze/metrics";
import { type GroupedValue, spearman } from "@hallumaze/statistics";
import {
  type Draws,
  type ExperimentOptions,
  type PairKey,
  type Trial,
  type TrialTable,
  contrast,
  describeDifferences,
  openDraws,
  stratumOf,
} from "@hallumaze/trials";

import { contrastCells, contrastColumns, contrastFigure } from "./contrast-report.ts";
import { missingWarnings } from "./missing-alarm.ts";
import type { ExperimentResult } from "./result.ts";
import { two, withInterval } from "./wording.ts";

/** The two profiles that the ablation is made in. */
const profiles = ["seed", "robust"] as const;
type Profile = (typeof profiles)[number];

/** What is left out, and the weight that stays: the rest is scaled up by it, so that the highest value stays the same. */
const removals = [
  { removed: "HRR", from: "MEI", of: (parts: Parts) => scaledMei(parts, { hrr: 0 }, 5) },
  { removed: "F", from: "MEI", of: (parts: Parts) => scaledMei(parts, { f: 0 }, 6) },
  { removed: "CE", from: "Score", of: (parts: Parts) => withoutCe(parts) },
  { removed: "BRS", from: "Score", of: (parts: Parts) => withoutBrs(parts) },
] as const;

/**
 * The ablation of the seed's section 14, in the profiles `seed` and `robust`: MEI without HRR and without F, Score without
 * CE and without BRS, each scaled back to the full range; what that changes of each answer, and whether it reorders the
 * models. Then the two conditions that the study names: no mirage, and Ariadne's group B against A.
 *
 * A part matters where taking it out reorders models, not where it moves all means alike: read the last column.
 */
export function ablate(table: TrialTable, options: ExperimentOptions = {}): ExperimentResult {
  const draws = openDraws("ablation", options);
  const models = table.models();
  const found = profiles.flatMap((profile) =>
    removals.map((removal) => {
      const byModel = models.map((model) => {
        // Read once, one at a time: all of a million trials' would take most of a gigabyte.
        const [full, left] = [mazeAverage(), mazeAverage()];
        const change = describeDifferences(
          changesOf(table.ofModel(model), { profile, removal, full, left }),
          draws,
          `${model}/${profile}/${removal.removed}`,
        );
        return { model, full: full.mean(), left: left.mean(), change };
      });
      const order = spearman(
        byModel.map(({ full }) => full),
        byModel.map(({ left }) => left),
      ).value;
      return { profile, ...removal, byModel, order };
    }),
  );
  const conditions = conditionRows(table, draws);
  return {
    experiment: "ablation",
    title: "Ablation",
    tables: [
      {
        name: "ablation",
        caption:
          "Each index without one of its parts, the rest scaled to the same highest value. Order of models: Spearman correlation of the models' means with and without the part.",
        columns: [
          { key: "profile", label: "Profile", kind: "text" },
          { key: "index", label: "Index", kind: "text" },
          { key: "removed", label: "without", kind: "text" },
          { key: "model", label: "Model", kind: "text" },
          { key: "full", label: "Full", kind: "value" },
          { key: "left", label: "Without", kind: "value" },
          ...contrastColumns("Change").filter(({ key }) => key === "mazes" || key === "difference"),
          { key: "order", label: "Order of models", kind: "value" },
        ],
        rows: found.flatMap(({ profile, removed, from, byModel, order }) =>
          byModel.map(({ model, full, left, change }) => {
            const { mazes = null, difference = null } = contrastCells(change, null);
            return { profile, index: from, removed, model, full, left, mazes, difference, order };
          }),
        ),
      },
      {
        name: "ablation-conditions",
        caption: "No mirage: Score and BRS without hints minus with them. B vs A: MEI with a hint minus without.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "condition", label: "Condition", kind: "text" },
          { key: "metric", label: "Metric", kind: "text" },
          ...contrastColumns("Difference"),
        ],
        rows: conditions.map(({ model, condition, metric, effect }) => ({
          model,
          condition,
          metric,
          ...contrastCells(effect, null),
        })),
      },
    ],
    figures: [
      contrastFigure({
        name: "ablation",
        title: "What each part adds",
        valueLabel: "change when the part is left out",
        effects: found.flatMap(({ profile, removed, from, byModel }) =>
          byModel.map(({ model, change }) => ({
            category: `${from} without ${removed} (${profile})`,
            series: model,
            effect: change,
          })),
        ),
      }),
    ],
    reading: found.map(({ profile, removed, from, byModel, order }) => {
      const largest = byModel
        .filter(({ change }) => change.value !== null)
        .toSorted((a, b) => Math.abs(b.change.value ?? 0) - Math.abs(a.change.value ?? 0))[0];
      const moved =
        largest === undefined
          ? "nothing to compare"
          : `it moves most for ${largest.model}: ${withInterval(largest.change)}`;
      const reordered =
        order === null
          ? ""
          : order > 0.999
            ? "; the order of the models stays"
            : `; the order of the models changes (ρ ${two(order)})`;
      return `${from} without ${removed}, ${profile}: ${moved}${reordered}.`;
    }),
    warnings: missingWarnings(table),
    provenance: draws.provenance(),
  };
}

/** What MEI and Score of one answer are made of, in one profile. */
interface Parts {
  readonly profile: Profile;
  readonly hrr: number;
  readonly f: number;
  readonly l: number;
  readonly hc: number;
  /** Robust: the share that an answer which did not escape is worth; 1 in the seed profile. */
  readonly reached: number;
  readonly mei: number;
  readonly ce: number | null;
  readonly brs: number | null;
  readonly score: number;
}

/** What leaving a part out changes of each trial's index; the index itself is added to the averages on the way. */
function* changesOf(
  trials: readonly Trial[],
  {
    profile,
    removal: { from, of },
    full,
    left,
  }: {
    readonly profile: Profile;
    readonly removal: (typeof removals)[number];
    readonly full: MazeAverage;
    readonly left: MazeAverage;
  },
): Generator<GroupedValue> {
  for (const trial of trials) {
    const parts = profile === "seed" ? seedParts(trial) : robustParts(trial);
    if (parts === null) continue;
    const [whole, rest] = [from === "MEI" ? parts.mei : parts.score, of(parts)];
    full.add(trial.maze.key, whole);
    left.add(trial.maze.key, rest);
    yield { group: trial.maze.key, stratum: stratumOf(trial.maze), value: rest - whole };
  }
}

function seedParts(trial: Trial): Parts | null {
  const [sr, hc, fhr, bt, lt] = (["sr", "hc", "fhr", "bt", "lt"] as const).map((name) => trial.value(name));
  const [hrr, mei, score] = [trial.value("hrr"), trial.value("mei"), trial.value("score")];
  if (hrr === null || mei === null || score === null || sr === null || sr === undefined) return null;
  const solved = sr === 1 ? 1 : 0;
  const f = firstErrorFactor({ fhr: fhr ?? -1, sr: solved }, trial.maze.size);
  const l = loopEscape({ lt: lt ?? 0, bt: bt ?? 0, sr: solved });
  const { ce, brs } = { ce: trial.value("ce"), brs: trial.value("brs") };
  return { profile: "seed", hrr, f, l, hc: hc ?? 0, reached: 1, mei, ce, brs, score };
}

/** F of the robust profile is not stored: it follows from MEI, of which everything else is known. */
function robustParts(trial: Trial): Parts | null {
  const [sr, hc, hrr] = [trial.value("sr"), trial.value("hc"), trial.value("hrrRobust")];
  const [mei, score, reached] = [trial.value("meiRobust"), trial.value("scoreRobust"), trial.value("reached")];
  if (sr === null || hc === null || hrr === null || mei === null || score === null || reached === null) return null;
  const tenths = reached === 0 ? 0 : (9 * mei) / reached;
  const f = Math.min(1, Math.max(0, (tenths - tenthsOfMei({ hrr, f: 0, l: sr, hc })) / 3));
  // What a silent answer counts as is in the score alone: 10·score = 5·MEI + 3·(1 - CE) + 2·BRS.
  const brs = trial.value("brs");
  const ce = 1 - (10 * score - 5 * mei - 2 * (brs ?? 0)) / 3;
  return { profile: "robust", hrr, f, l: sr, hc, reached, mei, ce, brs, score };
}

/** MEI without a part; `weight` tenths stay of the nine. */
function scaledMei({ profile, hrr, f, l, hc, reached }: Parts, without: { hrr?: 0; f?: 0 }, weight: number): number {
  const tenths = (tenthsOfMei({ hrr, f, l, hc, ...without }) * 9) / weight;
  const top = profile === "seed" ? 10 : 9;
  return Math.max(0, Math.min(1, tenths / top)) * reached;
}

/** Score without CE: 0.7 of its weight stays. Scaled by the highest values with and without. */
function withoutCe({ profile, mei, brs }: Parts): number {
  const left = hallumazeScore({ mei, ce: 1, brs });
  return profile === "seed" ? (left * 0.95) / 0.65 : left / 0.7;
}

function withoutBrs({ profile, mei, ce }: Parts): number {
  const left = hallumazeScore({ mei, ce, brs: 0 });
  return profile === "seed" ? (left * 0.95) / 0.75 : left / 0.8;
}

interface MazeAverage {
  readonly add: (maze: string, value: number) => void;
  /** The mean of the mazes' means; null without a value. */
  readonly mean: () => number | null;
}

function mazeAverage(): MazeAverage {
  const mazes = new Map<string, { sum: number; count: number }>();
  return {
    add: (maze, value) => {
      const own = mazes.get(maze);
      if (own === undefined) mazes.set(maze, { sum: value, count: 1 });
      else {
        own.sum += value;
        own.count += 1;
      }
    },
    mean: () => {
      let total = 0;
      for (const { sum, count } of mazes.values()) total += sum / count;
      return mazes.size === 0 ? null : total / mazes.size;
    },
  };
}

function conditionRows(table: TrialTable, draws: Draws) {
  return table.models().flatMap((model) => {
    const trials = table.ofModel(model);
    const mirage = {
      a: trials.filter(({ condition, traps }) => !condition.mirage && traps > 0),
      b: trials.filter(({ condition, traps }) => condition.mirage && traps > 0),
    };
    const hint = {
      a: trials.filter(({ condition }) => condition.group === "B"),
      b: trials.filter(({ condition }) => condition.group === "A"),
    };
    const rows = [
      ...(["brs", "score", "scoreRobust"] as const).map((metric) => ({
        condition: "no mirage",
        metric,
        effect: contrast(mirage, metric, draws, { name: `${model}/mirage`, pairKey: keyWithout("mirage") }),
      })),
      ...(["mei", "meiRobust"] as const).map((metric) => ({
        condition: "group B vs A",
        metric,
        effect: contrast(hint, metric, draws, { name: `${model}/hint`, pairKey: keyWithout("group") }),
      })),
    ];
    return rows.filter(({ effect }) => effect.mazes > 0).map((row) => ({ model, ...row }));
  });
}

function keyWithout(factor: "mirage" | "group"): PairKey {
  return (condition) => {
    const { key: _, size: __, [factor]: ___, ...rest } = condition;
    return Object.values(rest).join(" ");
  };
}
