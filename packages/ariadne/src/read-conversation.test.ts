import { scoreRobust, scoreSeed } from "@hallumaze/metrics";
import { describe, expect, it } from "vitest";

import { answer, cutOff, maze, setting, solution, wayOut } from "../test/written-answers.ts";
import type { ConversationReply, ConversationSetting } from "./converse.ts";
import type { HintResponse } from "./judge-response.ts";
import { type ConversationResult, readConversation } from "./read-conversation.ts";

const say = (text: string): ConversationReply => ({ text, finishReason: "stop" });
const read = (replies: readonly ConversationReply[], rest: Partial<ConversationSetting> = {}): ConversationResult =>
  readConversation(setting(rest), replies, "strict");
const robustMei = ({ reading, walk }: ConversationResult): number =>
  scoreRobust(maze, reading, walk, { confidenceAsked: true }).mei;

const lost = answer(["(0,0) S", "(1,0) N"]);
const solved = answer(wayOut, { after: [solution] });
const empty = say("");

describe("what a trial is scored on", () => {
  it("in group A is the first answer alone, whatever the shadow does", () => {
    const alone = read([lost], { group: "A" });
    const shadowed = read([lost, solved], { group: "A" });
    expect([shadowed.reading, shadowed.walk]).toEqual([alone.reading, alone.walk]);
    expect(shadowed.walk.sr).toBe(0);
    expect(shadowed.record?.shadow).toMatchObject({ score: 1, latency: 1, censored: false, sr: 1, meiSeed: 0.9 });
    expect(shadowed.record?.shadow?.meiRobust).toBeGreaterThan(0.9);
  });

  it("in groups B and C is the walk through the whole conversation", () => {
    for (const group of ["B", "C"] as const) {
      const { walk, reading } = read([lost, solved], { group });
      expect(walk).toMatchObject({ sr: 1, hc: 0, passes: 2, loopEvents: 0 });
      expect(walk.steps).toHaveLength(14);
      expect(reading.finalPath).toEqual(maze.solution);
    }
  });

  it("goes on where the log stands, without a restart too", () => {
    const { walk } = read([answer(wayOut.slice(0, 6)), answer(wayOut.slice(6), { first: 7, after: [solution] })]);
    expect(walk).toMatchObject({ sr: 1, hc: 0, passes: 1, loopEvents: 0, excessMoves: 0 });
    expect(walk.steps.every(({ relocation }) => relocation === null)).toBe(true);
  });

  it("numbers lines and claims on through the answers", () => {
    const claiming = answer(["(0,0) S", "(1,0) N", "(0,0) S"], {
      first: 3,
      after: ["LOOP detected at (1,0) — visited at step 1"],
    });
    const { reading, walk } = read([lost, claiming]);
    expect(reading.attempts.map(({ line }) => line)).toEqual([0, 1, 2, 3, 4]);
    expect(reading.claims).toMatchObject([{ kind: "loop", afterAttempt: 5 }]);
    expect(walk).toMatchObject({ lt: 1, falseClaims: 0, loopEvents: 3 });
  });

  it("keeps the errors of earlier answers", () => {
    const bumping = answer(["(0,0) E", "(0,0) S"]);
    expect(read([bumping, solved]).walk).toMatchObject({ sr: 1, hc: 1, fhr: 1 });
  });

  it("is decided by the answer before a non-answer", () => {
    const first = read([lost]);
    for (const reply of [empty, say("I'm sorry, but I can't help with that."), say("FINAL_PATH: N/A")]) {
      const { reading, walk } = read([lost, reply]);
      expect([reading, walk]).toEqual([first.reading, first.walk]);
    }
  });

  it("takes the outcome of the last answer that walks, a cut-off one included", () => {
    expect(read([lost, cutOff(answer(wayOut.slice(0, 3)))]).reading.outcome).toBe("truncated");
    expect(read([cutOff(lost), empty]).reading.outcome).toBe("truncated");
    expect(read([cutOff(lost), solved]).reading.outcome).toBe("ok");
  });

  it("lets a later FINAL_PATH replace an earlier one", () => {
    const wrong = answer(["(0,0) S"], { after: ["FINAL_PATH: (0,0)→(4,4)"] });
    expect(read([wrong]).walk).toMatchObject({ hc: 1, finalPathErrors: 1 });
    expect(read([wrong, solved]).walk).toMatchObject({ sr: 1, hc: 0 });
  });

  describe("where the last answer has a log and no FINAL_PATH", () => {
    it("is solved by that log alone, though the conversation's is not clean", () => {
      const { walk } = read([answer(["(0,0) E"]), answer(wayOut)]);
      expect(walk).toMatchObject({ sr: 1, hc: 1, excessMoves: 0, simplePath: true });
    });

    it("is solved by the conversation's log, though it starts midway", () => {
      const { walk } = read([answer(wayOut.slice(0, 6)), answer(wayOut.slice(6), { first: 7 })]);
      expect(walk).toMatchObject({ sr: 1, hc: 0, excessMoves: 0 });
    });

    it("is unsolved where neither is clean", () => {
      const { walk } = read([answer(["(0,0) E", ...wayOut.slice(0, 6)]), answer(wayOut.slice(6), { first: 8 })]);
      expect(walk.sr).toBe(0);
    });

    it("is unsolved where the model gives up", () => {
      expect(read([lost, answer(wayOut, { after: ["FINAL_PATH: N/A"] })]).walk.sr).toBe(0);
    });
  });

  describe("where an answer is a FINAL_PATH alone", () => {
    it("and no answer has a log, its pairs are attempts, and no log shows them", () => {
      const result = read([say("FINAL_PATH: (0,0)→(1,0)→(1,1)"), say(solution)]);
      expect(result.walk).toMatchObject({ sr: 1, source: "finalPath", passes: 2, loopEvents: 0, hc: 0 });
      expect(result.walk.steps).toHaveLength(14);
      expect(robustMei(result)).toBe(robustMei(read([say(solution)])));
    });

    it("and an earlier one has a log, it is judged as FINAL_PATH: it cannot show itself", () => {
      const result = read([lost, say(solution)]);
      expect(result.walk).toMatchObject({ sr: 1, source: "log" });
      expect(result.walk.steps).toHaveLength(2);
      expect(robustMei(result)).toBeLessThan(0.4);
      expect(robustMei(read([lost, solved]))).toBeGreaterThan(0.9);
    });

    it("and a later one has a log, its pairs stay attempts with their errors", () => {
      const { walk } = read([say("FINAL_PATH: (0,0)→(0,1)→(0,2)"), solved]);
      expect(walk).toMatchObject({ sr: 1, source: "log", hc: 1, wallAttempts: 1 });
    });
  });

  it("leaves replies aside that no turn asked for", () => {
    expect(read([solved, lost])).toEqual(read([solved]));
    expect(read([lost, lost, solved], { hints: 1 })).toEqual(read([lost, lost], { hints: 1 }));
    expect(read([lost, solved], { group: "A", shadow: false })).toEqual(read([lost], { group: "A", shadow: false }));
  });

  it("gives a one-answer conversation exactly the scores of its answer", () => {
    const { reading, walk } = read([solved]);
    expect(scoreSeed(reading, walk, maze).mei).toBe(0.9);
    expect(walk.steps).toHaveLength(12);
  });

  it("reads leniently what is scored, and decides on turns strictly", () => {
    const oneBased = answer(wayOut.map((move) => move.replace(/\d/g, (digit) => String(Number(digit) + 1))));
    const { walk, record } = readConversation(setting(), [oneBased, empty], "lenient");
    expect(walk.sr).toBe(1);
    expect(record).toMatchObject({ solvedAtOnce: false, hints: [{ kind: "hint", score: 0 }] });
  });
});

