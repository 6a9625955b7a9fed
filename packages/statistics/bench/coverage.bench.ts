import { coverageOf, type populations } from "./coverage-of-intervals.ts";

/**
 * How often a 95 % interval over 30, 60 and 120 mazes of three repeats holds the true mean, in 1,000 seeded samples each:
 * what a report may claim. By population and by the way the interval is read off its resamples.
 */
export async function bench(): Promise<readonly { name: string; value: number; unit: string }[]> {
  const figures: { name: string; value: number; unit: string }[] = [];
  for (const population of ["smooth", "twoPeaks", "nearCeiling"] satisfies (keyof typeof populations)[]) {
    for (const mazes of [30, 60, 120]) {
      for (const method of ["percentile", "bca", "studentised"] as const) {
        const coverage = coverageOf(population, { mazes, method, repetitions: 1000, resamples: 1000 });
        figures.push({
          name: `coverage, ${population}, ${mazes} mazes, ${method}`,
          value: Math.round(1000 * coverage) / 10,
          unit: "%",
        });
      }
    }
  }
  return figures;
}
