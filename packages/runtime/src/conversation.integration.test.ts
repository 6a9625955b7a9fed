import { rescoreSweep } from "@hallumaze/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  ariadneOf,
  type ConversationStage,
  openConversationStage,
  rowsOf,
  saidIn,
  seeds,
  type Talk,
  turnsAsked,
} from "../test/conversation-stage.ts";
import { modelNames, modelOf, type ModelName } from "../test/field-stage.ts";

// Conversations with the vendors' servers over the real SDKs: who is told what, and what is made of the answers.

let stage: ConversationStage;
beforeAll(async () => {
  stage = await openConversationStage();
});
afterAll(() => stage.close());

const never = new AbortController().signal;
const thought = "a thought that is nobody else's";
const firstTurn = { turns: 1 } as const;
const secondTurn = { turns: 2 } as const;
const standard = ["user", "assistant", "user"];
const shownThoughts: readonly ModelName[] = ["anthropic", "deepseek", "compatible"];

const count = (talks: readonly Talk[]) => talks.map(({ exchanges }) => exchanges.length);

describe.each([false, true])("a conversation on the wire, streamed: %s", (stream) => {
  const params: Readonly<Record<string, boolean>> = stream ? { stream } : {};
  // The one interface that is not streamed here says so in its plan.
  const paramsOf = (alias: ModelName) => (alias === "responses" ? {} : params);

  it.each(modelNames)(
    "sends %s exactly two requests: the second is the first, its answer byte for byte, and the hint, without a thought",
    async (alias) => {
      stage.play([{ when: firstTurn, reply: { reasoning: thought } }]);
      const asked = { models: [alias], languages: ["ko"], params: paramsOf(alias) } as const;
      const [talk] = await stage.talks(await stage.converse(`wire ${alias} ${stream}`, asked));
      expect(talk).toMatchObject({ state: "done", outcome: "ok", tries: 1 });
      const [first, second, ...rest] = stage.bodies(modelOf(alias));
      if (first === undefined || second === undefined || talk === undefined) throw new Error("two requests wanted");
      expect(rest).toEqual([]);
      const [before, after] = [saidIn(first), saidIn(second)];
      const [answer] = talk.exchanges;
      expect(before.system).not.toBe("");
      expect(after.system).toBe(before.system);
      expect(after.turns.map(({ role }) => role)).toEqual(alias === "google" ? ["user", "model", "user"] : standard);
      const [prompt, said, hint] = after.turns.map(({ text }) => text);
      expect(prompt).toBe(before.turns[0]?.text);
      expect(said).toBe(answer?.text);
      expect(said).toContain("STEP 8");
      expect(hint).toMatch(/^마지막 답변의 탐색에 대한 기록:\n/u);
      expect(hint).toContain("이 내용을 활용해");
      expect(answer?.reasoning).toBe(shownThoughts.includes(alias) ? thought : null);
      expect(second.bodyText).not.toContain(thought);
      expect(second.path).toBe(first.path);
    },
  );
});

describe("the first request", () => {
  it.each(modelNames)("of groups A, B and C is byte for byte the same, on %s", async (alias) => {
    stage.play([]);
    await stage.talks(await stage.converse(`first ${alias}`, { models: [alias], groups: ["A", "B", "C"] }));
    const requests = stage.bodies(modelOf(alias));
    const first = requests.filter((request) => saidIn(request).turns.length === 1);
    expect(first).toHaveLength(3);
    expect(new Set(first.map(({ bodyText }) => bodyText)).size).toBe(1);
    expect(requests).toHaveLength(6);
  });
});

