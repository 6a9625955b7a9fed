import { createRandom } from "@hallumaze/foundation";
import { Bench } from "tinybench";

import { generateMaze } from "../src/index.ts";

const sizes = [5, 7, 11, 101] as const;

/**
 * Measures how many mazes a second are generated, solved and trapped, and as `ratio` how many times slower that is
 * than carving alone by a bare depth-first search over the same random numbers, in the same run.
 */
export async function bench(): Promise<
  readonly { name: string; value: number; unit: string; ratio?: number; against?: string }[]
> {
  const runs = new Bench({ time: 400, warmupTime: 100 });
  for (const size of sizes) {
    let [seed, bareSeed] = [0, 0];
    runs.add(`maze ${size}`, () => void generateMaze({ size, seed: seed++ }));
    runs.add(`bare ${size}`, () => void carveBare(size, bareSeed++));
  }
  await runs.run();
  return sizes.map((size) => {
    const value = perSecond(runs, `maze ${size}`);
    return {
      name: `generate a ${size}×${size} maze`,
      value: Math.round(value),
      unit: "mazes/s",
      ratio: perSecond(runs, `bare ${size}`) / value,
      against: "bare depth-first carving, unsolved and without traps (times slower)",
    };
  });
}

function perSecond(runs: Bench, name: string): number {
  const result = runs.getTask(name)?.result;
  if (result === undefined || !("throughput" in result)) throw new Error(`The benchmark "${name}" gave no result.`);
  // From the median duration: one pause of a shared machine would spoil the mean.
  return 1000 / result.latency.p50;
}

/** The yardstick: the published algorithm and nothing else, on a padded grid of bytes. */
function carveBare(size: number, seed: number): Uint8Array {
  const random = createRandom(seed);
  const width = size + 2;
  const shifts = [-width, width, 1, -1];
  const opened = [1, 4, 2, 8];
  const entered = [4, 1, 8, 2];
  const openings = new Uint8Array(width * width);
  const closed = new Uint8Array(width * width).fill(1);
  for (let row = 1; row <= size; row++) closed.fill(0, row * width + 1, row * width + 1 + size);
  const stack = [width + 1];
  closed[width + 1] = 1;
  while (stack.length > 0) {
    const current = stack[stack.length - 1] ?? 0;
    const fresh: number[] = [];
    for (let way = 0; way < 4; way++) {
      if (closed[current + (shifts[way] ?? 0)] === 0) fresh.push(way);
    }
    if (fresh.length === 0) {
      stack.pop();
      continue;
    }
    const way = fresh[random.below(fresh.length)] ?? 0;
    const next = current + (shifts[way] ?? 0);
    openings[current] = (openings[current] ?? 0) | (opened[way] ?? 0);
    openings[next] = (openings[next] ?? 0) | (entered[way] ?? 0);
    closed[next] = 1;
    stack.push(next);
  }
  return openings;
}
