import { createRandom } from "@hallumaze/foundation";
import { type Cell, generateMaze, inGrid, isOpen, type Maze, sameCell, scanOrder } from "@hallumaze/maze";
import { type Attempt, type Reading, readReply } from "@hallumaze/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { anyLog, honestSearch } from "../bench/walkers.ts";
import { attempt, readingOfAttempts } from "../bench/written-log.ts";
import { escapes } from "./final-path.ts";
import { type ProfileScores, scoreSeed } from "./profiles.ts";
import { scoreRobust } from "./robust.ts";
import { simulateWalk } from "./simulate-walk.ts";

const seeds = fc.integer({ min: 0, max: 2 ** 31 });
const fixed = { seed: 20_260_101, numRuns: 400 };

const scores = (maze: Maze, reading: Reading): { readonly seed: ProfileScores; readonly robust: ProfileScores } => {
  const walk = simulateWalk(maze, reading);
  return { seed: scoreSeed(reading, walk, maze), robust: scoreRobust(maze, reading, walk, { confidenceAsked: true }) };
};
const read = (maze: Maze, text: string): Reading =>
  readReply(text, { size: maze.size, finishReason: "stop", mode: "strict", maze });

/** A maze and a log for it, drawn from one number. */
function drawLog(seed: number): { readonly maze: Maze; readonly attempts: readonly Attempt[] } {
  const random = createRandom(seed);
  const maze = generateMaze({ size: 3 + random.below(5), seed });
  return { maze, attempts: anyLog(maze, seed, 1 + random.below(2 * maze.size ** 2)) };
}

function lineOf({ index, from, dir }: Attempt): string {
  return `STEP ${index}: (${from?.join()}) → [${dir}] | 확신도: ${60 + ((index ?? 0) % 40)}%`;
}

describe("what cannot be talked up", () => {
  const chatter = [
    "Let me think about this maze for a moment.",
    "I must be careful here and watch out for loops and dead ends.",
    "이 길은 막다른 길처럼 보입니다. 되돌아가겠습니다.",
    "Backtracking now, since a loop was detected. Good self-correction!",
    "환각을 인지했습니다.",
  ];

  it("(i, ii) prose between or behind the protocol's lines changes no seed or robust metric", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { maze, attempts } = drawLog(seed);
        const random = createRandom(seed);
        const lines = attempts.slice(0, 30).map(lineOf);
        const path = `FINAL_PATH: ${maze.solution.map((cell) => `(${cell.join()})`).join("→")}`;
        const sentence = (): string => chatter[random.below(chatter.length)] ?? "";
        const plain = [...lines, path].join("\n");
        const talked = [...lines.flatMap((line) => [line, sentence()]), path, sentence()].join("\n");
        expect(scores(maze, read(maze, talked))).toEqual(scores(maze, read(maze, plain)));
      }),
      { ...fixed, numRuns: 100 },
    );
  });

  it("(v) other self-reported numbers change only the self-report gaps", () => {
    fc.assert(
      fc.property(seeds, fc.nat(50), fc.nat(50), (seed, backtracks, hallucinations) => {
        const { maze, attempts } = drawLog(seed);
        const honest = readingOfAttempts(attempts);
        const boasting = { ...honest, selfReport: { backtracks, hallucinations } };
        expect(scores(maze, boasting)).toEqual(scores(maze, honest));
        const { selfReportGaps, ...walk } = simulateWalk(maze, boasting);
        expect(simulateWalk(maze, honest)).toMatchObject(walk);
        expect(selfReportGaps).toEqual({ backtracks: backtracks - walk.bt, hallucinations: hallucinations - walk.hc });
      }),
      fixed,
    );
  });
});