describe("who is told something", () => {
  it("nobody whose first answer is right: one request in each group, counted as solved at once", async () => {
    stage.play([]);
    const sweep = await stage.converse("solved", { groups: ["A", "B", "C"], seeds: [seeds.solved] });
    expect(count(await stage.talks(sweep))).toEqual([1, 1, 1]);
    const told = (await rowsOf(stage.store, sweep)).map(ariadneOf);
    expect(told).toMatchObject(
      ["A", "B", "C"].map((group) => ({ group, solvedAtOnce: true, triggers: [], hints: [], shadow: null })),
    );
  });

  it("in group C everyone whose answer is not right, also where nothing would trigger a hint in B", async () => {
    stage.play([{ when: firstTurn, reply: { solver: "oracle", append: "\nFINAL_PATH: (0,0) → (0,1)" } }]);
    const sweep = await stage.converse("note", { groups: ["A", "B", "C"], seeds: [seeds.lost] });
    const talks = await stage.talks(sweep);
    expect(count(talks)).toEqual([1, 1, 2]);
    const [a, b, c] = (await rowsOf(stage.store, sweep)).map(ariadneOf);
    const untold = { solvedAtOnce: false, noWalk: false, triggers: [], hints: [], shadow: null };
    expect(a).toEqual({ group: "A", ...untold });
    expect(b).toEqual({ group: "B", ...untold });
    expect(c).toMatchObject({ group: "C", solvedAtOnce: false, triggers: [], hints: [{ kind: "note", triggers: [] }] });
    // The trials run side by side: the note need not be in the request that came last.
    const said = stage.bodies("llama3.1:70b").map(saidIn);
    const note = (said.find(({ turns }) => turns.length > 1) ?? missing()).turns.at(-1)?.text;
    expect(note).toContain("does not yet hold one complete and unbroken route");
    expect(note).not.toContain("Please");
  });

  it("nobody without a walk: an answer that is no answer gets no hint, no note and no shadow", async () => {
    stage.play([{ reply: { text: "I will not do that. I'm sorry, I cannot help with this." } }]);
    const sweep = await stage.converse("no walk", { groups: ["A", "B", "C"] });
    expect(count(await stage.talks(sweep))).toEqual([1, 1, 1]);
    const told = (await rowsOf(stage.store, sweep)).map(ariadneOf);
    expect(told).toMatchObject(["A", "B", "C"].map((group) => ({ group, noWalk: true, triggers: [], hints: [] })));
  });

  it("in group A by one neutral turn, its shadow, where B is in the sweep", async () => {
    stage.play([]);
    const sweep = await stage.converse("shadow", { groups: ["A", "B"] });
    const talks = await stage.talks(sweep);
    expect(count(talks)).toEqual([2, 2]);
    const [a] = await rowsOf(stage.store, sweep);
    // This model does not take a request to go on for a hint: its shadow stays lost.
    expect(ariadneOf(a)).toMatchObject({ group: "A", hints: [], shadow: { score: 0, sr: 0 } });
    const last = JSON.parse(talks[0]?.exchanges[1]?.request ?? "") as { messages: { content: string }[] };
    expect(last.messages.at(-1)?.content).toBe("Please continue in the same format, with FINAL_PATH as the last line.");
  });

  it.each([
    ["B is not in the sweep", { groups: ["A", "C"] }],
    ["the spec wants no shadow", { groups: ["A", "B"], ariadne: { shadow: false } }],
  ] as const)("in group A nobody where %s", async (is, asked) => {
    stage.play([]);
    const sweep = await stage.converse(is, asked);
    expect(count(await stage.talks(sweep))).toEqual([1, 2]);
    const [a] = await rowsOf(stage.store, sweep);
    expect(ariadneOf(a)).toBeUndefined();
  });

  it("up to as many hints as the spec says, one more only while the model is lost", async () => {
    stage.play([
      { when: { turns: 3 }, reply: { solver: "oracle" } },
      { when: secondTurn, reply: { solver: "hint-deaf" } },
    ]);
    const asked = { groups: ["B"], ariadne: { hints: 2 } } as const;
    const deaf = await stage.converse("two hints", asked);
    expect(count(await stage.talks(deaf))).toEqual([3]);
    const [row] = await rowsOf(stage.store, deaf);
    expect(ariadneOf(row)).toMatchObject({ hints: [{ score: 0 }, { score: 1, latency: 1 }] });
    stage.play([]);
    const taker = await stage.converse("one of two hints", asked);
    expect(count(await stage.talks(taker))).toEqual([2]);
    expect(ariadneOf((await rowsOf(stage.store, taker))[0])).toMatchObject({ hints: [{ score: 1 }] });
  });
});

describe("the shadow of group A", () => {
  it("takes nothing from A's scores: they are those of the same answer without it, bit for bit", async () => {
    stage.play([]);
    const both = { seeds: [1, 2, 3, 4, 5, 6] };
    const shadowed = await stage.converse("shadowed", { ...both, groups: ["A", "B"] });
    const plain = await stage.converse("plain", { ...both, groups: ["A"] });
    await stage.talks(shadowed);
    await stage.talks(plain);
    const withShadow = (await rowsOf(stage.store, shadowed)).filter(({ group }) => group === "A");
    const without = await rowsOf(stage.store, plain);
    expect(withShadow.filter((row) => JSON.stringify(ariadneOf(row)).includes('"shadow":{'))).not.toEqual([]);
    const bare = withShadow.map((row) => {
      const { ariadne: _apart, ...reading } = JSON.parse(row.readingJson ?? "") as Record<string, unknown>;
      return { ...row, readingJson: JSON.stringify(reading) };
    });
    expect(bare).toEqual(without);
  });
});

