import { type Cell, directionBetween, generateMaze } from "@hallumaze/maze";

import { readReply, type ReplyLine, renderReply } from "../src/index.ts";
import { adversarialTexts } from "./adversarial.ts";

/** One measured figure. `ratio` compares it with the same text at half the length: about 2 where time is linear. */
export interface BenchResult {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly ratio?: number;
  readonly against?: string;
}

const maze = generateMaze({ size: 7, seed: 42 });
const options = { size: maze.size, finishReason: "stop", mode: "lenient", maze } as const;

/** One text a stage of the reader; the tests read all of them, shorter. */
const measured = [
  "steps",
  "heads",
  "stepThenBrackets",
  "finalPathLines",
  "tags",
  "blankLines",
  "jsonOnOneLine",
  "backslashes",
];

/** Measures how many typical logs are read a second, and how the time grows on texts built to be slow. */
export async function bench(): Promise<readonly BenchResult[]> {
  const results: BenchResult[] = [{ name: "read a 7×7 log", value: readingsPerSecond(), unit: "readings/s" }];
  for (const name of measured) {
    const make = adversarialTexts[name];
    if (make === undefined) throw new Error(`there is no adversarial text ${name}`);
    let half: number | null = null;
    for (const megabytes of [1, 2, 4]) {
      const seconds = secondsToRead(make(megabytes * 1_000_000));
      const result = { name: `${name}, ${megabytes} MB`, value: seconds, unit: "s" };
      results.push(half === null ? result : { ...result, ratio: seconds / half, against: `${megabytes / 2} MB` });
      half = seconds;
    }
    // Lets timers and signals of whoever runs the benches have their turn.
    await Promise.resolve();
  }
  return results;
}

function readingsPerSecond(): number {
  const text = solutionLog();
  for (let warm = 0; warm < 200; warm += 1) readReply(text, options);
  const rounds = 1000;
  const start = performance.now();
  for (let round = 0; round < rounds; round += 1) readReply(text, options);
  return (rounds * 1000) / (performance.now() - start);
}

/** Processor time, the best of three runs: the first one also pays for compiling, and others may share the machine. */
function secondsToRead(text: string): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run += 1) {
    const start = process.cpuUsage();
    readReply(text, options);
    best = Math.min(best, process.cpuUsage(start).user / 1_000_000);
  }
  return best;
}

function solutionLog(): string {
  const lines = maze.solution.slice(1).map((to, index): ReplyLine => {
    const from: Cell = maze.solution[index] ?? to;
    const dir = directionBetween(from, to) ?? "S";
    return { kind: "step", from, dir, to: null, confidence: 0.9, reason: "남쪽만 열려 있어 이동합니다" };
  });
  return renderReply({ lines, backtracks: 0, hallucinations: 0, finalPath: maze.solution });
}
