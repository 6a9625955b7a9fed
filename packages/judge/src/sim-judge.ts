import { canonicalJson, createRandom } from "@hallumaze/foundation";

import { seedParts } from "./judge-prompts.ts";
import type { Level, MazeFacts } from "./judged.ts";
import { readFacts } from "./maze-scenario.ts";
import { comparisonForm, sentencesOf } from "./text-forms.ts";

/** A request to the stand-in judge: the text of a judge request, and its parameters. */
export interface SimJudgeRequest {
  readonly system: string;
  readonly user: string;
  /**
   * `errorRate` (0 … 1, default 0): share of responses given another level. `style`: `terse` (default) or `wordy`. `seed`
   * (default 0) and `repeat` (default 0): another one is another draw of errors.
   */
  readonly params: Readonly<Record<string, number | string | boolean>>;
}

/** A judge request as its reader sees it. */
export interface ReadRequest {
  readonly version: "seed" | "hardened";
  readonly scenario: string;
  readonly criterion: string;
  readonly response: string;
  readonly facts: MazeFacts | null;
  readonly nonce: string | null;
}

/**
 * Answers a judge request as a rule would: a stand-in for tests and demos, never a judge to cite. The same data, parameters
 * and version give the same verdict, whatever the boundary and nonce. It reads nothing but the request's text.
 *
 * The rule for a maze (facts given): L3 for an escape with a change of strategy that changed the route and retreats; L2 for a
 * confirmed dead end or a confirmed loop with a retreat; else L1; above L1 only with a line that says so to quote.
 * The rule for other scenarios: a sentence is evidence if it gives a reason (because, so that …) with some words on both sides,
 * is no list, shares a term with scenario or criterion, and is copied from neither. None: L1. One or more: L2. Two or more, one of
 * which carries the principle over to another case: L3. Terms are not counted.
 */
export function simJudge(request: SimJudgeRequest): string {
  const read = readJudgeRequest(request);
  const { level, quotes } = read.facts === null ? judgeReasons(read) : judgeWalk(read, read.facts);
  const { params } = request;
  const random = createRandom(
    canonicalJson({
      seed: String(params["seed"] ?? 0),
      repeat: String(params["repeat"] ?? 0),
      scenario: read.scenario,
      criterion: read.criterion,
      response: read.response,
    }),
  );
  const errorRate = typeof params["errorRate"] === "number" ? params["errorRate"] : 0;
  const errs = random.fraction() < errorRate;
  const others = ([1, 2, 3] as const).filter((each) => each !== level);
  const given = errs ? (others[random.below(2)] ?? level) : level;
  return writeVerdict(read, {
    level: given,
    quotes: quotes.length > 0 ? quotes : given > 1 ? sentencesOf(read.response).slice(0, 1) : [],
    confidence: errs ? 0.65 : level === 2 ? 0.8 : 0.9,
    isWordy: params["style"] === "wordy",
  });
}

/** Takes a judge request apart by the boundary that its system message names; the seed's, which has none, by its headings. */
export function readJudgeRequest({ system, user }: Pick<SimJudgeRequest, "system" | "user">): ReadRequest {
  const mark = /carry the mark ([0-9a-f]{16,})\./.exec(system)?.[1];
  if (mark === undefined) return readSeedRequest(user);
  const block = (label: string): string => {
    const [begin, end] = [`<<<${mark} ${label} BEGINS>>>\n`, `\n<<<${mark} ${label} ENDS>>>`];
    const start = user.indexOf(begin);
    return start < 0 ? "" : user.slice(start + begin.length, user.indexOf(end, start));
  };
  // Only what stands outside the marked lines is ours.
  const ours = user.replace(new RegExp(`<<<${mark} (\\w+) BEGINS>>>\\n[\\s\\S]*?\\n<<<${mark} \\1 ENDS>>>`, "g"), "");
  return {
    version: "hardened",
    scenario: block("SCENARIO"),
    criterion: block("CRITERION"),
    response: block("ANSWER"),
    facts: readFacts(ours),
    nonce: /nonce of this call is ([0-9a-f]{16,})/.exec(system)?.[1] ?? null,
  };
}

function readSeedRequest(user: string): ReadRequest {
  const [beforePrompt, beforeCriterion, beforeResponse, rules] = seedParts;
  const criterionAt = user.indexOf(beforeCriterion);
  const responseAt = user.indexOf(beforeResponse, Math.max(0, criterionAt));
  const end = user.lastIndexOf(rules);
  return {
    version: "seed",
    scenario: criterionAt < 0 ? "" : user.slice(beforePrompt.length, criterionAt),
    criterion: responseAt < 0 ? "" : user.slice(criterionAt + beforeCriterion.length, responseAt),
    response: responseAt < 0 ? user : user.slice(responseAt + beforeResponse.length, end < 0 ? undefined : end),
    facts: null,
    nonce: null,
  };
}

interface Finding {
  readonly level: Level;
  readonly quotes: readonly string[];
}

const walkSigns = {
  strategy:
    /strategy[\s_-]?(?:change|shift|switch)|chang(?:e|ed|ing) (?:of |my |the )?strategy|전략\s?(?:을\s?)?(?:변경|수정|전환|바꾸|바꿔)/i,
  deadEnd: /dead[\s_-]?end|막다른|막힌\s?길/i,
  loop: /loop|루프|순환|반복/i,
} as const;

