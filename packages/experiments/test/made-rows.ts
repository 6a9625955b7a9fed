import type { ProfileScores } from "@hallumaze/metrics";
import type { TrialSource } from "@hallumaze/trials";

/** A trial with the scores that a test needs; everything else is a solved 5×5 maze. */
export function madeRow(
  change: Partial<Omit<TrialSource, "plan" | "scores">> & {
    readonly plan?: Partial<TrialSource["plan"]>;
    /** Of the seed profile, and of the robust one where it shares them. */
    readonly scores?: Partial<ProfileScores>;
    readonly meiRobust?: number;
  },
): TrialSource {
  const { plan, scores, meiRobust, ...row } = change;
  const seed: ProfileScores = { ...solved, ...scores };
  return {
    alias: "model",
    plan: {
      generator: "dfs",
      placement: "path-order",
      seed: 1,
      size: 5,
      group: "A",
      mirage: true,
      language: "ko",
      confidence: true,
      repeat: 0,
      ...plan,
    },
    state: "done",
    outcome: "ok",
    scores: { seed, robust: { ...seed, mei: meiRobust ?? seed.mei } },
    readingJson: null,
    ...row,
  };
}

/** A trial that infrastructure lost. */
export function lostRow(change: Parameters<typeof madeRow>[0]): TrialSource {
  return { ...madeRow(change), state: "failed", outcome: "timeout", scores: {} };
}

const solved: ProfileScores = { sr: 1, hc: 0, fhr: -1, bt: 0, lt: 0, hrr: 1, mei: 0.9, ce: 0.1, brs: 1, score: 0.92 };
