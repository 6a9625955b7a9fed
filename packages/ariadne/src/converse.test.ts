import { describe, expect, it } from "vitest";

import { answer, cutOff, setting, solution, wayOut } from "../test/written-answers.ts";
import { nextTurn } from "./converse.ts";
import { readConversation } from "./read-conversation.ts";

const triggersOf = (...moves: readonly string[]): readonly string[] | undefined =>
  readConversation(setting(), [answer(moves)], "strict").record?.triggers;

describe("the trigger of a hint", () => {
  it("is `short` where the walk ends short of EXIT", () => {
    expect(triggersOf("(0,0) S", "(1,0) E")).toEqual(["short"]);
  });

  it("is `loop` where a directed edge is used twice", () => {
    expect(triggersOf("(0,0) S", "(1,0) N", "(0,0) S")).toEqual(["loop", "short"]);
  });

  it("is no `loop` where a branch is left the way it was entered, or a rewind brings the log back", () => {
    expect(triggersOf("(0,0) S", "(1,0) N")).toEqual(["short"]);
    expect(triggersOf(...wayOut.slice(0, 5), "(0,3) W", "(0,2) W", "(0,3) E")).toEqual(["short"]);
  });

  it("is `loop` where rewinds use the same edge again", () => {
    const thereAndBack = ["(0,0) S", "(1,0) E", "(0,0) S", "(1,0) E"];
    expect(triggersOf(...thereAndBack)).toContain("loop");
  });

  it("is no `loop` where the numbering begins again at START", () => {
    const passes = [answer(["(0,0) S", "(1,0) E"]).text, answer(["(0,0) S", "(1,0) E"]).text].join("\n");
    const { record } = readConversation(setting(), [{ text: passes, finishReason: "stop" }], "strict");
    expect(record?.triggers).toEqual(["short"]);
  });

  it("is `repeatedError` where the same wall, edge of the grid or unknown cell is tried twice", () => {
    expect(triggersOf("(0,0) E", "(0,0) E")).toEqual(["repeatedError", "short"]);
    expect(triggersOf("(0,0) N", "(0,0) E", "(0,0) N")).toEqual(["repeatedError", "short"]);
    expect(triggersOf("(3,3) S", "(0,0) S", "(3,3) S")).toContain("repeatedError");
  });

  it("is no `repeatedError` where two errors differ", () => {
    expect(triggersOf("(0,0) E", "(0,0) N", "(0,0) S", "(1,0) S")).toEqual(["short"]);
  });

  it("is `stalled` after 2N attempts in a row that bring nothing new, and not after one fewer", () => {
    const pacing = (rest: number): readonly string[] => [
      "(0,0) S",
      "(1,0) N",
      ...Array.from({ length: rest }, (_, at) => (at % 2 === 0 ? "(0,0) S" : "(1,0) N")),
    ];
    expect(triggersOf(...pacing(9))).toEqual(["loop", "short"]);
    expect(triggersOf(...pacing(10))).toEqual(["loop", "stalled", "short"]);
  });

  it("is none where the walk gets to EXIT without going in circles, accepted or not", () => {
    const broken = answer(wayOut, { after: ["FINAL_PATH: (0,0)→(4,4)"] });
    const { record, walk } = readConversation(setting(), [broken], "strict");
    expect(walk.sr).toBe(0);
    expect(record).toMatchObject({ triggers: [], solvedAtOnce: false, noWalk: false });
    expect(nextTurn(setting(), [broken])).toBeNull();
  });

  it("is decided from the walk: words of loops and dead ends trigger nothing", () => {
    const after = ["LOOP detected at (1,0) — visited at step 1", "I am stuck in a loop, please help.", solution];
    expect(nextTurn(setting(), [answer(wayOut, { after })])).toBeNull();
  });
});

