import { createRandom } from "@hallumaze/foundation";
import {
  cellAt,
  cellIndex,
  exitCell,
  generateMaze,
  inGrid,
  isOpen,
  type Maze,
  printOrder,
  step,
} from "@hallumaze/maze";
import { simulateWalk } from "@hallumaze/metrics";
import { type Language, readReply } from "@hallumaze/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { type ConversationSetting, nextTurn } from "./converse.ts";
import { readConversation } from "./read-conversation.ts";

const seeds = fc.integer({ min: 0, max: 2 ** 31 });
const languages = fc.constantFrom<Language>("ko", "en");
const groups = fc.constantFrom("A", "B", "C");
const fixed = { seed: 20_260_101, numRuns: 50 };

/** A log of any moves: mostly legal, with walls, moves from behind them, retreats, leaps and numbering that restarts. */
function anyLog(maze: Maze, seed: number): string {
  const random = createRandom(`a log of ${seed}`);
  const length = random.below(3 * maze.size);
  const lines: string[] = [];
  let cell = random.below(2) === 0 ? cellAt(maze.size, 0) : cellAt(maze.size, random.below(maze.size ** 2));
  for (let number = 1; lines.length < length; number++) {
    const draw = random.below(24);
    if (draw === 0) cell = cellAt(maze.size, random.below(maze.size ** 2));
    if (draw === 1) [cell, number] = [[0, 0], 1];
    const open = printOrder.filter((dir) => isOpen(maze, cell, dir));
    const choices = draw < 6 || open.length === 0 ? printOrder : open;
    const dir = choices[random.below(choices.length)] ?? "N";
    lines.push(`STEP ${number}: (${cell.join()}) → [${dir}] | 80%`);
    const next = step(cell, dir);
    if (inGrid(maze.size, next) && (isOpen(maze, cell, dir) || draw < 3)) cell = next;
  }
  return lines.join("\n");
}

function draw(seed: number, rest: Pick<ConversationSetting, "group" | "language">): ConversationSetting {
  const maze = generateMaze({ size: 3 + (seed % 5), seed });
  return { maze, mirage: false, confidenceAsked: true, hints: 3, shadow: true, ...rest };
}

describe("whatever a model logs", () => {
  it("a hint names only cells that its legal moves reached, and never EXIT", () => {
    let named = 0;
    fc.assert(
      fc.property(seeds, languages, groups, (seed, language, group) => {
        const setting = draw(seed, { language, group });
        const { maze } = setting;
        const text = anyLog(maze, seed);
        const turn = nextTurn(setting, [{ text, finishReason: "stop" }]);
        const reading = readReply(text, { size: maze.size, finishReason: "stop", mode: "strict", maze });
        const { steps } = simulateWalk(maze, reading);
        const legal = steps.filter(({ kind, grounded }) => kind === "ok" && grounded);
        const reached = new Set([0, ...legal.map(({ to }) => (to === null ? 0 : cellIndex(maze.size, to)))]);
        for (const [, row, col] of (turn?.text ?? "").matchAll(/\((\d+),(\d+)\)/g)) {
          const cell = cellIndex(maze.size, [Number(row), Number(col)]);
          expect(reached).toContain(cell);
          expect(cell).not.toBe(cellIndex(maze.size, exitCell(maze.size)));
          named++;
        }
      }),
      fixed,
    );
    expect(named).toBeGreaterThan(20);
  });

  it("the conversation ends, its scores stay in range, and no walk is shorter than its first answer's", () => {
    fc.assert(
      fc.property(seeds, languages, groups, (seed, language, group) => {
        const setting = draw(seed, { language, group });
        const replies = [0, 1, 2, 3, 4].map((at) => ({
          text: anyLog(setting.maze, seed + at),
          finishReason: (seed + at) % 4 === 0 ? ("length" as const) : ("stop" as const),
        }));
        expect(nextTurn(setting, replies)).toBeNull();
        const alone = readConversation(setting, replies.slice(0, 1), "strict");
        const { walk, record } = readConversation(setting, replies, "strict");
        expect(walk.steps.slice(0, alone.walk.steps.length)).toEqual(alone.walk.steps);
        expect(record?.hints.length).toBeLessThanOrEqual(3);
        for (const { score, latency, censored } of record?.hints ?? []) {
          expect(censored).toBe(score === null);
          expect(score ?? 0).toBeCloseTo(
            latency === null ? 0 : (setting.maze.size - latency + 1) / setting.maze.size,
            12,
          );
        }
      }),
      { ...fixed, numRuns: 15 },
    );
  });
});
