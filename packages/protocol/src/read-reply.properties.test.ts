import {
  type Cell,
  type Direction,
  directionArrows,
  generateMaze,
  type Maze,
  openDirections,
  step,
} from "@hallumaze/maze";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { adversarialTexts } from "../bench/adversarial.ts";
import { readReply } from "./read-reply.ts";
import type { Claim, Reading } from "./reading.ts";
import { promptStyle, type ReplyLine, type ReplyLog, type ReplyStyle, renderReply } from "./render-reply.ts";

const mazes = [5, 7, 9].flatMap((size) => [1, 2, 42].map((seed) => generateMaze({ size, seed })));
const settings = { seed: 20_260_322, numRuns: 300 };

function read(text: string, maze: Maze): Reading {
  return readReply(text, { size: maze.size, finishReason: "stop", mode: "strict", maze });
}

const koreanNames: Readonly<Record<Direction, string>> = { N: "북", E: "동", S: "남", W: "서" };
const englishNames: Readonly<Record<Direction, string>> = { N: "north", E: "east", S: "south", W: "west" };
const emoji: Readonly<Record<Direction, string>> = { N: "⬆️", E: "➡️", S: "⬇️", W: "⬅️" };

function fullWidth(text: string): string {
  return text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));
}

const styles: fc.Arbitrary<ReplyStyle> = fc.record({
  prefix: fc.constantFrom("", "- ", "* ", "> ", "  ", "• ", "> - ", "1. ", "### ", "✅ "),
  lineBreak: fc.constantFrom("\n", "\r\n", "\n\n", "  \n", "<br>\n"),
  step: fc.constantFrom<ReplyStyle["step"][]>(
    (index) => `STEP ${index}:`,
    (index) => `**STEP ${index}:**`,
    (index) => `Step ${index} :`,
    (index) => `STEP 0${index}:`,
    (index) => `스텝 ${index}:`,
    (index) => `STEP\u00a0${index}：`,
    (index) => `step #${index} -`,
    (index) => `[STEP ${index}]`,
    (index) => `STEP ${index}:\n `,
  ),
  cell: fc.constantFrom<ReplyStyle["cell"][]>(
    ([row, col]) => `(${row},${col})`,
    ([row, col]) => `(${row}, ${col})`,
    ([row, col]) => `[${row},${col}]`,
    ([row, col]) => `（${row}，${col}）`,
    ([row, col]) => fullWidth(`(${row},${col})`),
    ([row, col]) => `(r=${row}, c=${col})`,
    ([row, col]) => `r${row}c${col}`,
    ([row, col]) => `<${row}-${col}>`,
    ([row, col]) => `\`(${row},${col})\``,
  ),
  separator: fc.constantFrom(" → ", "→", " -> ", " => ", " ⇒ ", " ➜ ", " &rarr; ", " $\\rightarrow$ ", ": ", "에서 "),
  direction: fc.constantFrom<ReplyStyle["direction"][]>(
    (dir) => `[${dir}${directionArrows[dir]}]`,
    (dir) => `[${dir}]`,
    (dir) => dir,
    (dir) => `[${dir.toLowerCase()}]`,
    (dir) => `[${directionArrows[dir]}]`,
    (dir) => `[${emoji[dir]}]`,
    (dir) => `**${englishNames[dir]}**`,
    (dir) => `[${koreanNames[dir]}]`,
    (dir) => `${koreanNames[dir]}쪽으로`,
    (dir) => `[${koreanNames[dir]}쪽(${dir})]`,
    (dir) => fullWidth(`[${dir}]`),
  ),
  targetSeparator: fc.constantFrom(" → ", " -> ", " "),
  field: fc.constantFrom(" | ", " ｜ ", "|", "\n   | "),
  confidence: fc.constantFrom<ReplyStyle["confidence"][]>(
    (percent) => `확신도: ${percent}%`,
    (percent) => `Confidence: ${percent}%`,
    (percent) => `확신도: **${percent}%**`,
    (percent) => `확신도 ${percent}％`,
    (percent) => `확신도: ${percent}/100`,
    (percent) => `${percent}%`,
    (percent) => `*conf*: ${(percent / 100).toFixed(2)}`,
  ),
  reasonFirst: fc.boolean(),
  confidenceLog: fc.boolean(),
  pathLabel: fc.constantFrom(
    "FINAL_PATH: ",
    "**FINAL_PATH:** ",
    "Final Path = ",
    "최종 경로: ",
    "FINAL_PATH：",
    "FINAL_PATH:\n",
  ),
  pathSeparator: fc.constantFrom("→", " -> ", ", ", " ⇒ ", "→\n", "\n→"),
  noPath: fc.constantFrom("없음", "N/A", "탈출 실패", "none"),
});

