import type { PeopleMaze, PeopleTrialCreated } from "@hallumaze/contract";
import { encodeMaze, exitCell, generateMaze, hintSentence } from "@hallumaze/maze";
import { type Language, promptStyle, renderReply } from "@hallumaze/protocol";

/** What decides a person's maze. */
export interface PeopleMazeWish {
  readonly size: number;
  readonly seed: number;
  readonly mirage: boolean;
  readonly language: Language;
}

/** The maze that a model with these would get, as far as a person may see it while walking: no solution. */
export function viewPeopleMaze({ size, seed, mirage, language }: PeopleMazeWish): PeopleMaze {
  const maze = generateMaze({ size, seed });
  return {
    size,
    seed,
    mirage,
    language,
    rows: Array.from({ length: size }, (_, row) => [...maze.openings.subarray(row * size, (row + 1) * size)]),
    start: [0, 0],
    exit: exitCell(size),
    signs: mirage
      ? maze.traps.map(({ row, col, dir }, at) => ({ row, col, dir, hint: hintSentence(seed, at, language) }))
      : [],
    text: encodeMaze(maze, { mirage, language }),
  };
}

/** A walk as a person made it on the page. */
export interface PeopleWalk extends PeopleMazeWish {
  readonly participant: string;
  readonly confidence: boolean;
  readonly steps: readonly {
    readonly from: readonly [number, number];
    readonly dir: "N" | "E" | "S" | "W";
    readonly confidence: number | null;
  }[];
  /** Null: the person gave up. */
  readonly finalPath: readonly (readonly [number, number])[] | null;
  readonly latencyMs: number;
}

/**
 * Writes a walk as the record that `import` reads: its log is what a model would have written, so that both are read by the
 * same rules. Giving up is said in words, as the prompt has it.
 */
export function peopleRecord(walk: PeopleWalk): Readonly<Record<string, unknown>> {
  const { participant, size, seed, mirage, language, confidence, latencyMs } = walk;
  const lines = walk.steps.map((step) => ({ kind: "step", ...step, to: null, reason: "" }) as const);
  const log = { lines, backtracks: null, hallucinations: null, finalPath: walk.finalPath ?? [] };
  return {
    participant,
    model: "human",
    size,
    seed,
    mirage,
    language,
    confidence,
    latency_s: latencyMs / 1000,
    log: renderReply(log, promptStyle(language)),
  };
}

/** The id of a person's trial: the import and its row. */
export function peopleTrialId(importId: string, position: number): PeopleTrialCreated["trialId"] {
  return `human-${importId}-${position}`;
}

/** Reads the id of a person's trial; null for any other. */
export function readPeopleTrialId(trialId: string): { readonly importId: string; readonly position: number } | null {
  const [, importId, position] =
    /^human-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-([1-9]\d{0,8})$/.exec(trialId) ?? [];
  return importId === undefined ? null : { importId, position: Number(position) };
}
