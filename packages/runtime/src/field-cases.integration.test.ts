import type { FailureKind, Rule } from "@hallumaze/mock-providers";
import { openProviders } from "@hallumaze/providers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  type Fate,
  type FieldStage,
  type FieldSweep,
  modelNames,
  modelOf,
  type ModelName,
  openFieldStage,
} from "../test/field-stage.ts";
import type { SolveWorker } from "./worker.ts";

// Cases of field reports: each is played by the vendors' servers to the real SDKs, on every wire format it can meet.

let stage: FieldStage;
let worker: SolveWorker;
beforeAll(async () => {
  stage = await openFieldStage();
  worker = stage.workPaced({ concurrency: slots });
});
afterAll(() => stage.close());

/** Trials at once in a lane. */
const slots = 4;

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
  /** What else must hold of each trial. */
  readonly also?: (fate: Fate) => void;
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

/** Plays a case to every vendor and compares how its trials ended. */
async function check({ is, rules, asked, end, but, also }: Case): Promise<void> {
  const fates = await play(is.replace(/[^a-z0-9 ]/gi, "").slice(0, 60), rules, asked);
  const expected = modelNames.map((alias) => ({ alias, side: [], ...(but?.[alias] ?? end) }));
  expect(fates.map((fate) => ({ alias: fate.alias, ...endOf(fate) }))).toEqual(expected);
  for (const { state, scores } of fates) expect(scores > 0).toBe(state === "done");
  for (const fate of fates) also?.(fate);
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
      also: ({ alias, exchanges }) => {
        const shown = ["anthropic", "deepseek", "compatible"].includes(alias);
        for (const { reasoning } of exchanges) expect(reasoning).toBe(shown ? "FINAL_PATH: (0,0) → (1,0)" : null);
      },
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
      also: ({ exchanges }) => expect(exchanges[0]?.effective).not.toContain("seed"),
    },
    {
      is: "a second refused parameter ends the trial, with tries left (T51)",
      rules: [
        { ...first, fail: { kind: "unsupported_parameter", param: "seed" } },
        { fail: { kind: "unsupported_parameter", param: "top_p" } },
      ],
      asked: { params: { seed: 7, top_p: 0.9 } },
      end: { ...once("bad_request"), side: ["repair"] },
      also: ({ message }) => expect(message).toContain("top_p"),
    },
  ];

  it.each(cases)("$is", check);
});

describe("one request a try", () => {
  it("but for a reused socket that dies before the reply: sent once more in the same try, and told (T18)", async () => {
    const rules = modelNames.map(
      (alias): Rule => ({
        when: { model: modelOf(alias) },
        countBy: "connection",
        nth: 2,
        times: 1,
        delivery: { reset: "before_headers" },
      }),
    );
    const fates = await play("dead sockets", rules, { seeds: 16, tries: 1 });
    expect(fates.filter(({ state }) => state !== "done")).toEqual([]);
    const resent = fates.filter(({ exchanges }) => exchanges.some(({ side }) => side.length > 0));
    expect(resent.map(({ alias, tries, exchanges }) => [alias, tries, exchanges[0]?.side])).toEqual(
      modelNames.map((alias) => [alias, 1, ["resend"]]),
    );
  });
});

describe("Google's own words for what it holds back", () => {
  it("are kept, each asked for once (T64)", async () => {
    const rules: Rule[] = [
      { ...first, reply: { shape: "prompt_blocked", nativeFinish: "PROHIBITED_CONTENT" } },
      { ...first, reply: { finish: "safety" } },
      { ...first, reply: { finish: "recitation" } },
      { ...first, reply: { finish: "other", text: "" } },
    ];
    const fates = await play("google filters", rules, { models: ["google"], seeds: 4 });
    expect(fates.map(endOf)).toEqual(fates.map(() => ({ ...once("filtered"), side: [] })));
    expect(new Set(fates.map(({ exchanges }) => exchanges[0]?.native))).toEqual(
      new Set(["OTHER", "PROHIBITED_CONTENT", "RECITATION", "SAFETY"]),
    );
  });
});

describe("what answers cost", () => {
  const cost = (fates: readonly Fate[]) =>
    Object.fromEntries(fates.map(({ alias, exchanges }) => [alias, exchanges.map(({ costUsd }) => costUsd)]));

  it("cached tokens have their own price, and the prompt begins with the same bytes for every seed (T42)", async () => {
    const usage = { inputTokens: 1000, cachedTokens: 800, outputTokens: 100 };
    const fates = await play("cached", [{ reply: { usage } }]);
    // Input, cached and output in dollars a million: 1/0.1/5, 2.5/1.25/10, 150/–/600, 0.3/0.03/2.5, 1.32/0.044/3.96.
    expect(cost(fates)).toEqual({
      anthropic: [0.00078],
      compatible: [null],
      deepseek: [0.0006952],
      google: [0.000334],
      openai: [0.0025],
      responses: [0.21],
    });
    await play("cached too", [], { seeds: 2 });
    for (const alias of modelNames) {
      const bodies = stage.mock
        .requests()
        .filter(({ model }) => model === modelOf(alias))
        .map(({ bodyText }) => bodyText);
      expect(bodies).toHaveLength(2);
      expect(bodies[0]).not.toBe(bodies[1]);
      const beforeMaze = bodies.map((body) => body.split("Seed:")[0]);
      expect(beforeMaze[0]).toContain("AI 메타인지");
      expect(beforeMaze[0]).toBe(beforeMaze[1]);
    }
  });

  it("thoughts are paid as output (T50)", async () => {
    const usage = { inputTokens: 1000, outputTokens: 3071, reasoningTokens: 3071 };
    const rules: Rule[] = [{ reply: { finish: "length", text: "", usage } }];
    const fates = await play("thoughts", rules, { models: ["google"], maxTokens: 3072 });
    expect(fates.map(endOf)).toEqual([{ ...result("truncated_in_reasoning"), side: [] }]);
    expect(cost(fates)).toEqual({ google: [0.0079775] });
  });
});