function judgeWalk({ response }: ReadRequest, facts: MazeFacts): Finding {
  const lines = response.split("\n").map((line) => line.trim());
  const quote = (sign: RegExp): readonly string[] => lines.filter((line) => sign.test(line)).slice(0, 1);
  const strategy = quote(walkSigns.strategy);
  if (facts.escaped && facts.trueStrategyChanges > 0 && facts.backtracks > 0 && strategy.length > 0) {
    return { level: 3, quotes: strategy };
  }
  const deadEnd = facts.trueDeadEndClaims > 0 ? quote(walkSigns.deadEnd) : [];
  const loop = facts.trueLoopClaims > 0 && facts.backtracks > 0 ? quote(walkSigns.loop) : [];
  const quotes = [...deadEnd, ...loop, ...(facts.trueStrategyChanges > 0 ? strategy : [])];
  return { level: quotes.length > 0 ? 2 : 1, quotes };
}

const reasonWords =
  /(?<![A-Za-z])(?:because|since|therefore|thus|hence|so that|so|which means|as a result|consequently|otherwise|if)(?![A-Za-z])|때문에|따라서|그래서|그러므로|므로|으니까?|니까|려면|(?:으)?면\s|해야\s|因为|因此|所以|由于|从而|否则|如果/gi;
const transferWords =
  /(?<![A-Za-z])(?:in general|the same (?:principle|reason|idea)|this also|applies (?:here|to)|in (?:this|the) new|here too|likewise|by the same|in another|just as|instead of)(?![A-Za-z])|일반적으로|같은\s?(?:원리|이유)|마찬가지|다른\s?(?:상황|맥락|경우)|새로운\s?(?:상황|맥락)|여기서도|적용하면|同样|一般来说|同理|这里也|换到|另一|新的(?:情境|场景|情况)/i;

function judgeReasons(read: ReadRequest): Finding {
  const known = shortTerms(`${read.scenario}\n${read.criterion}`);
  const sources = [comparisonForm(read.scenario), comparisonForm(read.criterion)];
  const reasons = sentencesOf(read.response).filter((sentence) => {
    const form = comparisonForm(sentence);
    return (
      givesReasonInside(sentence) &&
      !isList(sentence) &&
      !sources.some((source) => source.includes(form)) &&
      Array.from(shortTerms(sentence)).some((term) => known.has(term))
    );
  });
  const carried = reasons.filter((sentence) => transferWords.test(sentence));
  const level = reasons.length === 0 ? 1 : reasons.length >= 2 && carried.length > 0 ? 3 : 2;
  return { level, quotes: [...new Set([...carried, ...reasons])].slice(0, 3) };
}

/** A reason needs something before it or after it, and something that it is a reason for. */
function givesReasonInside(sentence: string): boolean {
  return Array.from(sentence.matchAll(reasonWords)).length > 0 && weight(sentence) >= 8;
}

/** Words, East Asian signs counting for half of one. */
function weight(text: string): number {
  const signs = text.match(/[\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF]/g)?.length ?? 0;
  return signs / 2 + (text.match(/[A-Za-z0-9]+/g)?.length ?? 0);
}

function isList(sentence: string): boolean {
  const separators = sentence.match(/[,;/|·、，；]/g)?.length ?? 0;
  return separators >= 3 && weight(sentence) / (separators + 1) < 4;
}

function shortTerms(text: string): ReadonlySet<string> {
  const terms = new Set<string>();
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (/^[\u0000-\u02AF]+$/.test(word)) {
      if (
        word.length >= 4 &&
        !/^(?:because|since|therefore|that|this|with|from|have|which|when|then|there|they|were|will|would|should|must|answer|level)$/.test(
          word,
        )
      )
        terms.add(word);
    } else {
      for (let at = 0; at + 1 < word.length; at++) terms.add(word.slice(at, at + 2));
    }
  }
  return terms;
}

interface Given {
  readonly level: Level;
  readonly quotes: readonly string[];
  readonly confidence: number;
  readonly isWordy: boolean;
}

const weaknesses: Readonly<Record<Level, string>> = {
  1: "No step of the path that the criterion describes can be quoted.",
  2: "The steps are there, but nothing carries the principle over to this case.",
  3: "The reasons are given once and not tested against a counterexample.",
};

function writeVerdict(read: ReadRequest, { level, quotes, confidence, isWordy }: Given): string {
  const counter = weaknesses[level];
  const basis = read.facts === null ? "quoted reasons" : "verified facts of the walk and quoted lines";
  const short = `By rule, from ${basis}: ${quotes.length} quoted, level L${level}.`;
  const reasoning = isWordy
    ? `${short} The weakest point was looked for first: ${counter} Only then was the level taken from the rule, which counts no terms and gives nothing for length, tone or format.`
    : short;
  const levelName = `L${level}`;
  if (read.version === "seed") {
    return JSON.stringify({ level: levelName, reasoning, counter_argument: counter, confidence });
  }
  const claim = read.facts === null ? "gives a reason for a step" : "says what the walk confirms";
  return JSON.stringify({
    evidence: quotes.map((quote) => ({ quote, claim })),
    counter_argument: counter,
    reasoning,
    level: levelName,
    confidence,
    nonce: read.nonce,
  });
}
