/** Paths of the service's answers, each written in one way only: a kept answer is found by its path. */

/** What a leaderboard counts; an empty part selects all. */
export interface BoardFilter {
  readonly profile: string;
  readonly size: string;
  readonly group: string;
  readonly mirage: string;
  readonly language: string;
}

/** A leaderboard of everything, by the profile that is meant for ranking. */
export const wholeBoard: BoardFilter = { profile: "robust", size: "", group: "", mirage: "", language: "" };

/** What may colour the grid: the state, or a number of a profile. */
export const gridMetrics: readonly string[] = [
  "state",
  ...["robust", "seed", "published"].flatMap((profile) =>
    ["mei", "sr", "score", "ce", "brs", "hrr", "hc", "bt", "lt", "fhr"].map((metric) => `${profile}.${metric}`),
  ),
];

/** All sweeps. */
export const sweepsPath = "/api/sweeps";

/** One sweep. */
export function sweepPath(name: string): string {
  return `${sweepsPath}/${encodeURIComponent(name)}`;
}

/** A sweep's grid by a metric. */
export function gridPath(name: string, metric: string): string {
  return `${sweepPath(name)}/grid${query({ metric })}`;
}

/** A sweep's leaderboard. */
export function leaderboardPath(name: string, filter: BoardFilter): string {
  return `${sweepPath(name)}/leaderboard${query({ ...filter })}`;
}

/** Two models of a sweep compared. */
export function comparePath(
  name: string,
  models: { a: string; b: string; metric: string },
  filter: BoardFilter,
): string {
  return `${sweepPath(name)}/compare${query({ ...models, ...filter })}`;
}

/** The experiments of a sweep. */
export function experimentsPath(name: string): string {
  return `${sweepPath(name)}/experiments`;
}

/** One experiment. */
export function experimentPath(name: string, experiment: string): string {
  return `${experimentsPath(name)}/${experiment}`;
}

/** A figure of an experiment, without the ending that says as what it is wanted. */
export function figurePath(name: string, experiment: string, figure: string): string {
  return `${experimentPath(name, experiment)}/figures/${figure}`;
}

/** A table of an experiment, without its ending. */
export function tablePath(name: string, experiment: string, table: string): string {
  return `${experimentPath(name, experiment)}/tables/${table}`;
}

/** A trial. */
export function trialPath(id: string): string {
  return `/api/trials/${encodeURIComponent(id)}`;
}

/** The trials on a trial's maze. */
export function pairsPath(name: string, trial: string): string {
  return `${sweepPath(name)}/pairs${query({ trial })}`;
}

/** A query in the order of its parts, without the empty ones. */
function query(parts: Readonly<Record<string, string>>): string {
  const given = Object.entries(parts).filter(([, value]) => value !== "");
  return given.length === 0 ? "" : `?${given.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&")}`;
}
