import type { Rule } from "@hallumaze/mock-providers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  type Fate,
  type FieldStage,
  type FieldSweep,
  modelNames,
  type ModelName,
  openFieldStage,
} from "../test/field-stage.ts";

// Cases of field reports: each is played by the vendors' servers to the real SDKs, on every wire format it can meet.

let stage: FieldStage;
beforeAll(async () => {
  stage = await openFieldStage({}, { deadlines: { headerMs: 2500, idleMs: 1500, totalMs: 4000 } });
  stage.workPaced();
});
afterAll(() => stage.close());

/** How a trial ended and what each of its tries was; null is a reply. */
interface End {
  readonly state: string;
  readonly outcome: string;
  readonly tries: readonly (string | null)[];
  readonly side?: readonly string[];
}

interface Case {
  readonly is: string;
  readonly rules: readonly Rule[];
  readonly asked?: FieldSweep;
  readonly end: End;
  /** Where a vendor's words mean something else. */
  readonly but?: Partial<Record<ModelName, End>>;
}

const first = { countBy: "model", nth: 1 } as const;
const once = (outcome: string): End => ({ state: "failed", outcome, tries: [outcome] });
const answered = (...tries: readonly string[]): End => ({ state: "done", outcome: "ok", tries: [...tries, null] });
const result = (outcome: string): End => ({ state: "done", outcome, tries: [null] });
const streamed: FieldSweep = { params: { stream: true } };
const single: FieldSweep = { tries: 1 };

/** Plays a case; checks that the server saw exactly the requests that were recorded. */
async function play(name: string, rules: readonly Rule[], asked: FieldSweep = {}): Promise<readonly Fate[]> {
  stage.play(rules);
  const fates = await stage.fates(await stage.sweep(name, asked));
  const recorded = Object.fromEntries(modelNames.map((alias) => [alias, 0])) as Record<ModelName, number>;
  for (const { alias, exchanges } of fates) {
    for (const { side } of exchanges) recorded[alias] += 1 + side.length;
  }
  expect(stage.requests()).toEqual(recorded);
  return fates;
}

const endOf = ({ state, outcome, exchanges }: Fate) => ({
  state,
  outcome,
  tries: exchanges.map((exchange) => exchange.outcome),
  side: exchanges.flatMap(({ side }) => side),
});

describe("what a reply is taken for, and how often it is asked for", () => {
  const cases: readonly Case[] = [
    {
      is: "an error inside a 200 is that error and is asked again (T58, T59)",
      rules: [{ ...first, respond: { body: { error: { code: 502, message: "bad gateway" } } } }],
      end: answered("transient_server"),
    },
    {
      is: "a 429 inside a 200 waits as a 429 does (T58)",
      rules: [{ ...first, respond: { body: { error: { code: 429, message: "slow down" } } } }],
      end: answered("rate_limited"),
    },
    {
      is: "an answer that is null is no answer: nothing is scored (T58, T60)",
      rules: [{ reply: { shape: "choices_null" } }],
      asked: single,
      end: once("unparseable_body"),
    },
    {
      is: "an answer without choices is empty, asked for once more (T58)",
      rules: [{ reply: { shape: "choices_empty" } }],
      end: { state: "done", outcome: "empty", tries: [null, null] },
    },
    {
      is: "an empty body is no answer and is asked again (T55)",
      rules: [{ ...first, reply: { shape: "empty_body" } }],
      end: answered("unparseable_body"),
    },
    {
      is: "blank lines longer than any silence allowed, then the answer, are an answer (T55)",
      rules: [{ delivery: { filler: { lines: 12, everyMs: 150 } } }],
      end: answered(),
    },
    {
      is: "keep-alive comments longer than any silence allowed, then the stream, are an answer (T55)",
      rules: [{ delivery: { filler: { lines: 12, everyMs: 150 } } }],
      asked: streamed,
      end: answered(),
    },
    {
      is: "filler that never ends is a timeout by the deadline (T55)",
      rules: [{ delivery: { filler: { lines: 1000, everyMs: 100 } } }],
      asked: single,
      end: once("timeout"),
    },
    {
      is: "an answer cut by its length is bought once (T41)",
      rules: [{ reply: { finish: "length", text: "STEP 1: (0,0) → [S↓]" } }],
      end: result("truncated"),
    },
    {
      is: "thoughts that use up the whole limit are bought once (T41, T50)",
      rules: [{ reply: { finish: "length", text: "", usage: { outputTokens: 2500, reasoningTokens: 2500 } } }],
      end: result("truncated_in_reasoning"),
    },
    {
      is: "an answer in the reasoning alone is empty: never read from there, asked for once more (T56)",
      rules: [{ reply: { text: "", reasoning: "FINAL_PATH: (0,0) → (1,0)" } }],
      end: { state: "done", outcome: "empty", tries: [null, null] },
    },
    {
      is: "a prompt that the server cut is not scored and not sent again (T63)",
      rules: [{ reply: { usage: { inputTokens: 100 } } }],
      end: { state: "failed", outcome: "prompt_truncated", tries: [null] },
    },
    {
      is: "an answer that is held back is filtered, not asked again (T64)",
      rules: [{ reply: { finish: "safety", text: "" } }],
      end: once("filtered"),
      but: { anthropic: result("refused") },
    },
    {
      is: "a stream that ends after three pieces is asked again, its part not scored (T66)",
      rules: [{ ...first, delivery: { cut: { afterEvents: 3 } } }],
      asked: streamed,
      end: answered("transport"),
    },
    {
      is: "an error as an event of the stream is that error (T66)",
      rules: [{ ...first, delivery: { errorEvent: { afterEvents: 2, kind: "server_error" } } }],
      asked: streamed,
      end: answered("transient_server"),
    },
    {
      is: "an overload three times, then an answer, is an answer (T18)",
      rules: [{ countBy: "model", nth: { to: 3 }, fail: { kind: "overloaded", retryAfterMs: 200 } }],
      end: answered("overloaded", "overloaded", "overloaded"),
    },
    {
      is: "a parameter that the model refuses is left out once, in the same try (T51)",
      rules: [{ ...first, fail: { kind: "unsupported_parameter", param: "seed" } }],
      asked: { params: { seed: 7 } },
      end: { ...answered(), side: ["repair"] },
    },
    {
      is: "a second refused parameter ends the trial, with tries left (T51)",
      rules: [
        { ...first, fail: { kind: "unsupported_parameter", param: "seed" } },
        { fail: { kind: "unsupported_parameter", param: "top_p" } },
      ],
      asked: { params: { seed: 7, top_p: 0.9 } },
      end: { ...once("bad_request"), side: ["repair"] },
    },
  ];

  it.each(cases)("$is", async ({ is, rules, asked, end, but }) => {
    const fates = await play(is.replace(/[^a-z0-9 ]/gi, "").slice(0, 60), rules, asked);
    const expected = modelNames.map((alias) => ({ alias, side: [], ...(but?.[alias] ?? end) }));
    expect(fates.map((fate) => ({ alias: fate.alias, ...endOf(fate) }))).toEqual(expected);
    for (const { state, scores } of fates) expect(scores > 0).toBe(state === "done");
  });
});
