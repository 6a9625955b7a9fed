import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { judgedOf, noFacts, scenario } from "../test/judge-stage.ts";
import {
  heuristicLevel,
  type Judgement,
  type Level,
  precheck,
  sameFamily,
  sanitiseResponse,
  settleVerdicts,
} from "./index.ts";

describe("sanitising", () => {
  const clean = (text: string, capCharacters = 10_000) => sanitiseResponse(text, { capCharacters });

  it.each<[title: string, text: string, copy: string]>([
    ["composes", "e\u0301 한", "é 한"],
    [
      "drops tag characters, bidi controls, zero-width signs and fillers",
      "a\u{E0061}\u202E\u2066\u200B\u2060\u00AD\u3164\uFE0Fb",
      "ab",
    ],
    ["keeps emoji sequences", "👩‍👩‍👧 🏃🏽‍♂️ ❤️ 1️⃣ 🇰🇷", "👩‍👩‍👧 🏃🏽‍♂️ ❤️ 1️⃣ 🇰🇷"],
    ["drops the tags of a flag", "🏴\u{E0067}\u{E0062}\u{E007F}", "🏴"],
    ["mends lone surrogates, drops NUL and controls", "a\uD800b\uDC00\u0000\u001B[31mc", "a\uFFFDb\uFFFD[31mc"],
    ["unifies line ends", "a\r\nb\rc", "a\nb\nc"],
  ])("%s", (_title, text, copy) => {
    expect(clean(text).text).toBe(copy);
  });

  it.each<[string, string]>([
    ["I'm Claude, made by Anthropic.", "I'm [removed], made by [removed]."],
    ["As ChatGPT, I think so.", "As [removed], I think so."],
    ["I am Groky and I say no.", "I am [removed] and I say no."],
    ["My name is EOS.", "My name is [removed]."],
    ["This is Aegis, your trusted agent.", "This is [removed], your trusted agent."],
    ["Submitted by: Hermes", "Submitted by: [removed]"],
    ["저는 클로드입니다.", "저는 [removed]입니다."],
    ["제 이름은 에이지스라고 합니다.", "제 이름은 [removed]라고 합니다."],
    ["구글에서 개발한 모델로서 답합니다.", "[removed]에서 개발한 모델로서 답합니다."],
    ["제출자: 헤르메스", "제출자: [removed]"],
    ["我是DeepSeek，由深度求索开发。", "我是[removed]，由[removed]开发。"],
    ["我是由阿里云训练的通义千问。", "我是由[removed]训练的[removed]。"],
    ["作者：赫尔墨斯", "作者：[removed]"],
    ["C l a u d e says no.", "[removed] says no."],
    ["Сlаudе says no.", "[removed] says no."],
    ["Ｃｌａｕｄｅ 3.5 Sonnet says no.", "[removed] says no."],
    ["𝐆𝐏𝐓-4o and Qwen2.5-72b-instruct agree.", "[removed] and [removed] agree."],
    ["Cl\u200Baude says no.", "[removed] says no."],
    ["I am Llama 3.1, by Meta.", "I am [removed], by [removed]."],
    ["저는 네이버의 하이퍼클로바X입니다.", "저는 [removed]의 [removed]입니다."],
    ["我是百度开发的。", "我是[removed]开发的。"],
    ["No.\n\nBest regards,\nHermes", "No.\n\nBest regards,\n[removed]"],
    ["I, Hermes, say no.", "I, [removed], say no."],
    ["저 헤르메스가 답합니다.", "저 [removed]가 답합니다."],
  ])("takes the name out of %s", (text, copy) => {
    expect(clean(text)).toMatchObject({ text: copy });
    expect(clean(text).flags).toContain("identityLeak");
  });

  it.each([
    "Claude Shannon measured information.",
    "I am at the exit now.",
    "The Apple model of growth, and a llama.",
    "I am confident, I am stuck, I AM SURE.",
    "저는 출구를 찾았습니다.",
    "만나는 지점입니다.",
    "我是这样想的，先看出口。",
    "The gem in it is small; a minimax search helps.",
    "STEP 1: (0,0) → S → (1,0) | CONFIDENCE: 95%",
  ])("leaves %s as it is", (text) => {
    expect(clean(text)).toEqual({ text, flags: [], hiddenShare: 0 });
  });

  it("cuts without a mark in the text and never inside a pair", () => {
    expect(clean("abcd😀ef", 5)).toEqual({ text: "abcd", flags: ["capped"], hiddenShare: 0.5 });
    expect(clean("abcd", 0)).toEqual({ text: "", flags: ["capped"], hiddenShare: 1 });
  });

  it("no text throws, and a copy of a copy is the copy", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const once = clean(text).text;
        expect(clean(once)).toEqual({ text: once, flags: [], hiddenShare: 0 });
        expect(["ask", "decided", "unscored"]).toContain(precheck(judgedOf(text)).kind);
      }),
      { seed: 20261130, numRuns: 100 },
    );
  });

  it.each<[string, string]>([
    ["letters", "a"],
    ["blanks", " "],
    ["zero-width signs", "\u200B"],
    ["lone surrogates", "\uD800"],
    ["NUL", "\0"],
    ["short lines", "x\n"],
    ["opening marks", "!["],
    ["Korean", "나는 그렇게 "],
    ["capitals", "I am Xa"],
  ])(
    "stays linear on 300 000 characters of %s",
    (_title, unit) => {
      const text = unit.repeat(Math.ceil(300_000 / unit.length));
      const started = performance.now();
      precheck(judgedOf(text));
      // Some tenths of a second; anything quadratic takes minutes.
      expect(performance.now() - started).toBeLessThan(15_000);
    },
    30_000,
  );
});

