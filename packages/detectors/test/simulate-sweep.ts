import { createRandom, type Random } from "@hallumaze/foundation";
import type { CellPlan, Group } from "@hallumaze/sweep";

import type { ModelFacts } from "../src/aggregates.ts";

/** One trial of a simulated sweep, with its accepted reply where its state is `done`. */
export interface SimulatedTrial {
  readonly id: string;
  readonly alias: string;
  readonly size: number;
  readonly seed: number;
  readonly group: Group;
  readonly mirage: boolean;
  readonly language: "ko" | "en";
  readonly confidence: boolean;
  readonly repeat: number;
  readonly state: string;
  readonly outcome: string | null;
  /** Place in the order of time, 0 … 1. */
  readonly time: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly finishReason: string | null;
  readonly servedModel: string | null;
  readonly servedBy: string | null;
  readonly httpMs: number;
  readonly text: string;
  readonly statedConfidences: readonly number[];
}

/** The grid of a simulated sweep. */
export interface Grid {
  readonly models: readonly ModelFacts[];
  readonly sizes: readonly number[];
  readonly seeds: number;
  readonly groups?: readonly Group[];
  readonly languages?: readonly ("ko" | "en")[];
  readonly repeats?: number;
}

/** Every simulated trial's token limit. */
export const maxTokens = 2500;

/** The local estimate of the simulation's prompts: it grows with the grid, and by a hint for each trap. */
export function countSimulatedPrompt({
  size,
  mirage,
  language,
}: Pick<CellPlan, "size" | "mirage" | "language">): number {
  const hints = mirage ? Math.max(2, Math.floor(size / 2)) * 25 : 0;
  return (language === "ko" ? 320 : 260) + 13 * size * size + hints;
}

/**
 * Simulates a sound sweep: failures fall on models and conditions by chance alone, the provider counts with a tokeniser of its own,
 * replies are their own, calls get slower towards the night's end. `change` builds a fault in.
 */
export function simulateSweep(
  seed: string,
  grid: Grid,
  change: (trial: SimulatedTrial, random: Random) => SimulatedTrial = (trial) => trial,
): readonly SimulatedTrial[] {
  const random = createRandom(seed);
  const failureRate = 0.1 * random.fraction();
  return grid.models.flatMap((model) => {
    const habits = drawHabits(model, failureRate, random);
    return cellsOf(grid).map((cell, index) => {
      const trial = answer(`${model.alias} ${index}`, model, cell, habits, random);
      return change(trial, random);
    });
  });
}

type Cell = Pick<SimulatedTrial, "size" | "seed" | "group" | "mirage" | "language" | "repeat">;

function cellsOf({ sizes, seeds, groups = ["A"], languages = ["ko"], repeats = 1 }: Grid): readonly Cell[] {
  const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
  return sizes.flatMap((size) =>
    numbers(seeds).flatMap((seed) =>
      groups.flatMap((group) =>
        [true, false].flatMap((mirage) =>
          languages.flatMap((language) =>
            numbers(repeats).map((repeat) => ({ size, seed, group, mirage, language, repeat })),
          ),
        ),
      ),
    ),
  );
}

/** What a model and its server are like: within what sound sweeps show. */
interface Habits {
  readonly failureRate: number;
  readonly cutRate: number;
  readonly nonAnswerRate: number;
  readonly tokensPerEstimate: number;
  readonly tokensAdded: number;
  readonly hosts: number;
  readonly baseMs: number;
  readonly slowdown: number;
  /** How often a reply to the mirage is that without it: terse models on tiny mazes. */
  readonly sameRate: number;
}

function drawHabits({ isBaseline, temperature }: ModelFacts, failureRate: number, random: Random): Habits {
  const between = (low: number, high: number): number => low + (high - low) * random.fraction();
  return {
    failureRate: isBaseline ? 0 : failureRate,
    cutRate: between(0, 0.01),
    nonAnswerRate: isBaseline ? 0 : between(0, 0.05),
    tokensPerEstimate: isBaseline ? 1 : between(0.6, 1.8),
    tokensAdded: isBaseline ? 0 : between(0, 300),
    hosts: random.fraction() < 0.3 ? 3 : 1,
    baseMs: isBaseline ? 2 : between(800, 20_000),
    slowdown: between(1, 2),
    sameRate: isBaseline ? 1 : temperature === 0 ? between(0, 0.3) : between(0, 0.1),
  };
}

function answer(id: string, { alias }: ModelFacts, cell: Cell, habits: Habits, random: Random): SimulatedTrial {
  const time = random.fraction();
  const failed = random.fraction() < habits.failureRate;
  const cut = random.fraction() < habits.cutRate;
  const isNone = random.fraction() < habits.nonAnswerRate;
  const seesMirage = random.fraction() >= habits.sameRate;
  const host = Math.floor(random.fraction() * habits.hosts);
  // A hint's wording differs: some tokens more or less.
  const wording = cell.mirage ? Math.round(20 * (random.fraction() - 0.5)) : 0;
  const scatter = Math.exp(1.2 * (random.fraction() + random.fraction() - 1));
  return {
    id,
    alias,
    ...cell,
    confidence: true,
    state: failed ? "failed" : "done",
    outcome: failed ? "transient_server" : cut ? "truncated" : isNone ? "parse_failed" : "ok",
    time,
    inputTokens: Math.round(habits.tokensPerEstimate * (countSimulatedPrompt(cell) + wording) + habits.tokensAdded),
    outputTokens: cut ? maxTokens : Math.round(20 * cell.size * cell.size * scatter),
    reasoningTokens: 0,
    finishReason: cut ? "length" : "stop",
    servedModel: alias,
    servedBy: habits.hosts === 1 ? null : `fp_${host}`,
    httpMs: Math.round(habits.baseMs * scatter * habits.slowdown ** time),
    text: `${alias} ${cell.size} ${cell.seed} ${cell.group} ${cell.language} ${cell.repeat} ${cell.mirage && seesMirage}`,
    statedConfidences: [90, 80 + Math.floor(20 * random.fraction()), 70],
  };
}
