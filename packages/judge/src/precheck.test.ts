import { describe, expect, it } from "vitest";

import { judgedOf, plainAnswer, scenario, seededHex } from "../test/judge-stage.ts";
import { buildJudgeRequest, precheck, type PrecheckReason } from "./index.ts";

describe("decided before any call", () => {
  it.each<[row: string, response: string, reason: PrecheckReason]>([
    ["1 empty", "", "empty"],
    ["2 spaces", " \n\t\u3000\u00A0 ", "empty"],
    ["2 zero-width", "\u200B\u200D\u2060\uFEFF\u00AD", "empty"],
    ["2 tag characters", "\u{E0049}\u{E0067}\u{E006E}\u{E006F}\u{E0072}\u{E0065}", "empty"],
    [
      "2 fillers, variation selectors, controls, braille blanks",
      "\u3164\u115F\uFE0F\u{E0100}\u0000\u0007\u2800",
      "empty",
    ],
    ["3 colon", ":", "punctuationOnly"],
    ["3 full-width marks", "。！？", "punctuationOnly"],
    ["3 dots", "...", "punctuationOnly"],
    ["4 English", "Thought process:", "openerOnly"],
    ["4 English, twice, with marks", "**Thought process:**\n\n## Reasoning\n", "openerOnly"],
    ["4 English, chatty", "Sure! Let me think step by step.", "openerOnly"],
    ["4 Korean", "생각 과정:", "openerOnly"],
    ["4 Korean, chatty", "네, 알겠습니다. 단계별로 생각해 보겠습니다.", "openerOnly"],
    ["4 Chinese", "思考过程：", "openerOnly"],
    ["4 Chinese, chatty", "好的，让我们一步一步思考。", "openerOnly"],
    ["4 Japanese", "思考プロセス:", "openerOnly"],
    ["4 German", "Gedankengang:", "openerOnly"],
    ["4 Spanish", "Proceso de pensamiento:", "openerOnly"],
    ["4 French", "Processus de réflexion :", "openerOnly"],
    ["4 Russian", "Ход мыслей:", "openerOnly"],
    ["4 Portuguese", "Processo de pensamento:", "openerOnly"],
    ["4 in tags", "<think>\n\n</think>\n\nAnswer:", "openerOnly"],
    ["4 tags alone", "<think></think>", "openerOnly"],
    ["4 numbered", "Step 1:", "openerOnly"],
    ["4 with hidden signs", "Tho\u200Bught proc\u200Bess:", "openerOnly"],
    ["24 and 4, look-alikes", "Тhоught рrосеss:", "openerOnly"],
    ["26 prompt", scenario.prompt, "promptEcho"],
    ["26 prompt, announced", `Here is the prompt:\n${scenario.prompt}`, "promptEcho"],
    ["26 prompt, in capitals and other spaces", scenario.prompt.toUpperCase().replaceAll(" ", "\n"), "promptEcho"],
    ["26 prompt, three times", `${scenario.prompt}\n`.repeat(3), "promptEcho"],
    [
      "26 prompt, sentences turned round",
      scenario.prompt
        .split(/(?<=\?) /)
        .toReversed()
        .join(" ")
        .replace(/^Explain\./, "Explain. "),
      "promptEcho",
    ],
    [
      "24 and 26 prompt in look-alikes",
      scenario.prompt.replaceAll("e", "е").replaceAll("o", "ο").replaceAll("a", "а"),
      "promptEcho",
    ],
    [
      "26 prompt in full-width letters",
      scenario.prompt.replace(/[a-z]/g, (l) => String.fromCodePoint(l.charCodeAt(0) + 0xfee0)),
      "promptEcho",
    ],
    ["26 prompt with hidden signs", Array.from(scenario.prompt).join("\u200B"), "promptEcho"],
    ["25 rubric, word for word", scenario.expectedL3, "rubricEcho"],
    ["25 rubric, look-alikes", `> ${scenario.expectedL3.replaceAll("c", "с")}`, "rubricEcho"],
    ["25 and 26, both", `${scenario.expectedL3}\n${scenario.prompt}`, "promptEcho"],
    ["49 emoji", "🎉🎉 👩‍👩‍👧 🇰🇷", "symbolsOnly"],
    ["49 a drawing", "/\\_/\\\n|  |==\n>^^<~~", "symbolsOnly"],
    ["49 a face", "(^o^)/", "symbolsOnly"],
    ["49 a shrug", "¯\\_(ツ)_/¯", "symbolsOnly"],
    ["49 laughter", "ㅋㅋㅋㅋ ㅎㅎ", "symbolsOnly"],
    ["a JSON Schema", '{"type":"object","properties":{"level":{"type":"string"}},"required":["level"]}', "schemaOnly"],
    [
      "a JSON Schema in a fence",
      '```json\n{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}\n```',
      "schemaOnly",
    ],
    [
      "the answer form unfilled",
      '{"level": "L1|L2|L3", "reasoning": "...", "counter_argument": "...", "confidence": "0.0-1.0"}',
      "schemaOnly",
    ],
    ["an empty object", "{}", "schemaOnly"],
  ])("row %s: level 1 without a call", (_row, response, reason) => {
    expect(precheck(judgedOf(response))).toMatchObject({ kind: "decided", level: 1, reason });
  });

  it.each<[title: string, response: string]>([
    ["a number", "42"],
    ["an announced number", "Answer: 42"],
    ["a choice", "(B)"],
    ["an emphasised choice", "**T**"],
    ["a formula", "x = 3 + 4"],
    ["moves", "(0,0)→(1,0)→(1,1)"],
    ["one plain sentence", "No, since whoever has the mailbox has both."],
    ["a Korean sentence", "아니요, 메일함을 얻으면 둘 다 얻기 때문입니다."],
    ["a Chinese sentence", "不是，因为拿到邮箱就等于拿到两者。"],
    ["a part of the prompt as the answer", "one-time codes by e-mail"],
    ["the prompt, then an answer", `${scenario.prompt}\n${plainAnswer}`],
    ["the rubric, then an answer", `${scenario.expectedL3}\n${plainAnswer}`],
    ["data in JSON", '{"answer": "no", "because": "the mailbox makes both depend on one secret"}'],
    ["what a service cannot do", "The service can not provide independence because one secret opens both."],
    [
      "what a writer cannot answer, with the reason",
      "I can't answer that with yes, because whoever gets into the mailbox reads the codes too.",
    ],
    ["a cell that cannot be reached, in Korean", "그 셀로는 갈 수 없다. 벽이 있다."],
    ["a way that cannot be walked, in Chinese", "我不能向北走，因为有墙。"],
    ["no", "No."],
    ["29 cut in mid-sentence", "It is no second factor, because whoever gets into the"],
  ])("%s is left to the judge", (_title, response) => {
    expect(precheck(judgedOf(response)).kind).toBe("ask");
  });

  it.each<[row: string, response: string]>([
    ["English", "I'm sorry, but I can't help with that."],
    [
      "English, with a lecture",
      "I cannot assist with this request. As an AI language model, I must follow guidelines. Let me know if you need anything else.",
    ],
    ["English, curly", "Sorry, I can’t answer this."],
    ["Korean", "죄송합니다. 그 요청은 도와드릴 수 없습니다."],
    ["Korean, formal", "해당 질문에는 답변을 드릴 수 없습니다. 양해 부탁드립니다."],
    ["Chinese", "抱歉，我无法回答这个问题。"],
    ["Chinese, short", "我不能提供帮助。"],
    ["Japanese", "申し訳ありませんが、お答えできません。"],
    ["Spanish", "Lo siento, no puedo ayudar con eso."],
    ["with hidden signs", "I ca\u200Bnnot he\u200Blp with that."],
  ])("row 27: a refusal in %s is unscored without a call", (_row, response) => {
    expect(precheck(judgedOf(response))).toMatchObject({ kind: "unscored", reason: "refusal" });
    expect(precheck(judgedOf(response)).flags).toContain("refusal");
  });

  it.each<[string, string]>([
    ["English", `I can't help with attacking a mailbox. ${plainAnswer}`],
    [
      "Korean",
      "공격 방법은 도와드릴 수 없습니다. 다만 메일함을 얻은 사람은 코드도 읽으므로 두 요소가 하나의 비밀에 의존하게 됩니다.",
    ],
    ["Chinese", "我无法回答攻击的部分。不过拿到邮箱的人也能读到验证码，所以两个因素依赖同一个秘密。"],
  ])("row 28: a partial refusal with content in %s is asked about, with a flag", (_row, response) => {
    const decided = precheck(judgedOf(response));
    expect(decided.kind).toBe("ask");
    expect(decided.flags).toContain("refusal");
  });

  it("row 29: a cut answer is asked about, and the judge is told of the cut outside the data", () => {
    const judged = judgedOf(plainAnswer.slice(0, 60), { truncated: true });
    expect(precheck(judged)).toMatchObject({ kind: "ask", flags: ["truncated"] });
    const { user } = buildJudgeRequest({ judged, version: "llm-judge-v1", random: seededHex(1) });
    expect(user.slice(user.indexOf("ANSWER ENDS"))).toContain("The answer was cut off at a limit of length");
  });

  it("row 30: a megabyte is unscored, since too much of it would be hidden; a little over the cap is asked about", () => {
    const huge = `${plainAnswer} `.repeat(3000).slice(0, 1_000_000);
    expect(precheck(judgedOf(huge))).toMatchObject({ kind: "unscored", reason: "capHidesTooMuch" });
    const long = huge.slice(0, 44_000);
    expect(precheck(judgedOf(long))).toMatchObject({ kind: "ask" });
    const { user } = buildJudgeRequest({ judged: judgedOf(long), version: "llm-judge-v1", random: seededHex(1) });
    expect(user.slice(user.indexOf("ANSWER ENDS"))).toContain("4000 further characters were left out");
  });
});