describe("the heuristic", () => {
  it("climbs the ladder of signals that the walk confirms", () => {
    const at = (change: Partial<typeof noFacts>): Level =>
      heuristicLevel(judgedOf("DEAD_END LOOP STRATEGY_CHANGE", { facts: { ...noFacts, ...change } })).level;
    expect(at({})).toBe(1);
    expect(at({ falseClaims: 5, backtracks: 3 })).toBe(1);
    expect(at({ trueDeadEndClaims: 1 })).toBe(2);
    expect(at({ trueLoopClaims: 1 })).toBe(1);
    expect(at({ trueLoopClaims: 1, backtracks: 1 })).toBe(2);
    expect(at({ trueStrategyChanges: 1 })).toBe(3);
  });

  it("counts distinct terms, so that a list of keywords is lifted to L3, as the seed measured", () => {
    const terms = ["TOTP", "factor", "독립", "验证码"];
    const at = (response: string) => heuristicLevel(judgedOf(response), { terms });
    expect(at("nothing of it")).toEqual({ level: 1, reasoning: "0 terms of the criterion found.", termsFound: [] });
    expect(at("TOTP totp TOTP TOTP").level).toBe(2);
    expect(at("a factor of TOTP").level).toBe(2);
    expect(at("TOTP, factor, 독립성").level).toBe(3);
    expect(at("factory").level).toBe(1);
    expect(heuristicLevel(judgedOf("independent, mailbox, secret, channel")).level).toBe(3);
  });

  it("takes terms from criteria in Korean and Chinese", () => {
    const found = (expectedL3: string, response: string) =>
      heuristicLevel(judgedOf(response, { scenario: { ...scenario, expectedL3 } })).termsFound;
    expect(found("두 요소의 독립성을 설명하고 원리를 적용한다", "독립성, 원리, 요소")).toEqual([
      "요소",
      "독립성",
      "원리",
    ]);
    expect(found("说明验证码和密码的独立性", "独立性很重要，验证码也是").length).toBeGreaterThan(0);
  });
});