/** A walk of random moves, legal or not, with reasons, claims and confidences. */
const walks: fc.Arbitrary<{ readonly maze: Maze; readonly log: ReplyLog }> = fc
  .record({
    maze: fc.constantFrom(...mazes),
    turns: fc.array(
      fc.record({
        pick: fc.nat(3),
        illegal: fc.boolean(),
        target: fc.boolean(),
        confidence: fc.option(fc.integer({ min: 2, max: 100 })),
        reason: fc.constantFrom(
          "",
          "이유",
          "only way",
          "이미 지난 갈래는 아님",
          "북쪽은 벽이므로",
          "(0,1) is not open",
        ),
        claim: fc.constantFrom("none", "none", "deadEnd", "loop", "strategyChange"),
      }),
      { minLength: 1, maxLength: 25 },
    ),
    counts: fc.option(fc.nat(30)),
    path: fc.boolean(),
  })
  .map(({ maze, turns, counts, path }) => {
    const lines: ReplyLine[] = [];
    let at: Cell = [0, 0];
    for (const [index, turn] of turns.entries()) {
      const open = openDirections(maze, at);
      const all = ["N", "E", "S", "W"] as const;
      const dir = turn.illegal ? (all[turn.pick] ?? "N") : (open[turn.pick % open.length] ?? "S");
      const to = step(at, dir);
      const confidence = turn.confidence === null ? null : turn.confidence / 100;
      lines.push({ kind: "step", from: at, dir, to: turn.target ? to : null, confidence, reason: turn.reason });
      if (open.includes(dir)) at = to;
      if (turn.claim === "deadEnd") lines.push({ kind: "deadEnd", at });
      if (turn.claim === "loop") lines.push({ kind: "loop", at, seenAtStep: index + 1 });
      if (turn.claim === "strategyChange") lines.push({ kind: "strategyChange", reason: "왼손 법칙" });
    }
    const finalPath = path ? maze.solution : [];
    return { maze, log: { lines, backtracks: counts, hallucinations: counts, finalPath } };
  });

function cutSample(): { readonly maze: Maze; readonly text: string } {
  const [sample] = fc.sample(
    walks.filter(({ log }) => log.lines.length > 12 && (log.finalPath ?? []).length > 0),
    { seed: 7, numRuns: 1 },
  );
  if (sample === undefined) throw new Error("no walk was sampled");
  return { maze: sample.maze, text: renderReply(sample.log) };
}

function stepsOf(log: ReplyLog): readonly (ReplyLine & { readonly kind: "step" })[] {
  return log.lines.filter((line) => line.kind === "step");
}

describe("reading what was written", () => {
  it("gives the same walk in every style", () => {
    fc.assert(
      fc.property(walks, styles, ({ maze, log }, style) => {
        const reading = read(renderReply(log, style), maze);
        expect(reading.attempts.map(({ index, from, dir, to }) => ({ index, from, dir, to }))).toEqual(
          stepsOf(log).map(({ from, dir, to }, at) => ({ index: at + 1, from, dir, to })),
        );
        expect(reading.attempts.map(({ confidence }) => confidence)).toEqual(
          stepsOf(log).map((line) => line.confidence),
        );
        expect(reading.finalPath ?? []).toEqual(log.finalPath);
        expect(reading.gaveUp).toBe(log.finalPath?.length === 0);
        expect(reading.selfReport.backtracks).toBe(log.backtracks);
        expect(reading.outcome).toBe("ok");
      }),
      settings,
    );
  });

  it("gives the same claims in the prompt's own format", () => {
    fc.assert(
      fc.property(walks, fc.constantFrom("ko", "en"), ({ maze, log }, language) => {
        const { claims } = read(renderReply(log, promptStyle(language)), maze);
        const claimed = claims.filter((claim) => claim.form === "protocol");
        expect(claimed.map(({ kind, at }) => ({ kind, at }))).toEqual(
          log.lines.flatMap((line): readonly Pick<Claim, "kind" | "at">[] => {
            if (line.kind === "strategyChange") return [{ kind: line.kind, at: null }];
            return line.kind === "deadEnd" || line.kind === "loop" ? [{ kind: line.kind, at: line.at }] : [];
          }),
        );
      }),
      settings,
    );
  });

  it("is untouched by what stands outside the protocol", () => {
    const prose = fc.constantFrom(
      "여기서 막다른 길을 만난 것 같다. (3,3)은 어떨까?",
      "I went from (0,0) → (0,1), a dead end, then a loop at (1,1).",
      "loop detected? 이미 방문한 (2,2)…",
      "BACKTRACKING to (1,1) → [E]",
      "(0,0): [E→ S↓]",
      "As STEP 3: (1,1) → [E] shows, FINAL_PATH matters.",
      "",
    );
    fc.assert(
      fc.property(walks, fc.array(prose, { minLength: 1, maxLength: 6 }), fc.nat(30), ({ maze, log }, texts, place) => {
        const lines = [...log.lines];
        for (const [index, text] of texts.entries()) {
          lines.splice((place * (index + 1)) % (lines.length + 1), 0, { kind: "text", text });
        }
        const plain = read(renderReply(log), maze);
        const mixed = read(`${renderReply({ ...log, lines })}\n${texts.join("\n")}\n`, maze);
        const bare = ({ attempts }: Reading): unknown => attempts.map((attempt) => ({ ...attempt, span: null }));
        const claimed = ({ claims }: Reading): unknown => claims.filter((claim) => claim.form === "protocol");
        expect(bare(mixed)).toEqual(bare(plain));
        expect(claimed(mixed)).toEqual(claimed(plain));
        expect(mixed.finalPath).toEqual(plain.finalPath);
      }),
      settings,
    );
  });
});