describe("with deadlines of seconds", () => {
  beforeAll(async () => {
    await worker.drain(5000);
    const deadlines = { headerMs: 2000, idleMs: 1000, totalMs: 2500 };
    const provider = openProviders({ variables: stage.mock.environment(), deadlines });
    closeProviders = provider.close;
    stage.workPaced({ provider, concurrency: slots });
  });
  let closeProviders = async (): Promise<void> => undefined;
  afterAll(() => closeProviders());

  const cases: readonly Case[] = [
    {
      is: "blank lines longer than any silence allowed, then the answer, are an answer (T55)",
      rules: [{ delivery: { filler: { lines: 12, everyMs: 110 } } }],
      end: answered(),
    },
    {
      is: "keep-alive comments longer than any silence allowed, then the stream, are an answer (T55)",
      rules: [{ delivery: { filler: { lines: 12, everyMs: 110 } } }],
      asked: streamed,
      end: answered(),
    },
    {
      is: "filler that never ends is a timeout by the deadline (T55)",
      rules: [{ delivery: { filler: { lines: 1000, everyMs: 100 } } }],
      asked: single,
      end: once("timeout"),
      also: ({ message }) => expect(message).toContain("timeout(total)"),
    },
  ];
  it.each(cases)("$is", check);

  it("four black holes in four slots: the slots are free by the deadline, the rest is answered (T32, T35)", async () => {
    const rules: Rule[] = [{ countBy: "model", nth: { to: slots }, delivery: { blackHole: true } }];
    const fates = await play("holes", rules, { seeds: 6, tries: 1 });
    for (const alias of modelNames) {
      const ends = fates.filter((fate) => fate.alias === alias).map(({ message }) => message?.slice(0, 15) ?? "ok");
      expect(new Map([...new Set(ends)].map((end) => [end, ends.filter((one) => one === end).length]))).toEqual(
        new Map([
          ["timeout(header)", slots],
          ["ok", 6 - slots],
        ]),
      );
    }
  });

  const [failsAs, breaksAs]: readonly [readonly FailureKind[], readonly Rule[]] = [
    [
      "rate_limited",
      "overloaded",
      "server_error",
      "bad_gateway",
      "unavailable",
      "gateway_timeout",
      "bad_request",
      "context_too_long",
      "payload_too_large",
    ],
    [
      { delivery: { blackHole: true } },
      { delivery: { stall: { afterEvents: 1 } } },
      { delivery: { cut: { afterEvents: 1 } } },
      { delivery: { reset: "after_headers" } },
      { delivery: { reset: "in_body" } },
      { delivery: { closeConnection: true } },
      { respond: { status: 307, headers: { location: "/elsewhere" } } },
      { respond: { status: 502, body: "<html>Bad gateway</html>" } },
    ],
  ];

  it("whatever the failure: 17 kinds, each once, are 17 requests to each vendor", async () => {
    const rules: Rule[] = [
      ...failsAs.map((kind) => ({ ...first, fail: { kind, retryAfterMs: 1 } })),
      ...breaksAs.map((rule) => ({ ...first, ...rule })),
    ];
    const fates = await play("each failure once", rules, { seeds: rules.length, tries: 1 });
    expect(fates).toHaveLength(rules.length * modelNames.length);
    for (const { exchanges } of fates) expect(exchanges).toHaveLength(1);
    expect(fates.flatMap(({ exchanges }) => exchanges.flatMap(({ side }) => side))).toEqual([]);
    expect(stage.requests()).toEqual(Object.fromEntries(modelNames.map((alias) => [alias, rules.length])));
  });

  it("an answer that comes after the client's deadline has an unknown cost, not none; the retry's counts (T31)", async () => {
    const usage = { inputTokens: 1000, outputTokens: 100 };
    const rules: Rule[] = [{ ...first, delivery: { headerDelayMs: 2600 } }, { reply: { usage } }];
    const [fate] = await play("late", rules, { models: ["openai"] });
    expect(fate).toMatchObject({ state: "done", outcome: "ok", tries: 2 });
    expect(fate?.exchanges.map(({ outcome, costUsd }) => [outcome, costUsd])).toEqual([
      ["timeout", null],
      [null, 0.0035],
    ]);
  });
});
