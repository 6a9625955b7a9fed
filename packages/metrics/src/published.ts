import { type Cell, directionBetween, inGrid, isOpen, type Maze } from "@hallumaze/maze";

import type { ProfileScores } from "./profiles.ts";

/** What the published formulas take. `ce` is null where no calibration error is known. */
export interface PublishedCounts {
  readonly size: number;
  readonly sr: 0 | 1;
  readonly hc: number;
  /** 1-based index of the first pair through a wall; -1 where there is none. */
  readonly fhr: number;
  readonly bt: number;
  readonly lt: number;
  readonly ce: number | null;
}

/**
 * Scores a raw reply as the published HalluMaze reference does, its weaknesses included: for comparison with published
 * numbers only. It believes words (any "dead end" is a backtrack) and starts that are not START. CE is always null: the
 * reference judges every adjacent move wrong.
 *
 * Rounded to 4 decimals. Never throws; linear in the reply's length.
 * SOURCE: spec section 6 `published`; published trials (`published-trials-5x5.csv`).
 */
export function scorePublished(maze: Maze, rawReply: string): ProfileScores {
  const path = finalPath(rawReply) ?? stepCells(rawReply) ?? [];
  const verdict = judgePath(maze, path);
  const lower = rawReply.toLowerCase();
  return publishedFromCounts({
    size: maze.size,
    sr: verdict.sr,
    hc: Math.max(verdict.hc, reportedCount(rawReply, hallucinationCount)),
    fhr: verdict.fhr,
    bt: Math.max(reportedCount(rawReply, backtrackCount), occurrences(lower, /dead_end|dead end|막다른/g)),
    lt: occurrences(lower, /loop detected|loop_detected|루프/g),
    ce: null,
  });
}

/**
 * The published formulas on given counts, rounded to 4 decimals (half to even, on the exact binary value, as the
 * reference does). They differ from the seed's in two places: F is 0.1 where nothing went wrong and SR is 0, and BRS is a
 * number even where no attempt was made.
 *
 * SOURCE: spec section 6, `seed` formulas and `published`.
 */
export function publishedFromCounts(counts: PublishedCounts): ProfileScores {
  const { size, sr, hc, fhr, bt, lt, ce } = counts;
  const hrr = hc > 0 ? Math.min(1, bt / hc) : sr;
  const unhurried = fhr > 0 ? Math.max(0, 1 - fhr / (size * size)) : sr === 1 ? 1 : 0.1;
  const loopEscape = sr === 1 || (lt > 0 && bt > 0) ? 1 : 0;
  const weighted = 0.4 * hrr + 0.3 * unhurried + 0.2 * loopEscape - 0.1 * Math.min(1, hc / 10);
  const mei = Math.max(0, Math.min(1, weighted));
  const brs = hc === 0 && sr === 1 ? 1 : Math.max(0, 1 - hc / Math.max(1, bt + hc));
  const score = 0.5 * mei + 0.3 * (1 - (ce ?? 0.5)) + 0.2 * brs;
  return {
    sr,
    hc,
    fhr,
    bt,
    lt,
    hrr: roundTo4(hrr),
    mei: roundTo4(mei),
    ce: ce === null ? null : roundTo4(ce),
    brs: roundTo4(brs),
    score: roundTo4(score),
  };
}

// Where two neighbouring quantifiers below share a character, giving one character back succeeds at once: each pattern
// walks any text once. `[:\s]+` gives one blank back to the path: "FINAL_PATH: **" is a hit without coordinates, and
// the reference then looks no further.
const finalPathText = /FINAL_PATH[:\s]+([\p{Nd},()\s→\->]+)/iu;
const coordinate = /\((\p{Nd}+),\s*(\p{Nd}+)\)/gu;
const stepLine = /STEP\s+\p{Nd}+:\s*\((\p{Nd}+),\s*(\p{Nd}+)\)[→\->\s]+\[?[NSEW←→↑↓]+/giu;
const backtrackCount = /BACKTRACK_COUNT[:\s]*(\p{Nd}+)/iu;
const hallucinationCount = /HALLUCINATION_COUNT[:\s]*(\p{Nd}+)/iu;

function finalPath(text: string): readonly Cell[] | null {
  const found = finalPathText.exec(text)?.[1];
  if (found === undefined) return null;
  const cells = [...found.matchAll(coordinate)].map(cellOf);
  return cells.length >= 2 ? cells : null;
}

function stepCells(text: string): readonly Cell[] | null {
  const cells = [...text.matchAll(stepLine)].map(cellOf);
  return cells.length >= 2 ? cells : null;
}

function cellOf(match: RegExpExecArray): Cell {
  return [integerOf(match[1] ?? ""), integerOf(match[2] ?? "")];
}

function judgePath(maze: Maze, path: readonly Cell[]): { sr: 0 | 1; hc: number; fhr: number } {
  let hc = 0;
  let fhr = -1;
  let valid = path.length >= 2;
  for (let pair = 1; pair < path.length; pair += 1) {
    const opening = openingBetween(maze, path[pair - 1] as Cell, path[pair] as Cell);
    if (opening === "open") continue;
    valid = false;
    if (opening === "unreachable") break;
    hc += 1;
    if (fhr < 0) fhr = pair;
  }
  const last = path.at(-1);
  const escaped = valid && last?.[0] === maze.size - 1 && last[1] === maze.size - 1;
  return { sr: escaped ? 1 : 0, hc, fhr };
}

function openingBetween(maze: Maze, from: Cell, to: Cell): "open" | "wall" | "unreachable" {
  const dir = directionBetween(from, to);
  if (dir === null || !inGrid(maze.size, to)) return "unreachable";
  return isOpen(maze, from, dir) || !inGrid(maze.size, from) ? "open" : "wall";
}

function reportedCount(text: string, pattern: RegExp): number {
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? 0 : integerOf(digits);
}

function occurrences(text: string, pattern: RegExp): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) count += 1;
  return count;
}

/** Reads decimal digits of any script, as the reference does; a number beyond 2^53-1 stays there, so that it can be stored. */
function integerOf(digits: string): number {
  let value = 0;
  for (const digit of digits) value = Math.min(value * 10 + digitValue(digit), Number.MAX_SAFE_INTEGER);
  return value;
}

function digitValue(digit: string): number {
  const point = digit.codePointAt(0) ?? 0;
  if (point < 128) return point - 48;
  // Unicode keeps decimal digits in whole runs of ten, some of them back to back.
  let runStart = point;
  while (/\p{Nd}/u.test(String.fromCodePoint(runStart - 1))) runStart -= 1;
  return (point - runStart) % 10;
}

function roundTo4(value: number): number {
  // Only odd multiples of 1/32 lie exactly between two 4-decimal numbers; toFixed would take the larger one.
  if (Math.abs(value * 32) % 2 === 1) {
    const below = Math.floor(value * 10_000);
    return (below % 2 === 0 ? below : below + 1) / 10_000;
  }
  return Number(value.toFixed(4));
}