describe("nextTurn", () => {
  const lost = answer(["(0,0) S", "(1,0) N", "(0,0) S", "(1,0) N"]);
  const solved = answer(wayOut, { after: [solution] });

  it("gives group B a hint with an instruction, group C the same as a note, and group A a neutral turn", () => {
    const hint = nextTurn(setting({ group: "B" }), [lost]);
    const note = nextTurn(setting({ group: "C" }), [lost]);
    expect(hint?.kind).toBe("hint");
    expect(note?.kind).toBe("note");
    expect(hint?.text.startsWith(`${note?.text}\n`)).toBe(true);
    expect(nextTurn(setting({ group: "A" }), [lost])).toEqual({
      kind: "continue",
      version: "h1",
      text: "Please continue in the same format, with FINAL_PATH as the last line.",
    });
  });

  it("names what was repeated in the trial's language", () => {
    expect(nextTurn(setting({ language: "en" }), [lost])?.text).toContain("between the cells (0,0) and (1,0)");
    expect(nextTurn(setting({ language: "ko" }), [lost])?.text).toContain("칸 (0,0)과 칸 (1,0) 사이");
  });

  it("ends a conversation that is solved at once, in every group", () => {
    for (const group of ["A", "B", "C"] as const) expect(nextTurn(setting({ group }), [solved])).toBeNull();
  });

  it.each([
    ["an empty answer", { text: "", finishReason: "stop" }],
    ["a refusal", { text: "I'm sorry, but I can't help with that.", finishReason: "refusal" }],
    ["an answer without a move", { text: "The maze looks hard.", finishReason: "stop" }],
    ["an answer cut off while reasoning", { text: "<think>Let me see", finishReason: "length" }],
  ] as const)("ends after %s: there is nothing to hint at, and it is counted", (_, reply) => {
    for (const group of ["A", "B", "C"] as const) {
      expect(nextTurn(setting({ group }), [reply])).toBeNull();
      const { record } = readConversation(setting({ group }), [reply], "strict");
      expect(record).toMatchObject({ noWalk: true, solvedAtOnce: false, triggers: [], hints: [], shadow: null });
    }
  });

  it("gives a note to every unsolved walk, also where nothing triggers a hint", () => {
    const broken = answer(wayOut, { after: ["FINAL_PATH: (0,0)→(4,4)"] });
    expect(nextTurn(setting({ group: "C" }), [broken])?.text).toContain("does not yet hold one complete");
  });

  it("hints at a walk that was cut off", () => {
    expect(nextTurn(setting(), [cutOff(answer(["(0,0) S"]))])?.kind).toBe("hint");
  });

  it("gives no shadow turn where shadows are off", () => {
    expect(nextTurn(setting({ group: "A", shadow: false }), [lost])).toBeNull();
  });

  it("gives no more hints than allowed, and one shadow turn at most", () => {
    const onAndOn = [lost, lost, lost, lost];
    expect(nextTurn(setting({ hints: 1 }), onAndOn.slice(0, 2))).toBeNull();
    expect(nextTurn(setting({ hints: 3 }), onAndOn.slice(0, 2))?.kind).toBe("hint");
    expect(nextTurn(setting({ hints: 3 }), onAndOn.slice(0, 3))?.kind).toBe("hint");
    expect(nextTurn(setting({ hints: 3 }), onAndOn)).toBeNull();
    expect(nextTurn(setting({ group: "A", hints: 3 }), onAndOn.slice(0, 2))).toBeNull();
  });

  it("gives a further hint only for what the hinted answer itself shows", () => {
    const arrived = answer(wayOut, { after: ["FINAL_PATH: (0,0)→(4,4)"] });
    expect(nextTurn(setting({ hints: 3 }), [lost, arrived])).toBeNull();
    expect(nextTurn(setting({ group: "C", hints: 3 }), [lost, arrived])?.kind).toBe("note");
    expect(nextTurn(setting({ hints: 3 }), [lost, solved])).toBeNull();
    expect(nextTurn(setting({ hints: 3 }), [lost, { text: "", finishReason: "stop" }])).toBeNull();
  });

  it("throws where nothing was answered yet", () => {
    expect(() => nextTurn(setting(), [])).toThrow(RangeError);
  });
});
