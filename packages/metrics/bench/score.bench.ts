import { performance } from "node:perf_hooks";

import { generateMaze, type Maze } from "@hallumaze/maze";
import type { Reading } from "@hallumaze/protocol";

import { scoreRobust, scoreSeed, simulateWalk } from "../src/index.ts";
import { anyLog, deepRewinds, honestSearch } from "./walkers.ts";
import { readingOfAttempts } from "./written-log.ts";

/** One measured number; `ratio` compares it with what `against` names. */
interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly ratio?: number;
  readonly against?: string;
}

/** Measures walking and scoring: typical logs a second, and the growth of time from 5,000 to 20,000 attempts. */
export function bench(): Promise<readonly Measurement[]> {
  const typical = [7, 11].map((size): Measurement => {
    const maze = generateMaze({ size, seed: 42 });
    const reading = honestSearch(maze, 42);
    const name = `walk and both scores, ${size}×${size}, ${reading.attempts.length} attempts`;
    return { name, value: Math.round(1000 / medianMs(maze, reading, 300)), unit: "walks/s" };
  });
  const large = generateMaze({ size: 101, seed: 42 });
  return Promise.resolve([
    ...typical,
    ...growthOf("any log", (length) => medianMs(large, readingOfAttempts(anyLog(large, 42, length)), 9)),
    ...growthOf("deep rewinds", (length) => medianMs(large, deepRewinds(large, length), 9)),
  ]);
}

function growthOf(name: string, measure: (length: number) => number): readonly Measurement[] {
  const lengths = [5000, 10_000, 20_000];
  const times = lengths.map(measure);
  return lengths.map((length, at): Measurement => {
    const value = times[at] ?? Number.NaN;
    const measured = { name: `walk and both scores, 101×101, ${name}, ${length} attempts`, value, unit: "ms" };
    return at === 0 ? measured : { ...measured, ratio: value / (times[0] ?? 1), against: `${lengths[0]} attempts` };
  });
}

function medianMs(maze: Maze, reading: Reading, rounds: number): number {
  const times = Array.from({ length: rounds }, () => {
    const started = performance.now();
    const walk = simulateWalk(maze, reading);
    scoreSeed(reading, walk, maze);
    scoreRobust(maze, reading, walk, { confidenceAsked: true });
    return performance.now() - started;
  });
  return times.toSorted((one, other) => one - other)[Math.floor(rounds / 2)] ?? Number.NaN;
}
