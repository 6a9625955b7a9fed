import { HalluMazeError } from "@hallumaze/foundation";

import {
  answerSchema,
  hardenedSystem,
  hardenedWords,
  markSlot,
  nonceSlot,
  promptHash,
  rubricVersion,
  seedParts,
  seedSystem,
  seedWords,
} from "./judge-prompts.ts";
import type { Judged, JudgePromptVersion, JudgeRequestText } from "./judged.ts";
import { writeFacts } from "./maze-scenario.ts";
import { defaultCapCharacters, sanitiseResponse } from "./sanitise-response.ts";
import { makeVisible } from "./text-forms.ts";

/** Where boundaries and nonces come from. */
export interface HexSource {
  /** That many fresh hexadecimal digits, unpredictable to whoever wrote the response. */
  readonly hex: (digits: number) => string;
}

/** What a request is built from. */
export interface JudgeRequestInput {
  readonly judged: Judged;
  readonly version: JudgePromptVersion;
  readonly random: HexSource;
  /** True for the second call, after a reply that could not be read. */
  readonly formatOnly?: boolean;
  readonly capCharacters?: number;
}

/** The data of a request, as it leaves. */
interface Shown {
  readonly prompt: string;
  readonly criteria: readonly (readonly [title: string, text: string])[];
  readonly response: string;
  readonly cappedCharacters: number;
}

/**
 * Builds the request for one judgement in one fresh session. What it is given has no submitter, model, vendor, sweep,
 * condition or seed, so none can leave; names in the response are taken out here, whoever calls.
 *
 * Data are joined to our words by concatenation only: nothing in them is ever expanded. Throws `random_source_broken`
 * where the source gives no fresh digits.
 * SOURCE: judge specification, items 3 and 4; seed, sections 2 and 4.
 */
export function buildJudgeRequest(input: JudgeRequestInput): JudgeRequestText {
  const { judged, version } = input;
  const shown = show(judged, input.capCharacters ?? defaultCapCharacters);
  const common = { promptVersion: version, promptHash: promptHash(version), rubricVersion };
  if (version === "llm-judge-v1-seed") {
    return { ...common, ...seedRequest(shown, input.formatOnly === true), answerSchema: null, nonce: null };
  }
  const taken = [shown.prompt, ...shown.criteria.map(([, text]) => text), shown.response];
  const mark = drawFresh(input.random, taken);
  const nonce = drawFresh(input.random, [...taken, mark]);
  return {
    ...common,
    system: hardenedSystem.split(markSlot).join(mark).split(nonceSlot).join(nonce),
    user: hardenedUser(input, shown, mark),
    answerSchema,
    nonce,
  };
}

function show({ scenario, response }: Judged, capCharacters: number): Shown {
  const copy = sanitiseResponse(response, { capCharacters });
  const optional = (title: string, text: string | null): readonly (readonly [string, string])[] =>
    text === null ? [] : [[title, makeVisible(text).text]];
  return {
    prompt: makeVisible(scenario.prompt).text,
    criteria: [
      ...optional(hardenedWords.criterion, scenario.expectedL3),
      ...optional(hardenedWords.criterionL2, scenario.criteriaL2),
      ...optional(hardenedWords.criterionL1, scenario.criteriaL1),
    ],
    response: copy.text,
    cappedCharacters:
      copy.hiddenShare === 0 ? 0 : Math.round((copy.text.length * copy.hiddenShare) / (1 - copy.hiddenShare)),
  };
}

function seedRequest(shown: Shown, formatOnly: boolean): Pick<JudgeRequestText, "system" | "user"> {
  const [beforePrompt, beforeCriterion, beforeResponse, rules] = seedParts;
  const notes = [
    ...(shown.cappedCharacters > 0 ? [cappedLine(seedWords.capped, shown)] : []),
    ...(formatOnly ? [seedWords.formatOnly] : []),
  ];
  return {
    system: [seedSystem, ...notes].join("\n"),
    user: [
      beforePrompt,
      shown.prompt,
      beforeCriterion,
      shown.criteria[0]?.[1] ?? "",
      beforeResponse,
      shown.response,
      rules,
    ].join(""),
  };
}

function hardenedUser({ judged, formatOnly }: JudgeRequestInput, shown: Shown, mark: string): string {
  const words = hardenedWords;
  const block = (title: string, label: string, text: string): readonly string[] => [
    title,
    `<<<${mark} ${label} BEGINS>>>`,
    text,
    `<<<${mark} ${label} ENDS>>>`,
    "",
  ];
  return [
    words.before,
    "",
    ...block(words.scenario, "SCENARIO", shown.prompt),
    ...shown.criteria.flatMap(([title, text]) => block(title, "CRITERION", text)),
    ...(judged.facts === null ? [] : [words.facts, writeFacts(judged.facts), ""]),
    ...block(words.answer, "ANSWER", shown.response),
    words.after,
    ...(shown.cappedCharacters > 0 ? [cappedLine(words.capped, shown)] : []),
    ...(judged.truncated ? [words.truncated] : []),
    ...(formatOnly === true ? [words.formatOnly] : []),
    words.finish,
  ].join("\n");
}

function cappedLine(line: string, { cappedCharacters }: Shown): string {
  return line.replace("{n}", String(cappedCharacters));
}

const hexDigits = 32;
/** 128 random bits meet no text; a text that holds an old boundary costs one more draw. */
const mostDraws = 100;

function drawFresh(random: HexSource, texts: readonly string[]): string {
  const lower = texts.map((text) => text.toLowerCase());
  for (let draw = 0; draw < mostDraws; draw++) {
    const drawn = random.hex(hexDigits).toLowerCase();
    if (/^[0-9a-f]{16,}$/.test(drawn) && !lower.some((text) => text.includes(drawn))) return drawn;
  }
  throw new HalluMazeError(
    "random_source_broken",
    `random.hex(${hexDigits}) gave no fresh hexadecimal digits in ${mostDraws} draws; pass a cryptographic source`,
  );
}
