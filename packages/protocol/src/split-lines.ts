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
  /** True for a code fence, a rule or a table's ruling: neither text nor a blank line. */
  readonly ruled: boolean;
  readonly start: number;
  readonly end: number;
}

const breaks = /\r\n|[\n\r\u2028\u2029\u0085\f\v]|<br\s{0,3}\/?>|<\/(?:p|li|tr|div|h[1-6])>|\\n(?![a-z])/gi;

/** Splits the visible stretches of a raw reply into normalised lines, in order. Linear time. */
export function splitLines(text: string, visible: readonly Stretch[]): Line[] {
  const lines: Line[] = [];
  for (const [start, end] of visible) {
    const stretch = text.slice(start, end);
    let from = 0;
    for (const match of stretch.matchAll(breaks)) {
      addLine(lines, stretch.slice(from, match.index), start + from);
      from = match.index + match[0].length;
    }
    addLine(lines, stretch.slice(from), start + from);
  }
  return joinArrays(lines);
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
  const text = normal.slice(prefix.length).trimEnd();
  const line = {
    indent: prefix.indent,
    piped: prefix.piped,
    listed: prefix.listed,
    ruled: /^[-=_|:+ ]*$/.test(text) && text + raw.trim() !== "",
    start,
    end: start + raw.length,
  };
  const parts = unfold(text);
  for (const [index, part] of parts.entries()) {
    lines.push({ ...line, text: part, piped: line.piped && index === 0, listed: line.listed && index === 0 });
  }
}

interface Prefix {
  readonly length: number;
  readonly indent: number;
  readonly piped: boolean;
  readonly listed: boolean;
}

const bullets = /[*+\-•·▪▫◦●○■□◆◇▶▸►➤➢➔✓✔✅☑🔹🔸🔵🟢📍👣🚶│├└─┃#>'"=]/u;
const listNumber = /\(?\d{1,5}[.)]\s{0,8}(?=\S)|\[[ xX]\]\s{0,8}/y;

function readPrefix(text: string): Prefix {
  let at = 0;
  let indent = -1;
  let piped = false;
  let listed = false;
  let column = 0;
  for (;;) {
    const code = text.codePointAt(at);
    if (code === undefined) break;
    const character = String.fromCodePoint(code);
    if (character === " ") {
      at += 1;
      column += 1;
      continue;
    }
    if (character === ">" && indent < 0 && text[at + 1] !== "=") {
      at += 1;
      column = 0;
      continue;
    }
    if (indent < 0) indent = column;
    if (character === "|") {
      piped = true;
      at += 1;
      continue;
    }
    listNumber.lastIndex = at;
    const number = listNumber.exec(text);
    if (number !== null) {
      at += number[0].length;
      listed = true;
      continue;
    }
    // An arrow at the start of a line continues a path, and `-5` is a number.
    if (!bullets.test(character) || /^(?:[-=]{1,2}>|-\d)/.test(text.slice(at, at + 3))) break;
    if (character !== "#" && character !== "=") listed = true;
    at += character.length;
  }
  return { length: at, indent: Math.max(0, indent), piped, listed };
}

const laterLabels = /(?:FINAL_PATH|CONFIDENCE_LOG|HALLUCINATION_COUNT|BACKTRACK_COUNT|STRATEGY_CHANGE)\s{0,3}[:=]/g;
const laterStep = /\bSTEP\s{0,3}(\d{1,6})\s{0,3}:/gi;

/** Takes apart what was written on one line and belongs on several: JSON objects, a whole log, a whole final block. */
function unfold(text: string): readonly string[] {
  if (text.startsWith("{") || text.startsWith("[{") || /^\w{1,20}:\s?\[?\{/.test(text)) return unfoldJson(text);
  const cuts = new Set<number>();
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
    if (opened && !finalKeys.test(part)) parts.push(`{${part}}`);
    else parts.push(...splitMembers(part));
    from = to + 1;
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
