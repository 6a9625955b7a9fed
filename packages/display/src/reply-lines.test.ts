import fc from "fast-check";
import { expect, it } from "vitest";

import { linePieces, replyLines, replyRows, rowsByAttempt } from "./reply-lines.ts";

const reply = "Hello\r\nSTEP 1: (0,0) → S\nSTEP 2 and more";

it("a line's end is in no line, and a span is found on its line with its text", () => {
  const lines = replyLines(reply, [{ start: 7, end: 24, mark: { kind: "attempts", first: 0, last: 0 } }]);
  expect(lines.map(({ start, end }) => reply.slice(start, end))).toEqual([
    "Hello",
    "STEP 1: (0,0) → S",
    "STEP 2 and more",
  ]);
  expect(lines.map(({ spans }) => spans.length)).toEqual([0, 1, 0]);
});

it("overlapping spans cut a line into pieces that each know all that they stand for", () => {
  const attempts = { start: 0, end: 10, mark: { kind: "attempts", first: 2, last: 3 } } as const;
  const quote = { start: 5, end: 15, mark: { kind: "quote", judgement: 0 } } as const;
  const text = "0123456789abcdefghij";
  const [line] = replyLines(text, [quote, attempts]);
  expect(line && linePieces(text, line).map(({ text, marks }) => [text, marks.map(({ kind }) => kind)])).toEqual([
    ["01234", ["attempts"]],
    ["56789", ["attempts", "quote"]],
    ["abcde", ["quote"]],
    ["fghij", []],
  ]);
});

it("a span over several lines marks each of them", () => {
  const lines = replyLines("ab\ncd\nef", [{ start: 1, end: 7, mark: { kind: "quote", judgement: 0 } }]);
  expect(lines.map(({ spans }) => spans.length)).toEqual([1, 1, 1]);
});

it("whatever the text, its pieces put together are its lines, none longer than 401 units", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 2000 }), fc.nat(2000), fc.nat(300), (text, start, length) => {
      const mark = { kind: "quote", judgement: 0 } as const;
      const lines = replyLines(text, [{ start, end: start + length, mark }]);
      const shown = lines.map((line) =>
        linePieces(text, line)
          .map((piece) => piece.text)
          .join(""),
      );
      expect(shown.join("")).toBe(text.replace(/\r?\n/g, ""));
      expect(Math.max(...shown.map((line) => line.length))).toBeLessThanOrEqual(401);
    }),
  );
});

it("rows of a conversation stand below their turn and what was said, and each attempt finds its row", () => {
  const rows = replyRows(
    [
      { text: "STEP 1", said: null },
      { text: "STEP 2\nend", said: "You loop.\nTurn." },
    ],
    (at) => [{ start: 0, end: 6, mark: { kind: "attempts", first: at, last: at } }],
  );
  expect(rows.map(({ kind }) => kind)).toEqual(["turn", "line", "turn", "said", "said", "line", "line"]);
  expect([...rowsByAttempt(rows, 3)]).toEqual([1, 5, -1]);
});