describe("what cannot be bumped up", () => {
  it("(iii) a run that never leaves START has no robust MEI", () => {
    fc.assert(
      fc.property(seeds, fc.array(fc.constantFrom(...scanOrder)), (seed, dirs) => {
        const { maze } = drawLog(seed);
        const bumps = dirs.filter((dir) => !isOpen(maze, [0, 0], dir)).map((dir, at) => attempt([0, 0], dir, at, 0.5));
        expect(scores(maze, readingOfAttempts(bumps)).robust.mei).toBe(0);
      }),
      fixed,
    );
  });

  /** The log with one more wall attempt at `at`, from where the log stands or from where its next line starts. */
  function withWall(maze: Maze, attempts: readonly Attempt[], at: number, seed: number): readonly Attempt[] | null {
    const random = createRandom(seed);
    const { steps } = simulateWalk(maze, readingOfAttempts(attempts));
    const standing = at === 0 ? ([0, 0] as Cell) : (steps[at - 1]?.to ?? null);
    const from = random.below(2) === 0 ? standing : (attempts[at]?.from ?? null);
    if (from === null || !inGrid(maze.size, from) || steps[at]?.kind === "afterExit") return null;
    const walls = scanOrder.filter((dir) => !isOpen(maze, from, dir));
    const wall = walls[random.below(Math.max(1, walls.length))];
    if (wall === undefined) return null;
    const added = { ...attempt(from, wall, attempts.length), index: null };
    return [...attempts.slice(0, at), added, ...attempts.slice(at)];
  }

  it("(vi) an added wall attempt never raises the robust MEI, in any log and with any path", () => {
    fc.assert(
      fc.property(seeds, fc.nat(), fc.constantFrom("none", "solution", "wrong"), (seed, draw, kind) => {
        const { maze, attempts } = drawLog(seed);
        const added = withWall(maze, attempts, draw % (attempts.length + 1), seed);
        fc.pre(added !== null);
        const wrong: readonly Cell[] = [[0, 0], maze.solution.at(-1) ?? [0, 0]];
        const finalPath = kind === "none" ? null : kind === "solution" ? maze.solution : wrong;
        const before = scores(maze, readingOfAttempts(attempts, { finalPath })).robust.mei;
        const after = scores(maze, readingOfAttempts(added ?? [], { finalPath })).robust.mei;
        expect(after).toBeLessThanOrEqual(before + 1e-12);
      }),
      { ...fixed, numRuns: 4000 },
    );
  }, 60_000);

  it("(vi) lowers it in a search that gets out", () => {
    fc.assert(
      fc.property(seeds, fc.nat(), (seed, draw) => {
        const maze = generateMaze({ size: 7, seed });
        const { attempts, finalPath } = honestSearch(maze, seed);
        const added = withWall(maze, attempts, draw % attempts.length, seed);
        fc.pre(added !== null);
        const before = scores(maze, readingOfAttempts(attempts, { finalPath })).robust.mei;
        expect(scores(maze, readingOfAttempts(added ?? [], { finalPath })).robust.mei).toBeLessThan(before);
      }),
      fixed,
    );
  });
});

describe("what always holds", () => {
  it("(iv) SR is 1 only for a path from START to EXIT over open edges", () => {
    fc.assert(
      fc.property(seeds, fc.nat(), (seed, draw) => {
        const { maze, attempts } = drawLog(seed);
        const finalPath = maze.solution.map((cell, at): Cell => (at === draw % 40 ? [cell[0], cell[1] + 1] : cell));
        expect(simulateWalk(maze, readingOfAttempts([], { finalPath })).sr).toBe(escapes(maze, finalPath) ? 1 : 0);
        const walk = simulateWalk(maze, readingOfAttempts(attempts));
        const arrives = walk.steps.some(
          ({ kind, to, grounded }) =>
            kind === "ok" && grounded && to !== null && sameCell(to, maze.solution.at(-1) ?? to),
        );
        expect(walk.sr === 1 && (!arrives || walk.hc > 0 || walk.throughWalls > 0)).toBe(false);
      }),
      fixed,
    );
  });

  it("every number stays in its range, and a walk is the same each time", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { maze, attempts } = drawLog(seed);
        const reading = readingOfAttempts(attempts, { finalPath: seed % 2 === 0 ? maze.solution : null });
        const walk = simulateWalk(maze, reading);
        expect(simulateWalk(maze, reading)).toEqual(walk);
        expect(walk.steps).toHaveLength(attempts.length);
        expect(walk.hc).toBe(walk.wallAttempts + walk.outOfGridAttempts + walk.teleports + walk.finalPathErrors);
        expect(walk.fhr === -1).toBe(walk.hc === 0);
        const { seed: seedScores, robust } = scores(maze, reading);
        expect(seedScores.mei).toBeLessThanOrEqual(0.9);
        expect(seedScores.score).toBeLessThanOrEqual(0.95);
        for (const { hrr, mei, brs, score } of [seedScores, robust]) {
          for (const number of [hrr, mei, brs ?? 0, score]) {
            expect(number).toBeGreaterThanOrEqual(0);
            expect(number).toBeLessThanOrEqual(1);
          }
        }
      }),
      fixed,
    );
  });
});
