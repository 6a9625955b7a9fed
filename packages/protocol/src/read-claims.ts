import type { Cell } from "@hallumaze/maze";

import type { Claim } from "./reading.ts";
import { scanTokens } from "./scan-tokens.ts";

/** A claim before it is placed in the log. */
export type ClaimDraft = Pick<Claim, "kind" | "at" | "seenAtStep" | "form">;

type Kind = Claim["kind"];

const phrases: Readonly<Record<Exclude<Kind, "wall">, RegExp>> = {
  deadEnd: /dead[\s_-]?ends?(?![A-Za-z])|막다른\s?(?:길|곳|골목|셀|지점)|막힌\s?길/gi,
  loop: /loop(?:s|ed|ing)?(?![A-Za-z])|루프|순환|already\s(?:been\s)?visited|visited\s(?:before|already)|이미\s?(?:방문|지나|와\s?본|거쳐|들른)/gi,
  strategyChange:
    /strategy[\s_-]?(?:change[ds]?|shift|switch)|chang(?:e|ed|ing)\s(?:of\s|my\s|the\s)?strategy|전략\s?(?:을\s?)?(?:변경|수정|전환|바꾸|바꿔|바꿈)/gi,
};

/** How a protocol line of each kind begins: its label, then what follows a label and not what follows a noun. */
const lineStarts: readonly (readonly [Kind, RegExp])[] = [
  [
    "deadEnd",
    /^(?:dead[\s_-]?end|막다른\s?(?:길|곳))(?:\s(?:at|found|reached|detected|here|in)(?![A-Za-z])|\s?(?:발견|도달|감지)|\s?[:([{<—–!.-]|\s?\d|$)/i,
  ],
  [
    "loop",
    /^(?:loop|루프|순환)(?:\s(?:was\s|is\s|has\sbeen\s)?(?:at|found|detected|here|in)(?![A-Za-z])|_detected|\s?(?:발견|감지|탐지)|\s?[:([{<—–!.-]|\s?\d|$)/i,
  ],
  ["strategyChange", /^(?:strategy[\s_-]?changed?|전략\s?(?:변경|수정|전환))(?:\s?[:([{<—–!.,-]|\s?→|$|\s)/i],
  ["wall", /^(?:wall(?:\s?hit)?|벽(?:에\s?(?:막힘|부딪힘))?)\s?(?:at(?![A-Za-z])|[:([{<—–]|$)/i],
];

const deniedBefore =
  /(?:\b(?:no|not|never|without|any|avoid(?:s|ed|ing)?|prevent(?:s|ed|ing)?|isnt|isn't|wasnt|wasn't|arent|aren't|if|unless|whether|potential|possible|might\sbe|may\sbe|could\sbe|free\sof|zero|0)|비)\s{0,2}(?:(?:a|an|the|any|real|true|actual|single|more|further|be|in|into|of|such|encounter(?:ed|ing)?|hit(?:ting)?|found|detected|were|was|there|enter(?:ing)?)\s{1,2}){0,4}$/i;
/** What comes after these in a clause is not said to be so. */
const conditional = /\b(?:if|unless|whether|in case|would|might|could)\b|만약|혹시|라면/i;
const deniedAfter =
  /^(?:s|_detected)?\s{0,2}(?:(?:was|were|is|are|has\sbeen|have\sbeen|had\sbeen|did)\s{1,2})?(?:(?:detected|found|encountered|감지|발견|탐지)\s?[:=]?\s{0,2})?(?:[:=(—–-]\s{0,2})?(?:\?|not(?![A-Za-z])|never(?![A-Za-z])|wasnt|wasn't|isnt|isn't|werent|weren't|none(?![A-Za-z])|no(?![A-Za-z])(?!\s(?:way|exit|open|other|more|further|path))|n\/a|false|0(?![\d,])|avoided|prevented|없|아니|아님|아닌|안\s?(?:됨|되)|미발견|미감지)/i;
const deniedAfterKorean =
  /^(?:이나|과|와)?\s?(?:루프|순환|막다른\s?길)?(?:이|가|은|는|도|을|를|에|로|으로)?(?:도|는)?\s?(?:전혀|하나도|아직|더\s?이상|한\s?번도|따로|특별히)?\s?(?:발견|감지|탐지|발생|확인|존재)?(?:이|은|는|도)?\s?(?:된\s?(?:것은?|적이?)\s?|되지|하지|돼지|하진|되진|한\s?적이?|가지|만나지|빠지지|들어가지)?\s?(?:없|아니|아님|아닌|않|못|안\s?(?:됨|되|했|함)|피하|피해|피할|피함|방지|일\s?수|인지|일지|이면|라면|있다면)/;

/** A place that a line names before its label: `(2,1)에서 DEAD_END`. */
const placeBefore =
  /^(?:[Aa]t\s)?[([<]\s{0,2}\d{1,4}\s{0,2},\s{0,2}\d{1,4}\s{0,2}[)\]>]\s{0,3}(?:에서|은|는|이|가|[:–—-])?\s{0,3}(?=DEAD_END|LOOP(?![A-Za-z]))/;

/** Reads the claims of a line that is no STEP line: one a kind, however many words say it. A denial is none. */
export function readLineClaims(text: string): { readonly claims: readonly ClaimDraft[]; readonly echo: boolean } {
  const label = "([<aA".includes(text.charAt(0)) ? text.replace(placeBefore, "") : text;
  const start = "dDlLsSwW막루순전벽".includes(label.charAt(0))
    ? lineStarts.find(([, pattern]) => pattern.test(label))
    : undefined;
  if (start !== undefined && isTemplate(text)) return { claims: [], echo: true };
  const found = readPhrases(label);
  const kind = start?.[0];
  const leads = kind === "wall" || found.some((phrase) => phrase.kind === kind && phrase.start === 0);
  // A label that is denied (`LOOP detected? No`) makes the line a sentence.
  const kinds = leads && kind !== undefined ? new Set([kind, ...found.map((phrase) => phrase.kind)]) : null;
  if (kinds === null) {
    return { claims: found.map((phrase) => ({ kind: phrase.kind, ...unplaced })), echo: false };
  }
  const claims = [...kinds].flatMap((each): readonly ClaimDraft[] => {
    if (each === kind) {
      const seenAtStep = each === "loop" ? stepReference(text) : null;
      return [{ kind: each, at: firstCell(text), seenAtStep, form: "protocol" }];
    }
    const further = found.find((phrase) => phrase.kind === each);
    if (further?.labelled === true) {
      return [{ kind: each, at: cellBehind(label, further.end), seenAtStep: null, form: "protocol" }];
    }
    return further?.passing === true ? [] : [{ kind: each, ...unplaced }];
  });
  return { claims, echo: false };
}

/** A sentence's coordinates are not tied to its claim. */
const unplaced = { at: null, seenAtStep: null, form: "words" } as const;

/** Reads the claims within a STEP line. One that carries its cell (`DEAD_END at (2,1)`) is the protocol's own. */
export function readStepClaims(text: string): readonly ClaimDraft[] {
  const claims: ClaimDraft[] = [];
  for (const { kind, end, labelled } of readPhrases(text)) {
    const at = labelled ? cellBehind(text, end) : null;
    const seenAtStep = kind === "loop" && labelled ? stepReference(text.slice(end)) : null;
    claims.push({
      kind,
      at,
      seenAtStep,
      form: labelled && (at !== null || kind === "strategyChange") ? "protocol" : "words",
    });
  }
  return claims;
}

interface Phrase {
  readonly kind: Exclude<Kind, "wall">;
  readonly start: number;
  readonly end: number;
  /** True where it is written as the protocol's label. */
  readonly labelled: boolean;
  /** True for a mere mention that a cell was visited before. */
  readonly passing: boolean;
}

/** The first affirmed phrase of each kind. */
function readPhrases(text: string): readonly Phrase[] {
  const found: Phrase[] = [];
  if (!/dead|막|loop|루프|순환|visited|이미|strategy|전략/i.test(text)) return found;
  for (const kind of ["deadEnd", "loop", "strategyChange"] as const) {
    for (const match of text.matchAll(phrases[kind])) {
      const end = match.index + match[0].length;
      if (isDenied(text, match.index, end)) continue;
      const labelled = /^(?:DEAD_END|LOOP|STRATEGY_CHANGE)$/.test(match[0]);
      found.push({ kind, start: match.index, end, labelled, passing: /visited|이미/i.test(match[0]) });
      break;
    }
  }
  return found;
}

function isDenied(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 60), start);
  const clause = before.slice(Math.max(...[".", ";", "|", "—", "!"].map((mark) => before.lastIndexOf(mark))) + 1);
  const after = text.slice(end, end + 60);
  return (
    conditional.test(clause) || deniedBefore.test(clause) || deniedAfter.test(after) || deniedAfterKorean.test(after)
  );
}

function firstCell(text: string): Cell | null {
  const token = scanTokens(text.slice(0, 400), { barePairs: true }).find((each) => each.kind === "cell");
  return token?.kind === "cell" ? token.cell : null;
}

/** The cell that follows a label, with nothing but a word or two between. */
function cellBehind(text: string, end: number): Cell | null {
  const near = /^(?:\s|:|at|detected|감지|발견|위치|in|cell){0,8}/i.exec(text.slice(end, end + 60))?.[0].length ?? 0;
  const [token] = scanTokens(text.slice(end + near, end + near + 60), { barePairs: false });
  return token?.kind === "cell" ? token.cell : null;
}

function stepReference(text: string): number | null {
  const match = /(?:steps?|스텝|단계)\s{0,2}[#:]?\s{0,2}(\d{1,6})|(\d{1,6})\s?(?:번째\s?)?(?:단계|스텝)/i.exec(text);
  const digits = match?.[1] ?? match?.[2];
  return digits === undefined ? null : Number(digits);
}

/** A line whose place or reason is still the template's. */
function isTemplate(text: string): boolean {
  const tokens = scanTokens(text.slice(0, 200), { barePairs: false });
  return tokens.some((token) => token.kind === "placeholder") && !tokens.some((token) => token.kind === "cell");
}

/** Words and signs that may stand before a refusal. Matched by itself, so that nothing is ever tried again. */
const beforeRejection =
  /^(?:[-\s–—:,;()[\]|→⇒>.=]|but|hits?|hitting|a(?![A-Za-z])|is|it|this|there|결과|실제로는|그러나|하지만|시도|했으나|하려)*/i;
const rejection =
  /^(?:[✗✘❌✖⛔🚫❎]|(?:wall|blocked|rejected|not\s(?:open|allowed|possible)|impossible|no\s(?:passage|way)|closed|invalid|fail(?:ed|s)?)(?![A-Za-z])|벽(?!\s?(?:이|은|도)?\s?(?:없|아니))|막혀|막힘|막혔|불가|이동\s?불가|갈\s?수\s?없|못\s?감|실패)/iu;

/**
 * Tells whether what follows a move says that it was refused (`✗ 벽`, `blocked`). Only directly behind the move, or at
 * the beginning of a field: a reason that mentions some wall is about another side.
 */
export function isRejected(rest: string, fields: readonly string[]): boolean {
  return [rest, ...fields].some((field) => {
    const near = field.slice(0, 80);
    return rejection.test(near.slice(beforeRejection.exec(near)?.[0].length ?? 0));
  });
}

/** A self-reported count: a number, 0 for none, null for a placeholder or nothing. */
export interface CountLine {
  readonly which: "backtracks" | "hallucinations";
  readonly value: number | null;
  readonly echo: boolean;
}

const counts =
  /^(?:(?<backtracks>back[\s_-]?track(?:s|ing)?[\s_-]{0,2}(?:counts?|횟수)|(?:총\s)?(?:백트래킹|백트랙|되돌아간|되돌아가기|후퇴)\s?(?:횟수|수|카운트))|hallucinations?[\s_-]{0,2}counts?|(?:총\s)?(?:환각|할루시네이션)\s?(?:횟수|수|카운트|개수))\s{0,3}(?:\([^()]{0,40}\)\s{0,2})?(?:[:=]|->|→|-(?!\d)|[–—]|은|는|(?=\d)|$)\s{0,4}(?<rest>.*)$/is;

/** Reads a line that reports a count; null where it is none. */
export function readCount(text: string): CountLine | null {
  if (!"bBhH총백되후환할".includes(text.charAt(0))) return null;
  const match = counts.exec(text);
  if (match === null) return null;
  const which = match.groups?.["backtracks"] === undefined ? "hallucinations" : "backtracks";
  const rest = (match.groups?.["rest"] ?? "").slice(0, 60);
  const number = /^(?:약|총|about|total|approximately|[~≈:[({<])?\s{0,2}(\d{1,9})(?![\d/])(?!\.\d)/i.exec(rest);
  if (number?.[1] !== undefined) return { which, value: Number(number[1]), echo: false };
  if (/^(?:없|none|zero|nil|영|전혀|no(?![A-Za-z])|한 번도)/i.test(rest)) return { which, value: 0, echo: false };
  const words = ["한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열"];
  const word = words.findIndex((each) => new RegExp(`^${each}\\s?(?:번|회)`).test(rest));
  if (word >= 0) return { which, value: word + 1, echo: false };
  return { which, value: null, echo: /^[[({<]?\s?[NnMXx#?]{1,2}(?![A-Za-z])/.test(rest) };
}
