import type { ComparisonView, LeaderboardFigure, LeaderboardView } from "@hallumaze/contract";
import type { ProfileName } from "@hallumaze/metrics";
import {
  boundsOf,
  contrast,
  countTrials,
  type Draws,
  type ExperimentOptions,
  mazeMean,
  type Metric,
  openDraws,
  successRate,
  type Trial,
  type TrialTable,
} from "@hallumaze/trials";

/** What to count only; an absent part selects all. */
export interface ConditionFilter {
  readonly size?: number | undefined;
  readonly group?: string | undefined;
  readonly mirage?: boolean | undefined;
  readonly language?: string | undefined;
}

type Named = "sr" | "mei" | "hrr" | "ce" | "brs" | "score" | "hc" | "bt";

/** The table's names of a profile's metrics; null: the profile has none. HC and BT are the verified counts in each. */
const metricsOf: Readonly<Record<ProfileName, Readonly<Record<Named, Metric | null>>>> = {
  seed: { sr: "sr", mei: "mei", hrr: "hrr", ce: "ce", brs: "brs", score: "score", hc: "hc", bt: "bt" },
  robust: {
    sr: "sr",
    mei: "meiRobust",
    hrr: "hrrRobust",
    ce: "ce",
    brs: "brs",
    score: "scoreRobust",
    hc: "hc",
    bt: "bt",
  },
  published: {
    sr: "srPublished",
    mei: "meiPublished",
    hrr: "hrrPublished",
    ce: null,
    brs: "brsPublished",
    score: "scorePublished",
    hc: "hc",
    bt: "bt",
  },
};

/** Resamples of the intervals that the report does not have: enough for two printed digits. */
const fewResamples = 2000;

/**
 * Ranks models by MEI of a profile, with the estimators of the report's `models`: means over mazes with maze-clustered
 * bootstrap intervals, SR with Wilson's. MEI has the report's own interval; the others are drawn with fewer resamples.
 * Between two models `pause` is awaited, since a model takes some 30 ms.
 */
export async function viewLeaderboard(
  table: TrialTable,
  asked: { readonly sweep: string; readonly profile: ProfileName; readonly filter: ConditionFilter },
  pause: () => Promise<void>,
  options: ExperimentOptions = {},
): Promise<LeaderboardView> {
  const draws = openDraws("models", options);
  const few = openDraws("models", { ...options, resamples: Math.min(fewResamples, draws.options.resamples) });
  const rows: Omit<LeaderboardView["rows"][number], "rank">[] = [];
  const choices = createChoices();
  for (const model of table.models()) {
    const trials = table.ofModel(model);
    for (const { condition } of trials) choices.add(condition);
    const kept = trials.filter((trial) => isKept(trial, asked.filter));
    if (kept.length > 0) rows.push(toRow(model, kept, asked.profile, { draws, few }, streamName(model, asked.filter)));
    await pause();
  }
  const strength = (row: (typeof rows)[number]): number => row.mei.value ?? -1;
  const sorted = rows.toSorted((a, b) => strength(b) - strength(a) || (a.model < b.model ? -1 : 1));
  return {
    sweep: asked.sweep,
    profile: asked.profile,
    level: draws.options.level,
    rows: sorted.map((row) => ({
      rank: row.mei.value === null ? null : sorted.filter((other) => strength(other) > strength(row)).length + 1,
      ...row,
    })),
    choices: choices.finish(),
  };
}

/** The report's name of the same draws, so that the page's interval is the report's. */
function streamName(model: string, { size, group, mirage, language }: ConditionFilter): string {
  const others = [group, mirage, language].filter((part) => part !== undefined);
  return [model, others.length === 0 ? "all" : others.join(" "), size ?? "all"].join("/");
}

function isKept({ condition }: Trial, { size, group, mirage, language }: ConditionFilter): boolean {
  return (
    (size === undefined || condition.size === size) &&
    (group === undefined || condition.group === group) &&
    (mirage === undefined || condition.mirage === mirage) &&
    (language === undefined || condition.language === language)
  );
}

function toRow(
  model: string,
  trials: readonly Trial[],
  profile: ProfileName,
  { draws, few }: { readonly draws: Draws; readonly few: Draws },
  stream: string,
): Omit<LeaderboardView["rows"][number], "rank"> {
  const { planned, answered, coverage, nonAnswers, cutOffs, mazes } = countTrials(trials);
  const names = metricsOf[profile];
  const figure = (name: Named): LeaderboardFigure =>
    figureOf(trials, names[name], answered, name === "mei" ? draws : few, stream);
  const srMetric = profile === "published" ? "srPublished" : "sr";
  const rate = successRate(trials, draws.options.level, srMetric);
  return {
    model,
    planned,
    answered,
    coverage: coverage ?? 0,
    nonAnswers,
    cutOffs,
    mazes,
    levels: levelsOf(trials),
    sr: { ...rate, n: answered, missing: 0, method: rate.lo === null ? null : "wilson" },
    mei: figure("mei"),
    hrr: figure("hrr"),
    ce: figure("ce"),
    brs: figure("brs"),
    score: figure("score"),
    hc: figure("hc"),
    bt: figure("bt"),
    bounds: { sr: pairOf(boundsOf(trials, srMetric)) ?? [0, 1], mei: pairOf(boundsOf(trials, names.mei ?? "mei")) },
  };
}

