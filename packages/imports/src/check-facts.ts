import { deadEnds, generateMaze } from "@hallumaze/maze";

import type { ImportedTrial } from "./imported-trial.ts";

/** Largest difference that rounding to four decimals of three parts can make. */
const tolerance = 0.0002;
/** Mazes that are made anew for the comparison: enough to see that they are others'. */
const mazesMax = 500;

/**
 * Compares imported numbers with what follows from them, and their mazes with ours. Gives sentences for a person; an
 * import is never refused for one of them, for the numbers are their authors'.
 */
export function checkFacts(rows: readonly ImportedTrial[]): readonly string[] {
  const warnings: string[] = [];
  const say = (positions: readonly number[], what: string): void => {
    if (positions.length > 0) warnings.push(`${some(positions)}: ${what}`);
  };
  const told = rows.filter(({ n, logText }) => n === 1 && logText === null);
  say(
    told.filter(({ scores }) => scores.published?.score != null && !scoreFollows(scores.published)).map(placeOf),
    "hallumaze_score is not 0.5 mei + 0.3 (1 - ce) + 0.2 brs",
  );
  say(
    told.filter(({ scores }) => scores.published?.hrr != null && !hrrFollows(scores.published)).map(placeOf),
    "hrr is not min(1, backtracks / hallucinations)",
  );
  say(
    told.filter(({ outcome }) => outcome === "error").map(placeOf),
    "an error stands there: the rows are kept without scores",
  );
  say(differingMazes(told), "solution_length or dead_ends are not those of our maze of this size and seed");
  say(repeated(rows), "the same model, size, seed and condition as an earlier row: taken as repeats");
  return warnings;
}

type Scores = NonNullable<ImportedTrial["scores"]["published"]>;

function scoreFollows({ mei, ce, brs, score }: Scores): boolean {
  if (mei === null || score === null) return true;
  return Math.abs(0.5 * mei + 0.3 * (1 - (ce ?? 0.5)) + 0.2 * (brs ?? 0) - score) <= tolerance;
}

function hrrFollows({ sr, hc, bt, hrr }: Scores): boolean {
  if (sr === null || hc === null || bt === null || hrr === null) return true;
  return Math.abs((hc > 0 ? Math.min(1, bt / hc) : sr) - hrr) <= tolerance;
}

function differingMazes(rows: readonly ImportedTrial[]): readonly number[] {
  const known = new Map<string, { readonly solution: number; readonly deadEnds: number }>();
  return rows
    .filter(({ size, seed, recordJson }) => {
      if (seed === null || !recordJson.includes('"solution_length"')) return false;
      const record = JSON.parse(recordJson) as Readonly<Record<string, unknown>>;
      const facts = (record["maze"] ?? record) as Readonly<Record<string, unknown>>;
      const key = `${size} ${seed}`;
      if (!known.has(key)) {
        if (known.size >= mazesMax) return false;
        const maze = generateMaze({ size, seed });
        known.set(key, { solution: maze.solution.length, deadEnds: deadEnds(maze).length });
      }
      const own = known.get(key);
      return differs(facts["solution_length"], own?.solution) || differs(facts["dead_ends"], own?.deadEnds);
    })
    .map(placeOf);
}

function differs(told: unknown, own: number | undefined): boolean {
  return told !== undefined && told !== null && told !== "" && own !== undefined && Number(told) !== own;
}

function repeated(rows: readonly ImportedTrial[]): readonly number[] {
  const seen = new Set<string>();
  return rows
    .filter((row) => {
      const { provider, model, size, seed, group, mirage, language, confidence, participant } = row;
      if (seed === null) return false;
      const key = JSON.stringify([provider, model, size, seed, group, mirage, language, confidence, participant]);
      if (seen.has(key)) return true;
      seen.add(key);
      return false;
    })
    .map(placeOf);
}

function placeOf({ position }: ImportedTrial): number {
  return position;
}

function some(positions: readonly number[]): string {
  const [first] = positions;
  return positions.length === 1 ? `row ${first}` : `${positions.length} rows, the first is ${first}`;
}