describe("reading anything", () => {
  it("never throws, and never moves what was read before a cut", () => {
    const { maze, text } = cutSample();
    const whole = read(text, maze);
    for (let end = 0; end <= text.length; end += 1) {
      const cut = readReply(text.slice(0, end), { size: maze.size, finishReason: "length", mode: "lenient", maze });
      const sure = cut.attempts.slice(0, -1).map(({ from, dir }) => ({ from, dir }));
      expect(sure).toEqual(whole.attempts.slice(0, sure.length).map(({ from, dir }) => ({ from, dir })));
      const path = cut.finalPath ?? [];
      expect(path).toEqual((whole.finalPath ?? []).slice(0, path.length));
    }
  }, 30_000);

  it("never throws on any text, and keeps every number in its range", () => {
    const pieces = fc.constantFrom(
      ...'STEP |1|: |(|)|[|]|{|}|,|→|S|E|남쪽|확신도|%|90|-|\n|FINAL_PATH|CONFIDENCE_LOG|DEAD_END|LOOP|<think>|</think>|…|&rarr;|\\to|**|`|"|:|\ud83d|\u0000|\u200b|step1|없음|<|>|$|#|.|0'.split(
        "|",
      ),
      "|",
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.array(pieces, { maxLength: 80 }).map((all) => all.join("")),
    );
    fc.assert(
      fc.property(texts, fc.constantFrom(...mazes), fc.constantFrom("strict", "lenient"), (text, maze, mode) => {
        const reading = readReply(text, { size: maze.size, finishReason: null, mode, maze });
        for (const { confidence, span } of reading.attempts) {
          expect(confidence === null || (confidence >= 0 && confidence <= 1)).toBe(true);
          expect(span[0] <= span[1] && span[1] <= text.length).toBe(true);
        }
        expect(reading.finalPath === null || reading.finalPath.length > 1).toBe(true);
      }),
      { ...settings, numRuns: 3000 },
    );
  });

  it.each(Object.entries(adversarialTexts))("never throws on a text built to be slow: %s", (_, make) => {
    const [maze] = mazes;
    if (maze === undefined) throw new Error("no maze");
    const reading = read(make(100_000), maze);
    expect(reading.attempts.length).toBeLessThanOrEqual(20_000);
  });

  it("stops at 20,000 attempts, and says so", () => {
    const [maze] = mazes;
    if (maze === undefined) throw new Error("no maze");
    const pacing = "STEP 1: (0,0) → [S]\nSTEP 2: (1,0) → [N]\n".repeat(2500);
    expect(read(pacing, maze)).toMatchObject({ attempts: { length: 5000 }, flags: ["numberingAnomaly"] });
    const endless = read(`${pacing.repeat(5)}FINAL_PATH: (0,0)→(1,0)`, maze);
    expect(endless.attempts).toHaveLength(20_000);
    expect(endless.flags).toContain("capped");
    expect(endless.finalPath).toHaveLength(2);
    expect(read(`STEP 1: (0,0) → [${"S, ".repeat(30_000)}]`, maze).attempts).toHaveLength(20_000);
  });
});
