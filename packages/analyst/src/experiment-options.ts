import { experimentNames } from "@hallumaze/analysis";
import { checkKnown, integerBetween } from "@hallumaze/console";
import type { ExperimentOptions } from "@hallumaze/trials";
import { type Command, InvalidArgumentError, Option } from "commander";

/** Words that decide how every experiment is computed. */
export interface StatisticsWords {
  readonly resamples: number;
  readonly level: number;
  readonly interval: "bca" | "percentile" | "studentised";
  readonly drawSeed: string;
}

/** Adds the options by which intervals and tests are drawn. */
export function addStatisticsOptions(command: Command): Command {
  return command
    .option("--resamples <n>", "bootstrap resamples and sign patterns", integerBetween(100, 1_000_000), 10_000)
    .option("--level <share>", "confidence of intervals", shareBelowOne, 0.95)
    .addOption(
      new Option("--interval <method>", "how intervals are read off the resamples")
        .choices(["bca", "percentile", "studentised"])
        .default("bca"),
    )
    .option("--draw-seed <text>", "text that every random draw is seeded with", "hallumaze");
}

/** The same words for the experiments. */
export function statisticsOptions({
  resamples,
  level,
  interval,
  drawSeed,
}: StatisticsWords): Required<ExperimentOptions> {
  return { seed: drawSeed, resamples, permutations: resamples, level, interval };
}

/** Names of experiments as they were given; null for all. An unknown one is a usage error with the nearest. */
export function checkExperiments(names: readonly string[] | undefined): readonly string[] | null {
  for (const name of names ?? []) checkKnown("experiment", name, experimentNames);
  return names ?? null;
}

function shareBelowOne(word: string): number {
  const value = Number(word);
  if (!(value >= 0.5 && value < 1))
    throw new InvalidArgumentError("expected a share from 0.5 to below 1, such as 0.95.");
  return value;
}