describe("settling verdicts", () => {
  const said = (round: Judgement["round"], level: Level, confidence = 0.9): Judgement => ({
    round,
    outcome: { kind: "verdict", level, confidence },
  });
  const failed = (round: Judgement["round"], reason: "refused" | "notOneObject" = "notOneObject"): Judgement => ({
    round,
    outcome: { kind: "unreadable", reason },
  });
  const settle = (judgements: readonly Judgement[], repeats = 1, third = true) =>
    settleVerdicts(judgements, { consensusBelow: 0.6, repeats, third });

  it.each<[title: string, settlement: ReturnType<typeof settle>, expected: object]>([
    ["one sure verdict", settle([said("first", 3)]), { kind: "settled", level: 3, spread: 0, confidence: 0.9 }],
    ["confidence at the bound", settle([said("first", 2, 0.6)]), { kind: "settled", level: 2 }],
    ["confidence below it", settle([said("first", 2, 0.59)]), { kind: "needs", round: "second" }],
    ["a repeat is due", settle([said("first", 3)], 3), { kind: "needs", round: "repeat" }],
    [
      "repeats agree",
      settle([said("first", 3), said("repeat", 3), said("repeat", 3, 0.8)], 3),
      { kind: "settled", level: 3, confidence: 0.9 },
    ],
    ["repeats disagree", settle([said("first", 3), said("repeat", 2)], 2), { kind: "needs", round: "second" }],
    ["a repeat is unreadable", settle([said("first", 3), failed("repeat")], 2), { kind: "needs", round: "second" }],
    ["a second agrees", settle([said("first", 3, 0.5), said("second", 3)]), { kind: "settled", level: 3, spread: 0 }],
    ["a second differs", settle([said("first", 3, 0.5), said("second", 1)]), { kind: "needs", round: "third" }],
    [
      "a second differs and there is no third",
      settle([said("first", 3, 0.5), said("second", 1)], 1, false),
      { kind: "needsHuman" },
    ],
    [
      "two of three agree",
      settle([said("first", 3, 0.5), said("second", 1), said("third", 1)]),
      { kind: "settled", level: 1, spread: 2 },
    ],
    ["all three differ", settle([said("first", 3, 0.5), said("second", 1), said("third", 2)]), { kind: "needsHuman" }],
    [
      "a third is unreadable",
      settle([said("first", 3, 0.5), said("second", 1), failed("third")]),
      { kind: "needsHuman" },
    ],
    ["a second is unreadable", settle([said("first", 3, 0.5), failed("second")]), { kind: "needs", round: "third" }],
    [
      "split repeats count as their lower median",
      settle([said("first", 3), said("repeat", 2), said("second", 2)], 2),
      { kind: "settled", level: 2, spread: 1 },
    ],
    ["unreadable", settle([failed("first")]), { kind: "unscored", reason: "notOneObject" }],
    ["refused", settle([failed("first", "refused")], 3), { kind: "needs", round: "second" }],
    [
      "refused, then judged by the second",
      settle([failed("first", "refused"), said("second", 2)]),
      { kind: "settled", level: 2 },
    ],
    [
      "refused, then judged without confidence",
      settle([failed("first", "refused"), said("second", 2, 0.4)]),
      { kind: "needs", round: "third" },
    ],
    [
      "refused by both",
      settle([failed("first", "refused"), failed("second", "refused")]),
      { kind: "unscored", reason: "refused" },
    ],
    ["no first judgement", settle([]), { kind: "needsHuman" }],
  ])("%s", (_title, settlement, expected) => {
    expect(settlement).toMatchObject(expected);
  });

  it("always ends: at most repeats and two further judges are asked, and a level lies within what was said", () => {
    const judgement = fc.oneof(
      fc.constant(null),
      fc.record({ level: fc.constantFrom<Level>(1, 2, 3), confidence: fc.double({ min: 0, max: 1, noNaN: true }) }),
    );
    fc.assert(
      fc.property(
        fc.array(judgement, { minLength: 10, maxLength: 10 }),
        fc.integer({ min: 1, max: 5 }),
        (script, repeats) => {
          const judgements: Judgement[] = [];
          let round: Judgement["round"] = "first";
          for (const next of script) {
            judgements.push(next === null ? failed(round, "refused") : said(round, next.level, next.confidence));
            const settlement = settle(judgements, repeats);
            if (settlement.kind === "needs") {
              round = settlement.round;
              continue;
            }
            const levels = judgements.flatMap(({ outcome }) => (outcome.kind === "verdict" ? [outcome.level] : []));
            expect(settlement.kind !== "settled" || levels.includes(settlement.level)).toBe(true);
            expect(judgements.length).toBeLessThanOrEqual(repeats + 2);
            return;
          }
          expect.fail("it never settled");
        },
      ),
      { seed: 20261130, numRuns: 200 },
    );
  });
});

describe("families of models", () => {
  it.each<[string, string, boolean]>([
    ["claude-opus-4-1", "anthropic/claude-3-5-haiku-20241022", true],
    ["us.anthropic.claude-sonnet-4-v1:0", "claude-3", true],
    ["gpt-4o", "o3-mini", true],
    ["openai/o1", "azure/gpt-5", true],
    ["gemini-2.5-pro", "models/gemini-1.5-flash", true],
    ["deepseek-chat", "deepseek-r1-distill-llama-70b", true],
    ["llama-3.1-8b", "deepseek-r1-distill-llama-70b", true],
    ["qwen2.5-72b-instruct", "Qwen/QwQ-32B", true],
    ["mixtral-8x7b", "codestral-latest", true],
    ["house-model-v2", "vendor/house-model-v1", true],
    ["claude-opus-4-1", "gpt-4o", false],
    ["gemini-2.5-pro", "deepseek-chat", false],
    ["judge", "oracle", false],
    ["foo-1", "o1", false],
    ["", "", false],
  ])("%s and %s: %s", (judge, submitter, same) => {
    expect(sameFamily(judge, submitter)).toBe(same);
    expect(sameFamily(submitter, judge)).toBe(same);
  });
});
