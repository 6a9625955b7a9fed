import { buildHint, type HintFacts, type Language } from "@hallumaze/protocol";
import { describe, expect, it } from "vitest";

import { answer, setting, solution, wayOut } from "../test/written-answers.ts";
import type { ConversationReply } from "./converse.ts";
import { nextTurn } from "./converse.ts";
import { type ConversationResult, readConversation } from "./read-conversation.ts";
import { stripEcho } from "./strip-echo.ts";

const facts: HintFacts = {
  repeatedMoves: [
    [
      [0, 0],
      [1, 0],
    ],
  ],
  hasRepeatedMove: true,
  repeatedErrors: [[1, 0]],
  hasRepeatedError: true,
  isStalled: true,
  isShort: true,
  cellsReached: 2,
};

describe("stripEcho", () => {
  const { text: hint } = buildHint({ kind: "hint", language: "en", facts });

  it("blanks out the hint's lines and nothing else, and keeps every place", () => {
    const log = answer(wayOut, { after: [solution] }).text;
    const echoed = `${hint}\n\n${log}`;
    expect(stripEcho(echoed, [hint])).toBe(`${hint.replace(/[^\n]/g, " ")}\n\n${log}`);
  });

  it("leaves an answer that repeats nothing as it is", () => {
    const { text } = answer(wayOut, { after: ["", "FINAL_PATH:", "(0,0)→(1,0)"] });
    expect(stripEcho(text, [hint])).toBe(text);
    expect(stripEcho(hint, [])).toBe(hint);
  });

  it("keeps a heading that also stands in the hint", () => {
    expect(stripEcho("FINAL_PATH\n(0,0)→(1,0)", [hint])).toBe("FINAL_PATH\n(0,0)→(1,0)");
  });

  it("needs time linear in the answer", () => {
    const text = `${"t\nh\ne\n".repeat(10_000)}${"x".repeat(1_000_000)}`;
    expect(stripEcho(text, [hint])).toHaveLength(text.length);
  });
});

describe("a conversation whose answer repeats the turn before it", () => {
  const lost = answer(["(0,0) S", "(1,0) N", "(0,0) S", "(1,0) E", "(1,1) N", "(1,1) N"]);
  const moved = answer(["(0,0) S", "(1,0) E", "(1,1) E", "(1,2) E"], { after: ["FINAL_PATH: (0,0)→(1,0)→(1,1)"] });

  /** Wraps a text's words to a width. */
  const wrap = (text: string, width: number): string =>
    text.replace(new RegExp(`([^\\n]{${width}}[^\\n ]*) `, "g"), "$1\n");
  const everyLine = (text: string, change: (line: string, at: number) => string): string =>
    text.split("\n").map(change).join("\n");
  const disguises: Readonly<Record<string, (text: string) => string>> = {
    verbatim: (text) => text,
    quoted: (text) => everyLine(text, (line) => `> ${line}`),
    fenced: (text) => `\`\`\`text\n${text}\n\`\`\``,
    bold: (text) => everyLine(text, (line) => `**${line}**`),
    listed: (text) => everyLine(text, (line) => `- ${line}`),
    numbered: (text) => everyLine(text, (line, at) => `${at + 1}. ${line}`),
    wrapped: (text) => wrap(text, 24),
    "in one line": (text) => text.replaceAll("\n", " "),
    "in capitals": (text) => text.toUpperCase(),
  };

  /** All that a result is scored on; places in the raw text shift with what stands before them. */
  const judged = ({ reading, walk, record }: ConversationResult): unknown => ({
    attempts: reading.attempts.map((attempt) => ({ ...attempt, span: null })),
    reading: { ...reading, attempts: [] },
    walk,
    record,
  });

  for (const language of ["ko", "en"] satisfies readonly Language[]) {
    for (const group of ["A", "B", "C"] as const) {
      it.each(Object.keys(disguises))(`is read as if it did not, in ${language} and group ${group}: %s`, (name) => {
        const held = setting({ language, group });
        const turn = nextTurn(held, [lost])?.text ?? "";
        expect(turn).not.toBe("");
        const echo = disguises[name]?.(turn) ?? "";
        const said = (text: string): ConversationReply => ({ text, finishReason: "stop" });
        const plain = judged(readConversation(held, [lost, moved], "strict"));
        expect(judged(readConversation(held, [lost, said(`${echo}\n\n${moved.text}`)], "strict"))).toEqual(plain);
        expect(judged(readConversation(held, [lost, said(`${moved.text}\n\n${echo}`)], "strict"))).toEqual(plain);
        const silent = judged(readConversation(held, [lost, said("")], "strict"));
        expect(judged(readConversation(held, [lost, said(echo)], "strict"))).toEqual(silent);
      });
    }
  }
});
