import type { Warning } from "./result.ts";
import { count } from "./wording.ts";

/** Below this many mazes a 95 % interval covers the truth visibly less often than it says: packages/statistics/README.md. */
const mazesForIntervals = 60;

/** Says that a model has too few mazes for its intervals to be taken at their word, or no answer at all. */
export function fewMazes(model: string, mazes: number): readonly Warning[] {
  return mazes === 0 ? [{ code: "no-data", message: `${model} has no answer.` }] : fewMazesOf(model, mazes);
}

/** The same for one number of mazes; `what` begins the sentence. */
export function fewMazesOf(what: string, mazes: number): readonly Warning[] {
  if (mazes >= mazesForIntervals) return [];
  return [
    {
      code: "few-mazes",
      message: `${what}: ${count(mazes, "maze")}. Below ${mazesForIntervals} a 95 % interval is too narrow more often than it says: over 30 mazes it held the truth in 92 to 95 of 100 simulations, least where nearly all values are equal.`,
    },
  ];
}