describe("the record", () => {
  it("is null where group A has no shadows: a plain trial", () => {
    expect(read([lost], { group: "A", shadow: false }).record).toBeNull();
  });

  it("says that a trial was solved at once", () => {
    expect(read([solved]).record).toEqual({
      group: "B",
      solvedAtOnce: true,
      noWalk: false,
      triggers: [],
      hints: [],
      shadow: null,
    });
  });

  it("counts a turn only once it is answered", () => {
    expect(read([lost]).record).toMatchObject({ triggers: ["short"], hints: [] });
    expect(read([lost], { group: "A" }).record).toMatchObject({ triggers: ["short"], shadow: null });
  });

  it("keeps every hint with what triggered it", () => {
    const looping = answer(["(0,0) S", "(1,0) N", "(0,0) S"]);
    expect(read([lost, looping, solved], { hints: 2 }).record?.hints).toEqual([
      { kind: "hint", triggers: ["short"], score: 0, latency: null, censored: false },
      { kind: "hint", triggers: ["loop", "short"], score: 1, latency: 1, censored: false },
    ]);
  });

  it("is plain JSON", () => {
    const { record } = read([lost, solved], { group: "A" });
    expect(JSON.parse(JSON.stringify(record))).toEqual(record);
  });
});

describe("a response to a hint", () => {
  const first = answer(["(0,0) S", "(1,0) E"]);
  const respond = (reply: ConversationReply, before = first): HintResponse | undefined =>
    read([before, reply]).record?.hints[0];
  const inTime = (latency: number): object => ({ score: (5 - latency + 1) / 5, latency, censored: false });
  const never = { score: 0, latency: null, censored: false };

  it("is the first legal attempt into a cell that the conversation had not reached", () => {
    expect(respond(answer(["(1,1) E"], { first: 3 }))).toMatchObject(inTime(1));
  });

  it("costs nothing to retrace known cells, from START or by a rewind", () => {
    expect(respond(answer(["(0,0) S", "(1,0) E", "(1,1) E"]))).toMatchObject(inTime(1));
    expect(respond(answer(["(0,0) S", "(1,0) E", "(1,1) E"], { first: 3 }))).toMatchObject(inTime(1));
  });

  it("costs an attempt each time that a directed edge is used again in this answer, in a new pass too", () => {
    const twice = ["(0,0) S", "(1,0) N", "(0,0) S", "(1,0) E", "(1,1) E"];
    expect(respond(answer(twice))).toMatchObject(inTime(2));
    const passes = say(`${answer(["(0,0) S", "(1,0) E"]).text}\n${answer(["(0,0) S", "(1,0) E", "(1,1) E"]).text}`);
    expect(respond(passes)).toMatchObject(inTime(3));
  });

  it("costs an attempt for each error, and for each move from a cell that the log only claims", () => {
    expect(respond(answer(["(1,1) N", "(1,1) S", "(1,1) E"], { first: 3 }))).toMatchObject(inTime(3));
    expect(respond(answer(["(1,1) N", "(0,1) E", "(1,1) E"], { first: 3 }))).toMatchObject(inTime(3));
  });

  it("scores 0 where it comes after the window, or not at all", () => {
    const bumps = Array.from({ length: 5 }, () => "(1,1) N");
    expect(respond(answer([...bumps.slice(1), "(1,1) E"], { first: 3 }))).toMatchObject(inTime(5));
    expect(respond(answer([...bumps, "(1,1) E"], { first: 3 }))).toMatchObject(never);
    expect(respond(answer(["(0,0) S"]))).toMatchObject(never);
  });

  it("is none where it is only claimed: a new cell behind a wall, a leap, a promise", () => {
    expect(respond(answer(["(1,1) S", "(2,1) E"], { first: 3 }))).toMatchObject(never);
    expect(respond(answer(["(2,3) S"], { first: 3 }))).toMatchObject(never);
    expect(respond(say("Thank you for the hint! I will now look at new openings."))).toMatchObject(never);
  });

  it("scores 0 for a refusal, an empty answer and a give-up: the model's own doing", () => {
    for (const reply of [empty, say("I'm sorry, but I can't help with that."), say("FINAL_PATH: N/A")]) {
      expect(respond(reply)).toMatchObject(never);
    }
  });

  it("is censored only by a technical cut before it, and before the window was used up", () => {
    const censored = { score: null, latency: null, censored: true };
    expect(respond(cutOff(answer(["(0,0) S"])))).toMatchObject(censored);
    expect(respond({ text: "<think>hm", finishReason: "length" })).toMatchObject(censored);
    expect(respond({ text: "", finishReason: "content_filter" })).toMatchObject(censored);
    expect(respond(cutOff(answer(["(0,0) S", "(1,0) E", "(1,1) E"])))).toMatchObject(inTime(1));
    const bumps = Array.from({ length: 5 }, () => "(1,1) N");
    expect(respond(cutOff(answer(bumps, { first: 3 })))).toMatchObject(never);
  });

  it("is read from FINAL_PATH alone, and from the log where both stand", () => {
    expect(respond(say("FINAL_PATH: (0,0)→(1,0)→(1,1)→(1,2)"))).toMatchObject(inTime(1));
    expect(respond(say("FINAL_PATH: (0,0)→(0,1)→(0,2)"))).toMatchObject(never);
    expect(respond(answer(["(0,0) S"], { after: [solution] }))).toMatchObject(never);
  });

  it("is also EXIT, where an earlier answer had been there already", () => {
    const brokenPath = answer([...wayOut.slice(0, 2), ...wayOut.slice(0, 2), ...wayOut.slice(2)], {
      after: ["FINAL_PATH: (0,0)→(4,4)"],
    });
    expect(respond(solved, brokenPath)).toMatchObject(inTime(1));
    expect(respond(answer(wayOut.slice(0, 4)), brokenPath)).toMatchObject(never);
  });
});
