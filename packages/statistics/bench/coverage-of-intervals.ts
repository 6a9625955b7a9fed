import { createRandom, type Random } from "@hallumaze/foundation";

import { bootstrapMean, type GroupedValue, type IntervalMethod } from "../src/index.ts";

/** A population of clustered values with a known mean. */
interface Population {
  readonly mean: number;
  /** The values of one maze's repeats. */
  readonly drawMaze: (random: Random) => readonly number[];
}

/** What a maze is worth to a model that escapes most of them, some of them, or few; as MEI of the published trials lies. */
const shapes = {
  /** Two peaks, at the top and at 0.23, as MiniMax's 60 published trials have. */
  twoPeaks: [
    [0.9, 0.5],
    [0.7, 0.08],
    [0.62, 0.04],
    [0.23, 0.28],
    [0.03, 0.1],
  ],
  /** Nearly always at the top: the hardest case for an interval. */
  nearCeiling: [
    [0.9, 0.9],
    [0.62, 0.04],
    [0.23, 0.06],
  ],
} as const;

/** Three repeats a maze: each repeat has with chance 0.6 the maze's own value, else a fresh one (ICC 0.36). */
function peaked(shape: readonly (readonly [number, number])[]): Population {
  const draw = (random: Random): number => {
    let left = random.fraction();
    for (const [value, chance] of shape) {
      left -= chance;
      if (left < 0) return value;
    }
    return shape.at(-1)?.[0] ?? 0;
  };
  return {
    mean: shape.reduce((sum, [value, chance]) => sum + value * chance, 0),
    drawMaze: (random) => {
      const own = draw(random);
      return [0, 1, 2].map(() => (random.fraction() < 0.6 ? own : draw(random)));
    },
  };
}

export const populations: Readonly<Record<"smooth" | keyof typeof shapes, Population>> = {
  /** A difficulty of the maze in 0 … 1, skewed to easy ones, and a smaller one of each repeat. */
  smooth: {
    mean: 0.8 * (1 - 1 / 3) + 0.2 * 0.5,
    drawMaze: (random) => {
      const own = 0.8 * (1 - random.fraction() ** 2);
      return [0, 1, 2].map(() => own + 0.2 * random.fraction());
    },
  },
  twoPeaks: peaked(shapes.twoPeaks),
  nearCeiling: peaked(shapes.nearCeiling),
};

/** The share of samples whose interval holds the population's mean. Seeded: the same question has the same answer. */
export function coverageOf(
  population: keyof typeof populations,
  options: {
    readonly mazes: number;
    readonly method: IntervalMethod;
    readonly repetitions: number;
    readonly resamples: number;
  },
): number {
  const { mazes, method, repetitions, resamples } = options;
  const { mean, drawMaze } = populations[population];
  // The samples are the same for every method: only the interval differs.
  const random = createRandom(`coverage of ${population} with ${mazes} mazes`);
  let covered = 0;
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const values: GroupedValue[] = Array.from({ length: mazes }, (_, maze) =>
      drawMaze(random).map((value) => ({ group: String(maze), value })),
    ).flat();
    const { lo, hi } = bootstrapMean(values, { random: createRandom(repetition), resamples, method });
    if (lo !== null && hi !== null && lo <= mean && mean <= hi) covered += 1;
  }
  return covered / repetitions;
}
