import { normaliseLine } from "./normalise-line.ts";
import type { Stretch } from "./split-reasoning.ts";
import { readStepHead } from "./step-head.ts";

/** One line of the visible reply, normalised, with its place in the raw one. */
export interface Line {
  /** Normalised text without indentation, bullets, list numbers, quote marks and headings' signs. */
  readonly text: string;
  /** Columns of white space before the text or its bullet, after quote marks. */
  readonly indent: number;
  /** True where the line begins with a table's or a continuation's pipe. */
  readonly piped: boolean;
  /** True where it begins with a bullet or a list number. */
  readonly listed: boolean;
  /** The list number that it begins with; null where there is none. */
  readonly number: number | null;
  /** True for a code fence, a rule or a table's ruling: neither text nor a blank line. */
  readonly ruled: boolean;
  readonly start: number;
  readonly end: number;
}

/** Breaks in HTML, and line feeds that a server escaped. A LaTeX command in small letters is none. */
const writtenBreaks = /<br\s{0,3}\/?>|<\/(?:p|li|tr|div|h[1-6])>|\\n(?![a-z])/gi;
/** More blank lines in a row than this say nothing more. */
const maxBlankRun = 4;

/** Splits the visible stretches of a raw reply into normalised lines, in order. Linear time. */
export function splitLines(text: string, visible: readonly Stretch[]): Line[] {
  const lines: Line[] = [];
  for (const [start, end] of visible) {
    let from = start;
    for (let at = start; at < end; at += 1) {
      if (!isBreak(text.charCodeAt(at))) continue;
      addRawLine(lines, text, from, at);
      from = at + 1;
    }
    addRawLine(lines, text, from, end);
  }
  return joinArrays(lines);
}

/** Line feed, vertical tab, form feed, carriage return, next line, line and paragraph separator. */
function isBreak(code: number): boolean {
  return (code >= 0x0a && code <= 0x0d) || code === 0x85 || code === 0x2028 || code === 0x2029;
}

function addRawLine(lines: Line[], text: string, start: number, end: number): void {
  if (start === end) {
    // The line feed of a CRLF makes no line of its own.
    if (text[start] === "\n" && text[start - 1] === "\r") return;
    addBlank(lines, start);
    return;
  }
  const raw = text.slice(start, end);
  if (!raw.includes("<") && !raw.includes("\\n")) {
    addLine(lines, raw, start);
    return;
  }
  let from = 0;
  for (const match of raw.matchAll(writtenBreaks)) {
    addLine(lines, raw.slice(from, match.index), start + from);
    from = match.index + match[0].length;
  }
  addLine(lines, raw.slice(from), start + from);
}

function addBlank(lines: Line[], start: number): void {
  for (let back = 1; ; back += 1) {
    const line = lines.at(-back);
    if (line === undefined || line.text !== "" || line.ruled) break;
    if (back === maxBlankRun) return;
  }
  lines.push({ ...blank, start, end: start });
}

