import { createRandom } from "@hallumaze/foundation";

/** A closed interval. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

export function wilson(successes: number, n: number): Interval | null {
  if (n === 0) return null;
  const z = 1.959963984540054;
  const p = successes / n;
  const centre = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

export function bootstrapMean(values: readonly number[], replicates: number, seed: string): Interval | null {
  if (values.length === 0) return null;
  const random = createRandom(seed);
  const means = new Float64Array(replicates);
  for (let replicate = 0; replicate < replicates; replicate += 1) {
    let sum = 0;
    for (let draw = 0; draw < values.length; draw += 1) sum += values[random.below(values.length)] ?? 0;
    means[replicate] = sum / values.length;
  }
  means.sort();
  return { low: means[Math.floor(0.025 * replicates)] ?? 0, high: means[Math.ceil(0.975 * replicates) - 1] ?? 0 };
}
