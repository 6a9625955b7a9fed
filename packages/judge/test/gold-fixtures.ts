import { createRandom } from "@hallumaze/foundation";

import { type CalibrationInput, type CalibrationReport, calibrate, type RepeatVerdict } from "../src/calibration.ts";
import { type GoldSet, parseGoldSet } from "../src/gold-set.ts";
import type { Level } from "../src/judged.ts";

/** What a judge said of one item: a level, or null for unscored. */
export type Said = Level | null;

export const judge = {
  judgeModel: "judge-1",
  promptVersion: "llm-judge-v1",
  promptHash: "ab".repeat(32),
  rubricVersion: "maze-1",
};

/** The seed's own gold set: three items of EOS, 2026-06-28, all of them L3. SOURCE: the seed, section 6. */
export const seedGoldSet = ["NC-001", "CS-001", "MC-001"]
  .map((name) =>
    JSON.stringify({
      scenario: { prompt: `Scenario ${name}`, expectedL3: "The principle is rebuilt in a new context." },
      response: `Response to ${name}`,
      labels: [{ rater: "EOS", level: "L3" }],
    }),
  )
  .join("\n");

/** `count` times the same. */
export function times<Value>(count: number, value: Value): Value[] {
  return Array.from({ length: count }, () => value);
}

/** A gold set of these levels, all held out for test; all responses are of one length. */
export function goldSetOf(
  levels: readonly Level[],
  more: Readonly<Record<string, unknown>> = { split: "test" },
): GoldSet {
  const lines = levels.map((level, index) =>
    JSON.stringify({
      scenario: { prompt: "Leave the maze.", expectedL3: "Retreats for a reason." },
      response: `Response ${String(index).padStart(5, "0")}`,
      labels: [{ rater: "Kim", level }],
      ...more,
    }),
  );
  return parseGoldSet(lines.join("\n"));
}

/** A judgement that says this. */
export function verdict(level: Said, more: Partial<RepeatVerdict> = {}): RepeatVerdict {
  const unscoredReason = level === null ? "wrongNonce" : null;
  return { level, confidence: 0.8, unscoredReason, reasoning: "It goes back to the junction.", ...more };
}

/** Calibrates a judge that said these things, one or several an item; the heuristic says L1 of all. */
export function calibrateOn(
  goldSet: GoldSet,
  said: readonly (Said | readonly Said[])[],
  more: Partial<CalibrationInput> = {},
): CalibrationReport {
  const verdicts = new Map(
    goldSet.items.map(({ id }, index) => {
      const given = said[index] ?? null;
      return [id, (typeof given === "object" && given !== null ? given : [given]).map((level) => verdict(level))];
    }),
  );
  const heuristic = new Map<string, Said>(goldSet.items.map(({ id }) => [id, 1]));
  return calibrate({
    judge,
    goldSet,
    split: "test",
    verdicts,
    heuristic,
    lookCount: 1,
    random: createRandom(1001),
    resamples: 200,
    ...more,
  });
}