/** Puts a list that a pretty printer spread over lines (`pos: [` / `0,` / `0` / `]`) back on one. */
function joinArrays(lines: readonly Line[]): Line[] {
  const joined: Line[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    if (line === undefined) break;
    let depth = /[[,]$/.test(line.text) ? depthOf(line.text) : 0;
    const parts = [line.text];
    let last = line;
    while (depth > 0) {
      const next = lines[at + 1];
      if (next === undefined || next.ruled || !/^[\d\s,[\](){}-]+$/.test(next.text)) break;
      parts.push(next.text);
      depth += depthOf(next.text);
      last = next;
      at += 1;
    }
    joined.push(parts.length === 1 ? line : { ...line, text: parts.join(" "), end: last.end });
  }
  return joined;
}

function depthOf(text: string): number {
  let depth = 0;
  for (const character of text) {
    if (character === "[") depth += 1;
    else if (character === "]") depth -= 1;
  }
  return depth;
}

function addLine(lines: Line[], raw: string, start: number): void {
  const normal = normaliseLine(raw);
  const prefix = readPrefix(normal);
  const own = normal.slice(prefix.length).trimEnd();
  // Most lines begin with their label: those need no closer look.
  const text = /^s/i.test(own) || !/step|스텝/i.test(own.slice(0, 32)) ? own : own.replace(beforeStep, "");
  // What is nothing but signs is a rule or a fence, unless nothing at all was there.
  const ruled = text === "" ? raw.trim() !== "" && normal.trim() !== "" : ruling.test(text);
  if ((raw.includes("```") || raw.includes("~~~")) && fence.test(raw)) {
    lines.push({ ...blank, ruled: true, start, end: start + raw.length });
    return;
  }
  if (text === "" && !ruled) {
    if (raw.includes("`") || raw.includes("~")) lines.push({ ...blank, ruled: true, start, end: start + raw.length });
    else addBlank(lines, start);
    return;
  }
  const { indent } = prefix;
  const end = start + raw.length;
  for (const [index, part] of unfold(text).entries()) {
    const leads = index === 0;
    const [piped, listed, number] = leads ? [prefix.piped, prefix.listed, prefix.number] : [false, false, null];
    lines.push({ text: part, indent, piped, listed, number, ruled, start, end });
  }
}

const blank: Line = { text: "", indent: 0, piped: false, listed: false, number: null, ruled: false, start: 0, end: 0 };
/**
 * What may stand before a STEP label beside bullets: signs and counts of no meaning, and the word that the line corrects
 * another one. Its other words would make it a sentence.
 */
const beforeStep =
  /^(?=.{1,24}(?:step|스텝)\s{0,3}[#([]?\s?\d)(?:[^\p{L},|:({[<][^\p{L},|]{0,11}|[[(]?(?:수정|정정|재시도|다시|correct(?:ed|ion)|revised|revision|fixed|retry|updated)[\])]?\s{0,2}[:\-–—]?\s{0,2})(?=(?:step|스텝)\s{0,3}[#([]?\s?\d)/iu;

/** A code fence, with the language that it may name. */
const fence = /^[\s>]{0,20}(?:`{3,}|~{3,})\s{0,4}[\w+#.-]{0,20}\s{0,4}$/;
const ruling = /^[-=_|:+ ]+$/;

interface Prefix {
  readonly length: number;
  readonly indent: number;
  readonly piped: boolean;
  readonly listed: boolean;
  readonly number: number | null;
}

const bullets = new Set("*+-•·▪▫◦●○■□◆◇▶▸►➤➢➔✓✔✅☑🔹🔸🔵🟢📍👣🚶🔁🔄⚠⛔🚧🏁🎯💡📌│├└─┃#>'\"=");
const listNumber = /\(?\d{1,5}[.)]\s{0,8}(?=\S)|\[[ xX]\]\s{0,8}/y;

function readPrefix(text: string): Prefix {
  let at = 0;
  let indent = -1;
  let piped = false;
  let listed = false;
  let number: number | null = null;
  let column = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === 0x20) {
      at += 1;
      column += 1;
      continue;
    }
    if (code === 0x3e && indent < 0 && text[at + 1] !== "=") {
      at += 1;
      column = 0;
      continue;
    }
    if (indent < 0) indent = column;
    if (code === 0x7c) {
      piped = true;
      at += 1;
      continue;
    }
    if (code === 0x28 || code === 0x5b || (code >= 0x30 && code <= 0x39)) {
      listNumber.lastIndex = at;
      if (!listNumber.test(text)) break;
      const digits = /\d{1,5}/.exec(text.slice(at, at + 6))?.[0];
      number = digits === undefined ? number : Number(digits);
      at = listNumber.lastIndex;
      listed = true;
      continue;
    }
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    // An arrow at the start of a line continues a path, and `-5` is a number.
    if (character === "#" && piped && /^#\s{0,4}\|/.test(text.slice(at, at + 6))) break;
    if (!bullets.has(character) || signed.test(text.slice(at, at + 3))) break;
    if (code !== 0x23 && code !== 0x3d) listed = true;
    at += character.length;
  }
  return { length: at, indent: Math.max(0, indent), piped, listed, number };
}

const signed = /^(?:[-=]{1,2}>|-\d)/;

/** An object with a key, or the key of one. Braces around anything else (`{(0,0) → …}`) are brackets. */
const jsonStart = /^(?:\w{1,24}\s?:\s?)?\[?\s?\{\s{0,4}(?:[A-Za-z0-9가-힣_ ]{1,24}:|[{}])/;
const mayUnfold = /.(?:STEP\s{0,3}\d|FINAL_PATH|CONFIDENCE_LOG|_COUNT|STRATEGY_CHANGE)/i;
const laterLabels = /(?:FINAL_PATH|CONFIDENCE_LOG|HALLUCINATION_COUNT|BACKTRACK_COUNT|STRATEGY_CHANGE)\s{0,3}[:=]/g;
const laterStep = /\bSTEP\s{0,3}(\d{1,6})\s{0,3}:/gi;

/** Takes apart what was written on one line and belongs on several: JSON objects, a whole log, a whole final block. */
function unfold(text: string): readonly string[] {
  if (jsonStart.test(text)) return unfoldJson(text);
  const cuts = new Set<number>();
  if (!mayUnfold.test(text)) return [text];
  const own = readStepHead(text)?.index ?? null;
  if (own !== null) {
    let last = own;
    for (const match of text.matchAll(laterStep)) {
      // Only the next number starts a line of its own; `as in STEP 2: …` of a reason does not.
      if (match.index === 0 || Number(match[1]) !== last + 1) continue;
      cuts.add(match.index);
      last += 1;
    }
  }
  if (own !== null || /^(?:FINAL|CONFIDENCE|HALLUCINATION|BACKTRACK|STRATEGY)_/.test(text)) {
    for (const match of text.matchAll(laterLabels)) if (match.index > 0) cuts.add(match.index);
  }
  if (cuts.size === 0) return [text];
  const places = [0, ...[...cuts].sort((a, b) => a - b), text.length];
  return places.slice(1).map((place, index) => text.slice(places[index] ?? 0, place).trim());
}

const finalKeys = /(?:final_?path|backtrack_?count|hallucination_?count|confidence_?log)\s?:/i;

const placeObject =
  /\{\s{0,4}(?:row|r)\s{0,2}:\s{0,2}(-?\d{1,9})\s{0,2},\s{0,4}(?:column|col|c)\s{0,2}:\s{0,2}(-?\d{1,9})\s{0,4}\}/gi;

/** Innermost objects stand alone; members outside them, and those of a final block, are lines. Linear time. */
function unfoldJson(json: string): readonly string[] {
  // A place written as an object is no object of its own.
  const text = json.replace(placeObject, "($1,$2)");
  const parts: string[] = [];
  let from = 0;
  let opened = false;
  const cut = (to: number): void => {
    const part = text.slice(from, to);
    from = to + 1;
    // What names no value is no object to read.
    if (part === "" || (opened && !part.includes(":")) || part.trim() === "") return;
    if (opened && !finalKeys.test(part)) parts.push(`{${part}}`);
    else for (const member of splitMembers(part)) parts.push(member);
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character !== "{" && character !== "}") continue;
    cut(at);
    opened = character === "{";
  }
  // A last object without its end is what a cut leaves.
  cut(text.length);
  return parts;
}

/** Parts `key: value` members at commas outside brackets; drops brackets left over from an outer list. */
export function splitMembers(text: string): readonly string[] {
  const members: string[] = [];
  let from = 0;
  let depth = 0;
  const cut = (to: number): void => {
    let start = from;
    while (start < to && ", ]".includes(text[start] ?? "")) start += 1;
    const member = text.slice(start, to).trim();
    if (member !== "" && member !== "[") members.push(member);
    from = to + 1;
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "[" || character === "(") depth += 1;
    else if (character === "]" || character === ")") depth = Math.max(0, depth - 1);
    else if (character === "," && depth === 0) cut(at);
  }
  cut(text.length);
  return members;
}