describe("an answer to a hint", () => {
  const hintOf = async (name: string, asked: Parameters<ConversationStage["converse"]>[1] = {}) => {
    const sweep = await stage.converse(name, asked);
    const [talk] = await stage.talks(sweep);
    const [row] = await rowsOf(stage.store, sweep);
    return { talk, hints: (ariadneOf(row) as { hints: unknown } | undefined)?.hints, sweep };
  };

  it("that is empty is asked for once more; the next one counts", async () => {
    stage.play([{ when: secondTurn, nth: 1, reply: { text: "" } }]);
    const { talk, hints } = await hintOf("empty once");
    expect(talk).toMatchObject({ state: "done", outcome: "ok", tries: 1, empties: 1 });
    expect(turnsAsked(stage.bodies("llama3.1:70b"))).toEqual([0, 1, 1]);
    expect(hints).toMatchObject([{ score: 1, latency: 1, censored: false }]);
  });

  it("that stays empty is no response: 0, and the trial is done", async () => {
    stage.play([{ when: secondTurn, reply: { text: "" } }]);
    const { talk, hints } = await hintOf("empty twice");
    expect(talk).toMatchObject({ state: "done", tries: 1, empties: 1 });
    expect(turnsAsked(stage.bodies("llama3.1:70b"))).toEqual([0, 1, 1]);
    expect(hints).toMatchObject([{ score: 0, latency: null, censored: false }]);
  });

  it("that is empty is not asked for again where the spec says `empty: 0`", async () => {
    stage.play([{ when: secondTurn, reply: { text: "" } }]);
    const { talk, hints } = await hintOf("empty at most", { retries: { empty: 0 } });
    expect(talk).toMatchObject({ state: "done", empties: 0 });
    expect(turnsAsked(stage.bodies("llama3.1:70b"))).toEqual([0, 1]);
    expect(hints).toMatchObject([{ score: 0, censored: false }]);
  });

  it("that is a refusal counts 0, and is bought once", async () => {
    stage.play([{ when: secondTurn, reply: { text: "I'm sorry, but I cannot help with this request." } }]);
    const { talk, hints } = await hintOf("refused");
    expect(talk).toMatchObject({ state: "done" });
    expect(turnsAsked(stage.bodies("llama3.1:70b"))).toEqual([0, 1]);
    expect(hints).toMatchObject([{ score: 0, latency: null, censored: false }]);
  });

  it("that was cut off before a response is censored, and is bought once", async () => {
    stage.play([
      { when: secondTurn, reply: { text: "STEP 9: (0,0) → [S↓] | Confidence: 80% | open", finish: "length" } },
    ]);
    const { talk, hints } = await hintOf("cut off");
    expect(talk).toMatchObject({ state: "done" });
    expect(turnsAsked(stage.bodies("llama3.1:70b"))).toEqual([0, 1]);
    expect(hints).toMatchObject([{ score: null, latency: null, censored: true }]);
  });

  it("that was cut off after its response counts", async () => {
    stage.play([{ when: secondTurn, reply: { finish: "length" } }]);
    const { hints } = await hintOf("cut off late");
    expect(hints).toMatchObject([{ score: 1, censored: false }]);
  });
});

describe("a first answer that no JSON text holds as it stands", () => {
  it.each(["anthropic", "openai", "responses", "google"] as const)(
    "with NUL and half surrogate pairs goes back to %s as valid text, and stays in the ledger as it came",
    async (alias) => {
      const odd = "\n\u0000 half \uD83D, other half \uDE00, whole \u{1F600}\n";
      stage.play([{ when: firstTurn, reply: { append: odd } }]);
      const sweep = await stage.converse(`odd ${alias}`, { models: [alias] });
      const [talk] = await stage.talks(sweep);
      expect(talk).toMatchObject({ state: "done", outcome: "ok" });
      const [, second] = stage.bodies(modelOf(alias));
      const said = saidIn(second ?? missing()).turns[1]?.text;
      expect(said ?? "\ud800").not.toMatch(/\p{Surrogate}/u);
      expect(said?.endsWith("\u0000 half \u{FFFD}, other half \u{FFFD}, whole \u{1F600}\n")).toBe(true);
      const pages = stage.store.streamReplies(sweep.sweepId, 10);
      for await (const page of pages) expect(page[0]?.replies[0]?.text.endsWith(odd)).toBe(true);
      expect(talk?.exchanges[0]?.rawBody).toContain("\\u0000 half \\ud83d, other half \\ude00");
      const before = await rowsOf(stage.store, sweep);
      await rescoreSweep(stage.store, sweep, never);
      expect(await rowsOf(stage.store, sweep)).toEqual(before);
    },
  );
});

function missing(): never {
  throw new Error("a request is missing");
}