function figureOf(
  trials: readonly Trial[],
  metric: Metric | null,
  answered: number,
  draws: Draws,
  stream: string,
): LeaderboardFigure {
  if (metric === null) return { value: null, lo: null, hi: null, n: 0, missing: answered, method: null };
  const { value, lo, hi, trials: n } = mazeMean(trials, metric, draws, stream);
  return { value, lo, hi, n, missing: Math.max(0, answered - n), method: lo === null ? null : "maze-bootstrap" };
}

function levelsOf(trials: readonly Trial[]): LeaderboardView["rows"][number]["levels"] {
  const levels = trials.flatMap((trial) => trial.value("level") ?? []);
  if (levels.length === 0) return null;
  const count = (level: number): number => levels.filter((one) => one === level).length;
  const answered = trials.filter(({ kind }) => kind !== "missing").length;
  return { l1: count(1), l2: count(2), l3: count(3), unscored: answered - levels.length };
}

function createChoices() {
  const sizes = new Set<number>();
  const groups = new Set<string>();
  const mirages = new Set<boolean>();
  const languages = new Set<string>();
  return {
    add: ({ size, group, mirage, language }: Trial["condition"]): void => {
      sizes.add(size);
      groups.add(group);
      mirages.add(mirage);
      languages.add(language);
    },
    finish: (): LeaderboardView["choices"] => ({
      sizes: [...sizes].sort((a, b) => a - b),
      groups: [...groups].sort(),
      mirages: [...mirages].sort((a, b) => Number(a) - Number(b)),
      languages: [...languages].sort(),
    }),
  };
}

/** What two models are compared by. */
export interface ComparisonWish {
  readonly sweep: string;
  readonly a: string;
  readonly b: string;
  readonly metric: ComparisonView["metric"];
  readonly profile: ProfileName;
  readonly filter: ConditionFilter;
}

/** Compares two models of a table on the mazes that both have; null where the profile has no such metric. */
export function viewComparison(
  table: TrialTable,
  wish: ComparisonWish,
  options: ExperimentOptions = {},
): ComparisonView | null {
  const { sweep, a, b, metric, profile, filter } = wish;
  const name = metricsOf[profile][metric];
  if (name === null) return null;
  const draws = openDraws("models", options);
  const keep = (trial: Trial): boolean => isKept(trial, filter);
  const effect = contrast({ a: table.ofModel(a, keep), b: table.ofModel(b, keep) }, name, draws, {
    name: `${a} - ${b}`,
  });
  const { value, lo, hi, mazes, unpaired, p, wilcoxonP, standardised, detectable } = effect;
  const better = metric === "ce" ? "low" : "high";
  return {
    sweep,
    a,
    b,
    metric,
    profile,
    better,
    difference: { value, lo, hi },
    level: draws.options.level,
    interval: `${draws.options.interval} bootstrap over mazes, ${draws.options.resamples} resamples`,
    mazes,
    unpaired,
    test: "sign-flip permutation test of a mean difference of 0, two-sided",
    p,
    wilcoxonP,
    standardised,
    detectable,
    bounds: pairOf(effect.bounds),
    differences: [...effect.differences],
    reading: readingOf(wish, effect, better, 1 - draws.options.level),
  };
}

function pairOf(bounds: readonly [number, number] | null): [number, number] | null {
  return bounds === null ? null : [bounds[0], bounds[1]];
}

function readingOf(
  { a, b, metric }: ComparisonWish,
  effect: ReturnType<typeof contrast>,
  better: "high" | "low",
  alpha: number,
): string {
  const { value, lo, hi, mazes, p, detectable } = effect;
  if (value === null) return `${a} and ${b} have no maze in common with a value of ${metric.toUpperCase()}.`;
  const on = `on ${mazes} common ${mazes === 1 ? "maze" : "mazes"}`;
  const isClear = lo !== null && hi !== null && (lo > 0 || hi < 0) && p !== null && p < alpha;
  if (!isClear) {
    const could =
      detectable === null || detectable === 0
        ? ""
        : ` A difference of ${detectable.toFixed(2)} would have been found four times in five.`;
    return `No difference is shown ${on}.${could}`;
  }
  const isBetter = value > 0 === (better === "high");
  return `${a} is ${isBetter ? "better" : "worse"} than ${b} by ${Math.abs(value).toFixed(2)} ${metric.toUpperCase()} ${on}.`;
}
