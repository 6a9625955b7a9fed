import { describe, expect, it } from "vitest";

import type { Question } from "./dialect.ts";
import { openaiChat } from "./openai-chat.ts";
import { matchesPattern, playScript } from "./play-script.ts";
import type { Rule } from "./script-schema.ts";

function incoming(change: { model?: string; prompt?: string; connection?: number; key?: string; more?: object } = {}) {
  const content = change.prompt ?? "hello";
  const body = { model: change.model ?? "gpt-4o", messages: [{ role: "user", content }], ...change.more };
  const question = openaiChat.read(body, "openai", "/v1/chat/completions") as Question;
  return { question, dialect: openaiChat, key: change.key ?? "k", connection: change.connection ?? 1 };
}

/** Plays requests in order and tells each rule's failure, `-` where none applied. */
function play(rules: readonly Rule[], requests: readonly ReturnType<typeof incoming>[], seed = 1): string {
  const player = playScript(rules, seed);
  const kinds = requests.map((request) => player.next(request)?.fail);
  return kinds.map((kind) => (typeof kind === "string" ? kind : "-")).join(" ");
}

const times = (count: number) => Array.from({ length: count }, () => incoming());

describe("playScript", () => {
  it.each([
    ["the first two", { nth: [1, 2] }, "auth auth - - - -"],
    ["a range", { nth: { from: 2, to: 3 } }, "- auth auth - - -"],
    ["every third", { nth: { every: 3 } }, "- - auth - - auth"],
    ["at most four", { times: 4 }, "auth auth auth auth - -"],
    ["one alone", { nth: 5 }, "- - - - auth -"],
  ] as const)("applies a rule to %s", (_what, when, expected) => {
    expect(
      play([{ ...when, nth: "nth" in when ? (when.nth as Rule["nth"]) : undefined, fail: "auth" }], times(6)),
    ).toBe(expected);
  });

  it("lets the first rule that applies decide and goes on to the next where it does not", () => {
    const rules: Rule[] = [
      { nth: 1, fail: "overloaded" },
      { nth: 2, fail: "unavailable" },
    ];
    // The second rule does not see the request that the first one took.
    expect(play(rules, times(3))).toBe("overloaded - unavailable");
  });

  it("counts by conversation where asked to", () => {
    const [a, b] = [incoming({ prompt: "a" }), incoming({ prompt: "b" })];
    expect(play([{ countBy: "prompt", nth: 1, fail: "overloaded" }], [a, b, a, b])).toBe("overloaded overloaded - -");
  });

  it("counts by connection where asked to", () => {
    const [first, second] = [incoming({ connection: 1 }), incoming({ connection: 2 })];
    expect(play([{ countBy: "connection", nth: 2, fail: "auth" }], [first, second, first, second])).toBe(
      "- - auth auth",
    );
  });

  it("looks at model, key, text and parameters", () => {
    const rules: Rule[] = [
      { when: { model: "o3*" }, fail: "overloaded" },
      { when: { key: "bad" }, fail: "auth" },
      { when: { contains: "maze" }, fail: "server_error" },
      { when: { parameter: "temperature" }, fail: "unsupported_parameter" },
    ];
    const requests = [
      incoming({ model: "o3-mini" }),
      incoming({ key: "bad" }),
      incoming({ prompt: "a maze" }),
      incoming({ more: { temperature: 0 } }),
      incoming(),
    ];
    expect(play(rules, requests)).toBe("overloaded auth server_error unsupported_parameter -");
  });

  it("draws a share of the requests by its seed alone", () => {
    const rules: Rule[] = [{ probability: 0.2, fail: "overloaded" }];
    const drawn = play(rules, times(1000), 7);
    expect(play(rules, times(1000), 7)).toBe(drawn);
    expect(play(rules, times(1000), 8)).not.toBe(drawn);
    expect(drawn.match(/overloaded/g)?.length).toBeGreaterThan(160);
    expect(drawn.match(/overloaded/g)?.length).toBeLessThan(240);
  });

  it("refuses a rule with an unknown field", () => {
    expect(() => playScript([{ fial: "auth" } as Rule], 0)).toThrow(/fial/);
  });
});

describe("matchesPattern", () => {
  it.each([
    ["*", "anything", true],
    ["openai/*", "openai/gpt-4o", true],
    ["openai/*", "google/gpt-4o", false],
    ["*mini", "gpt-4o-mini", true],
    ["a*b*c", "a-b-c", true],
    ["a*b*c", "a-c", false],
    ["aba*aba", "aba", false],
    ["gpt.4o", "gpt-4o", false],
  ])("%s on %s: %s", (pattern, name, expected) => {
    expect(matchesPattern(pattern, name)).toBe(expected);
  });
});
