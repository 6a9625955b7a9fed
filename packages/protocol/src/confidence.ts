/** A confidence as read. */
export interface Confidence {
  /** 0 … 1; null where none can be read. */
  readonly value: number | null;
  /** The text it was read from. */
  readonly text: string;
  readonly flag: "outOfRange" | "verbal" | "confidenceRange" | "ambiguousConfidence" | null;
  /** True for a bare `1`: 1 % or certainty, which only the rest of the log can tell. */
  readonly bareOne: boolean;
  /** True where it shows that the log counts in percent: a per cent sign, or a whole number above 1. */
  readonly percent: boolean;
}

const labels = /확신도|확신|신뢰도|자신감|confiden(?:ce|t)|certainty|(?<![a-z])conf(?![a-z])/gi;

/** Where the first label of a confidence begins; -1 where there is none. */
export function confidenceStart(text: string): number {
  return text.search(labels);
}

/**
 * Reads the confidence that a line states behind its label (`확신도: 90%`, `Confidence - 90/100`) or before it
 * (`90% 확신`); null where the line names none. The first label with a number wins, then the first with a word.
 */
export function findConfidence(text: string): Confidence | null {
  let verbal: Confidence | null = null;
  for (const match of text.matchAll(labels)) {
    const after = match.index + match[0].length;
    const read = readConfidence(text.slice(after, after + 60));
    if (read !== null && (read.value !== null || read.flag === "outOfRange")) return read;
    const before = /(\d{1,3}(?:\.\d{1,4})?\s{0,2}%)\s{0,3}(?:의\s)?\(?$/.exec(
      text.slice(Math.max(0, match.index - 16), match.index),
    );
    if (before?.[1] !== undefined) return readConfidence(before[1]);
    verbal ??= read;
  }
  return verbal;
}

/** Words between a label and its number that say nothing. */
const filler =
  /^(?:\s|[:=(|[{<>→⇒]|-(?!\d)|[–—]|level|score|rate|is|of|at|about|approx(?:\.|imately)?|around|roughly|수준|정도|약|대략|는|은|이|가|도|[~≈±]|매우|very|high|low|medium|높음|낮음|중간|보통|확실|상|중|하)*/i;
const digits = "(?:\\d{1,9}(?:[.,]\\d{1,9})?|\\.\\d{1,9})";
const amount = new RegExp(
  `^(?<sign>-)?(?<first>${digits})\\s{0,2}(?<unit>%|퍼센트|프로|percent|pct)?` +
    `(?:\\s{0,2}\\/\\s{0,2}(?<denominator>\\d{1,9})|\\s{0,2}(?:-|~|–|—|〜|∼|to|에서)\\s{0,2}(?<second>${digits})\\s{0,2}(?<secondUnit>%|퍼센트|프로|percent|pct)?)?`,
  "i",
);

/**
 * Reads a confidence's text: `90%`, `90`, `0.9`, `90/100`, `85-90%` (its midpoint, flagged). Out of range or verbal gives
 * null with the text kept: nothing is clamped. Null where nothing stands there, or a placeholder.
 *
 * A number with a point up to 1 is a share; any other number up to 100 is per cent.
 */
export function readConfidence(text: string): Confidence | null {
  const near = text.slice(0, 60);
  const rest = near.slice(filler.exec(near)?.[0].length ?? 0);
  const match = amount.exec(rest);
  if (match === null) return readVerbal(near);
  const { sign, first = "", unit, denominator, second, secondUnit } = match.groups ?? {};
  const read = (value: number | null, flag: Confidence["flag"], percent: boolean): Confidence => ({
    value,
    text: match[0].trim(),
    flag,
    bareOne: first === "1" && unit === undefined && denominator === undefined && second === undefined && value !== null,
    percent,
  });
  const isPercent = (unit ?? secondUnit) !== undefined;
  if (sign !== undefined) return read(null, "outOfRange", isPercent);
  if (denominator !== undefined && Number(denominator) > 0) {
    const share = numberOf(first, false) / Number(denominator);
    return share > 1 ? read(null, "outOfRange", false) : read(share, null, false);
  }
  const low = share(first, isPercent);
  if (low === null) return read(null, "outOfRange", isPercent);
  if (second === undefined) {
    const odd = !isPercent && first.includes(".") && numberOf(first, false) > 1 && numberOf(first, false) < 2;
    const ambiguous = odd || (first === "1" && !isPercent);
    return read(low, ambiguous ? "ambiguousConfidence" : null, isPercent || numberOf(first, isPercent) > 1);
  }
  const high = share(second, isPercent);
  if (high === null) return read(null, "outOfRange", isPercent);
  return read((low + high) / 2, "confidenceRange", isPercent || numberOf(second, isPercent) > 1);
}

function numberOf(text: string, percent: boolean): number {
  // A comma parts decimals only before a per cent sign (`92,5%`); elsewhere it ends the number.
  return Number(percent ? text.replace(",", ".") : text.split(",")[0]);
}

function share(text: string, percent: boolean): number | null {
  const value = numberOf(text, percent);
  if (percent) return value <= 100 ? value / 100 : null;
  if (text === "1") return 1;
  if (text.includes(".") && value <= 1) return value;
  return value <= 100 ? value / 100 : null;
}

function readVerbal(text: string): Confidence | null {
  const cleaned = /^[\s:=([-]*([^|)\]]{0,40})/.exec(text)?.[1]?.trim() ?? "";
  if (cleaned === "" || /^(?:x{1,3}|n{1,2}|conf\d*|y{2})\s?%?$|^[._…?-]*%?$/i.test(cleaned)) return null;
  return { value: null, text: cleaned, flag: "verbal", bareOne: false, percent: false };
}

/** One entry of CONFIDENCE_LOG. */
export interface LogEntry {
  readonly step: number;
  readonly confidence: Confidence;
}

const stepNumber = "(?:step|스텝|단계)?\\s{0,3}[#_(-]?\\s{0,2}(?<step>\\d{1,9})\\s{0,2}(?:단계|스텝)?\\)?\\s{0,3}";
/** In a list a comma parts entries, never decimals. */
const entryDigits = "(?:\\d{1,9}(?:\\.\\d{1,9})?|\\.\\d{1,9})";
const logged = `\\s{0,3}(?<value>-?${entryDigits}\\s{0,2}%?(?:\\s{0,2}\\/\\s{0,2}\\d{1,9})?)`;
const entry = new RegExp(`${stepNumber}(?:[:=]|->|[→⇒(-])${logged}`, "iy");
const pairEntry = new RegExp(`${stepNumber}(?:[:=,]|->|[→⇒(-])${logged}`, "iy");
const bareEntry = new RegExp(`-?${entryDigits}\\s{0,2}%?(?:\\s{0,2}\\/\\s{0,2}\\d{1,9})?`, "y");
const pairs = /[([]\s{0,3}\d{1,9}\s{0,3},\s{0,3}[\d.]{1,9}\s{0,2}%?\s{0,3}[)\]]/g;

/**
 * Reads the entries of one line of CONFIDENCE_LOG: `step1:90, step2:85`, `1=90%`, pairs, or bare values in order, which
 * count on from `nextStep`. `partial` is true where the line breaks off with an ellipsis.
 */
export function readConfidenceEntries(
  text: string,
  nextStep: number,
): { readonly entries: readonly LogEntry[]; readonly partial: boolean } {
  const entries: LogEntry[] = [];
  let step = nextStep;
  let at = 0;
  let partial = false;
  // One bracket with two numbers is a list of two values; several are pairs of step and value.
  const pattern = text.includes(",") && [...text.matchAll(pairs)].length > 1 ? pairEntry : entry;
  while (at < text.length) {
    if (text[at] === "…" || text[at] === "⋯" || text.startsWith("...", at)) partial = true;
    const starts = /[\ds스단-]/i.test(text[at] ?? "") && !/[A-Za-z0-9가-힣.]/.test(text[at - 1] ?? " ");
    pattern.lastIndex = at;
    bareEntry.lastIndex = at;
    const pair = starts ? pattern.exec(text) : null;
    const value = pair === null && starts ? bareEntry.exec(text) : null;
    const confidence = readConfidence((pair?.groups?.["value"] ?? value?.[0] ?? "").replace(/,\s*$/, ""));
    if (confidence !== null && (pair !== null || value !== null)) {
      step = pair === null ? step : Number(pair.groups?.["step"]);
      entries.push({ step, confidence });
      step += 1;
    }
    at += Math.max(1, (pair ?? value)?.[0].length ?? 0);
  }
  return { entries, partial };
}
