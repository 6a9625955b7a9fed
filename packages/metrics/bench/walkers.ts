import { createRandom, type Random } from "@hallumaze/foundation";
import {
  type Cell,
  cellAt,
  cellIndex,
  type Direction,
  exitCell,
  inGrid,
  isOpen,
  type Maze,
  nextOnRoute,
  openDirections,
  opposite,
  sameCell,
  scanOrder,
  step,
} from "@hallumaze/maze";
import type { Attempt, Reading } from "@hallumaze/protocol";

import { attempt, readingOfAttempts } from "./written-log.ts";

/** The shortest way out, each move written down. */
export function oracle(maze: Maze, confidence: number | null = null): Reading {
  const moves = maze.solution.slice(0, -1).map((cell, at) => attempt(cell, nextOnRoute(maze, cell), at, confidence));
  return readingOfAttempts(moves, { finalPath: maze.solution });
}

/** A depth-first search that tries open directions at random, writes every move, and answers with the way it found. */
export function honestSearch(maze: Maze, seed: number): Reading {
  const random = createRandom(seed);
  const seen = new Set([0]);
  const way: { readonly cell: Cell; readonly back: Direction | null }[] = [{ cell: [0, 0], back: null }];
  const moves: Attempt[] = [];
  for (let top = way.at(-1); top !== undefined && !sameCell(top.cell, exitCell(maze.size)); top = way.at(-1)) {
    const { cell, back } = top;
    const fresh = openDirections(maze, cell).filter((dir) => !seen.has(cellIndex(maze.size, step(cell, dir))));
    const dir = fresh.length > 0 ? (fresh[random.below(fresh.length)] ?? null) : back;
    if (dir === null) break;
    moves.push(attempt(cell, dir, moves.length));
    if (fresh.length === 0) way.pop();
    else way.push({ cell: step(cell, dir), back: opposite(dir) });
    seen.add(cellIndex(maze.size, step(cell, dir)));
  }
  return readingOfAttempts(moves, { finalPath: way.map(({ cell }) => cell) });
}

/** Goes through a random open direction at each step, for at most twice as many moves as there are cells. */
export function randomWalk(maze: Maze, seed: number): Reading {
  const random = createRandom(seed);
  const path: Cell[] = [[0, 0]];
  const moves: Attempt[] = [];
  for (let cell: Cell = [0, 0]; moves.length < 2 * maze.size ** 2 && !sameCell(cell, exitCell(maze.size)); ) {
    const dir = pick(random, openDirections(maze, cell));
    moves.push(attempt(cell, dir, moves.length));
    cell = step(cell, dir);
    path.push(cell);
  }
  const hasEscaped = sameCell(path.at(-1) ?? [0, 0], exitCell(maze.size));
  return readingOfAttempts(moves, { finalPath: hasEscaped ? path : null });
}

/** Writes down every edge of the grid in a fixed order, without looking at the maze. */
export function blindRaster(maze: Maze, order: readonly Direction[]): Reading {
  const moves: Attempt[] = [];
  for (let index = 0; index < maze.size ** 2; index++) {
    const cell = cellAt(maze.size, index);
    for (const dir of order) if (inGrid(maze.size, step(cell, dir))) moves.push(attempt(cell, dir, moves.length));
  }
  return readingOfAttempts(moves);
}

/** Goes from START into one neighbour and back, over and over. */
export function pump(maze: Maze, times: number): Reading {
  const dir = pick(createRandom(0), openDirections(maze, [0, 0]));
  const moves = Array.from({ length: 2 * times }, (_, at) =>
    at % 2 === 0 ? attempt([0, 0], dir, at) : attempt(step([0, 0], dir), opposite(dir), at),
  );
  return readingOfAttempts(moves);
}

/**
 * Walks far along the solution, then alternates between lines from there and lines from START: every other line is a rewind
 * over the whole way, the dearest log there is.
 */
export function deepRewinds(maze: Maze, length: number): Reading {
  const far = Math.floor(maze.solution.length * 0.9);
  const cellOf = (at: number): Cell => maze.solution[at < far ? at : at % 2 === 0 ? 0 : far] ?? [0, 0];
  const moves = Array.from({ length }, (_, at) => attempt(cellOf(at), nextOnRoute(maze, cellOf(at)), at));
  return readingOfAttempts(moves);
}

/**
 * Any log at all: mostly legal moves, with walls, lines from known cells, from behind walls, from cells never reached and
 * from off the grid, and numbering that restarts.
 */
export function anyLog(maze: Maze, seed: number, length: number): readonly Attempt[] {
  const random = createRandom(seed);
  const isWild = random.below(3) === 0;
  const known: Cell[] = [[0, 0]];
  const moves: Attempt[] = [];
  let cell: Cell = [0, 0];
  let behind: Cell | null = null;
  let index = 0;
  while (moves.length < length) {
    const draw = random.below(20);
    if (draw === 0) cell = pick(random, known);
    else if (draw === 1 && behind !== null) cell = behind;
    else if (draw === 2 && isWild) cell = cellAt(maze.size, random.below(maze.size ** 2));
    else if (draw === 3 && isWild) cell = [-1, random.below(maze.size)];
    else if (random.below(30) === 0) {
      cell = [0, 0];
      index = 0;
    }
    const dir = drawDirection(maze, cell, random);
    moves.push({ ...attempt(cell, dir, moves.length), index: ++index });
    behind = isOpen(maze, cell, dir) ? null : step(cell, dir);
    if (behind === null) cell = step(cell, dir);
    if (behind === null) known.push(cell);
  }
  return moves;
}

function drawDirection(maze: Maze, cell: Cell, random: Random): Direction {
  if (random.below(10) < 3 || !inGrid(maze.size, cell)) return pick(random, scanOrder);
  const route = nextOnRoute(maze, cell);
  return route !== null && random.below(2) === 0 ? route : pick(random, openDirections(maze, cell));
}

function pick<T>(random: Random, choices: readonly T[]): T {
  const choice = choices[random.below(choices.length)];
  if (choice === undefined) throw new RangeError("there is nothing to pick from");
  return choice;
}
