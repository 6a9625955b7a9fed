import type { Cell, Direction, Maze } from "@hallumaze/maze";
import type { Attempt, Claim, Reading } from "@hallumaze/protocol";

const line = /^(?:(\d+): )?(?:\((-?\d+),(-?\d+)\))?\s*([NESW, ]*?)\s*(?:> \((-?\d+),(-?\d+)\))?\s*(?:(\d+)%)?$/;

/**
 * Reads attempts from a short form, one line each: `3: (0,0) E > (0,1) 90%`, every part optional. Several directions on a
 * line (`(0,0) S, S, E`) are several attempts of that line. Without a number, lines count from 1.
 */
export function attemptsOf(lines: readonly string[]): readonly Attempt[] {
  return lines.flatMap((text, at) => {
    const parts = line.exec(text);
    if (parts === null) throw new TypeError(`not a line of a log: ${text}`);
    const [, number, row, col, dirs = "", toRow, toCol, percent] = parts;
    const found = (dirs.match(/[NESW]/g) ?? [null]) as (Direction | null)[];
    return found.map(
      (dir, move): Attempt => ({
        index: number === undefined ? at + 1 : Number(number),
        from: move === 0 && row !== undefined ? [Number(row), Number(col)] : null,
        dir,
        to: toRow === undefined ? null : [Number(toRow), Number(toCol)],
        confidence: percent === undefined ? null : Number(percent) / 100,
        confidenceText: null,
        flags: [],
        line: at,
        span: [0, 0],
      }),
    );
  });
}

/** A path from a text such as `(0,0) (0,1) (1,1)`. */
export function pathOf(text: string): readonly Cell[] {
  return [...text.matchAll(/\((-?\d+),(-?\d+)\)/g)].map(([, row, col]): Cell => [Number(row), Number(col)]);
}

/** A claim of the protocol's own form: about `at`, after so many attempts. */
export function claim(
  kind: Claim["kind"],
  at: string | null,
  afterAttempt: number,
  seenAtStep: number | null = null,
): Claim {
  return { kind, at: at === null ? null : (pathOf(at)[0] ?? null), seenAtStep, form: "protocol", afterAttempt };
}

/** A reading of a log in short form, with whatever else a test needs. */
export function readingOf(lines: readonly string[], rest: Partial<Reading> & { readonly path?: string } = {}): Reading {
  const { path, ...fields } = rest;
  return readingOfAttempts(attemptsOf(lines), { finalPath: path === undefined ? null : pathOf(path), ...fields });
}

/** A reading of ready attempts. */
export function readingOfAttempts(attempts: readonly Attempt[], rest: Partial<Reading> = {}): Reading {
  return {
    mode: "strict",
    outcome: "ok",
    attempts,
    finalPath: null,
    gaveUp: false,
    claims: [],
    flags: [],
    selfReport: { backtracks: null, hallucinations: null },
    confidenceLog: [],
    templateEchoes: 0,
    reasoning: null,
    ...rest,
  };
}

/** One attempt of its own line. */
export function attempt(
  from: Cell | null,
  dir: Direction | null,
  at: number,
  confidence: number | null = null,
): Attempt {
  return { index: at + 1, from, dir, to: null, confidence, confidenceText: null, flags: [], line: at, span: [0, 0] };
}

/** FINAL_PATH of a maze's solution. */
export function solutionOf(maze: Maze): string {
  return maze.solution.map(([row, col]) => `(${row},${col})`).join(" ");
}
