import type { Cell, Direction } from "@hallumaze/maze";

import { arrowDirection, type DirectionForm, koreanDirection, latinDirection, letterRun } from "./directions.ts";

interface Place {
  readonly start: number;
  readonly end: number;
}

/** One piece of a normalised line. White space stands between tokens and is none. */
export type Token = Place &
  (
    | { readonly kind: "cell"; readonly cell: Cell }
    | { readonly kind: "placeholder"; readonly what: "cell" | "word" }
    | {
        readonly kind: "direction";
        readonly dir: Direction;
        readonly form: DirectionForm;
        /** True where the arrow may as well be a separator. */
        readonly separates: boolean;
        /** True where a particle says that one goes that way. */
        readonly moves: boolean;
        /** True for a lower-case letter, which counts only where a direction is expected. */
        readonly faint: boolean;
      }
    | { readonly kind: "separator" }
    | { readonly kind: "ellipsis" }
    | { readonly kind: "number"; readonly value: number; readonly text: string }
    | { readonly kind: "word"; readonly text: string }
    | { readonly kind: "mark"; readonly text: string }
  );

const rowLabel = "rows?|r|행";
const columnLabel = "columns?|cols?|c|열";
const integer = "-?\\d{1,9}";
const glue = "\\s{0,2}[=:]?\\s{0,2}";
/** Groups: label, first, dash, second. */
const bracketed = new RegExp(
  `[([{<]\\s{0,4}(?:(${rowLabel}|${columnLabel})${glue})?(${integer})\\s{0,2}[행열]?` +
    `(?:\\s{0,4}[,;]\\s{0,4}|\\s{1,4}|(-))(?:(?:${rowLabel}|${columnLabel})${glue})?(${integer})\\s{0,2}[행열]?\\s{0,4}[)\\]}>]`,
  "iy",
);
/** Groups: label, first, second. */
const labelled = new RegExp(
  `(${rowLabel}|${columnLabel})${glue}(${integer})\\s{0,3},?\\s{0,3}(?:${rowLabel}|${columnLabel})${glue}(${integer})(?![A-Za-z0-9])`,
  "iy",
);
const counted = /(-?\d{1,9})\s?행\s{0,3},?\s{0,3}(-?\d{1,9})\s?열/y;
const barePair = /(\d{1,9})\s{0,3},\s{0,3}(\d{1,9})(?!\s{0,3}[\d.%/]|\s{0,3},\s{0,3}\d)/y;
const cellPlaceholder =
  /[([{<]\s{0,2}(?:r\d?|row\d?|행|x\d?|i|R|N|n|M)\s{0,2}(?:-\s?1\s{0,2})?,\s{0,2}(?:c\d?|col\d?|column|열|y\d?|j|C|N|n|M)\s{0,2}(?:-\s?1\s{0,2})?[)\]}>]/y;
const wordPlaceholder =
  /[[{<(]\s{0,2}(?:방향|이유|근거|direction|dir|reason|move|N\/[ESW]\/[ESW]\/[ESW]|N\s?\|\s?[ESW]\s?\|\s?[ESW]\s?\|\s?[ESW])\s{0,2}[\]}>)]/iy;
const arrows = /-{1,3}>|={1,2}>|~{1,2}>|>/y;
const separators = new Set(["⇒", "➜", "⟶", "↦", "⟼", "➔", "➤"]);
const otherWord = /[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0400-\u04ff\u3040-\u30ff\u3400-\u9fff]+/y;

/**
 * Takes a normalised line apart. `barePairs` also reads `0,0` as a cell: only where a path or a place is expected.
 * Linear time: each place tries a fixed number of patterns with bounded quantifiers, or over one class.
 */
export function scanTokens(text: string, options: { readonly barePairs: boolean }): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    if (text.charCodeAt(at) === 0x20) {
      at += 1;
      continue;
    }
    at = readToken(tokens, text, at, options.barePairs);
  }
  return tokens;
}

/** Adds the token that begins at `start` (a run of direction letters gives several); returns where it ends. */
function readToken(tokens: Token[], text: string, start: number, barePairs: boolean): number {
  const code = text.charCodeAt(start);
  if (isDigit(code)) return readNumber(tokens, text, start, barePairs);
  if (isLatin(code) || isHangul(code)) return readWord(tokens, text, start, code);
  if (code === 0x28 || code === 0x5b || code === 0x7b || code === 0x3c) return readBracket(tokens, text, start);
  // Nothing else below the arrows and the ellipsis needs a look beyond its own character.
  if (code === 0x2d || code === 0x3d || code === 0x7e || code === 0x3e) {
    if (code === 0x2d && isDigit(text.charCodeAt(start + 1))) {
      const end = readCounted(tokens, text, start);
      if (end > start) return end;
    }
    const length = matchLength(arrows, text, start);
    if (length > 0) return add(tokens, { kind: "separator", start, end: start + length });
  } else if (code === 0x2e) {
    if (text.startsWith("..", start))
      return add(tokens, { kind: "ellipsis", start, end: start + (text[start + 2] === "." ? 3 : 2) });
    if (isDigit(text.charCodeAt(start + 1))) return readNumber(tokens, text, start, false);
  } else if (code > 0x7f) return readSymbol(tokens, text, start);
  return add(tokens, { kind: "mark", text: text.charAt(start), start, end: start + 1 });
}

function add(tokens: Token[], token: Token): number {
  tokens.push(token);
  return token.end;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isLatin(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f;
}

function isHangul(code: number): boolean {
  return (code >= 0xac00 && code <= 0xd7a3) || (code >= 0x3131 && code <= 0x318e);
}

function matchLength(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex - start : 0;
}

function readSymbol(tokens: Token[], text: string, start: number): number {
  const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
  const end = start + character.length;
  const arrow = arrowDirection(character);
  if (arrow !== null) {
    return add(tokens, { kind: "direction", ...arrow, form: "arrow", moves: false, faint: false, start, end });
  }
  if (separators.has(character)) return add(tokens, { kind: "separator", start, end });
  if (character === "…" || character === "⋯") return add(tokens, { kind: "ellipsis", start, end });
  const length = matchLength(otherWord, text, start);
  if (length > 0) {
    return add(tokens, { kind: "word", text: text.slice(start, start + length), start, end: start + length });
  }
  return add(tokens, { kind: "mark", text: character, start, end });
}

function readBracket(tokens: Token[], text: string, start: number): number {
  const next = text.charCodeAt(start + 1);
  // Only white space, a sign, a digit or a label can begin what is read here; all else is a mere bracket.
  if (next !== next || "([{<>)]}→↓↑←".includes(text.charAt(start + 1))) {
    return add(tokens, { kind: "mark", text: text.charAt(start), start, end: start + 1 });
  }
  bracketed.lastIndex = start;
  const match = bracketed.exec(text);
  // A dash parts a pair only within angle brackets; elsewhere it is a range or a sign.
  if (match !== null && (match[3] === undefined || text[start] === "<")) {
    return addCell(tokens, match[1], match[2], match[4], start, bracketed.lastIndex);
  }
  if (!isDigit(next)) {
    const cellEnd = matchLength(cellPlaceholder, text, start);
    if (cellEnd > 0) return add(tokens, { kind: "placeholder", what: "cell", start, end: start + cellEnd });
    const wordEnd = matchLength(wordPlaceholder, text, start);
    if (wordEnd > 0) return add(tokens, { kind: "placeholder", what: "word", start, end: start + wordEnd });
  }
  return add(tokens, { kind: "mark", text: text.charAt(start), start, end: start + 1 });
}

function addCell(
  tokens: Token[],
  label: string | undefined,
  first: string | undefined,
  second: string | undefined,
  start: number,
  end: number,
): number {
  // Adding 0 turns -0 into 0.
  const [one, two] = [Number(first) + 0, Number(second) + 0];
  return add(tokens, { kind: "cell", cell: /^(?:c|열)/i.test(label ?? "") ? [two, one] : [one, two], start, end });
}

function readNumber(tokens: Token[], text: string, start: number, barePairs: boolean): number {
  const end = readCounted(tokens, text, start);
  if (end > start) return end;
  if (barePairs && !isLatin(text.charCodeAt(start - 1))) {
    barePair.lastIndex = start;
    const pair = barePair.exec(text);
    // At the very end, behind a bracket, it is a place that was cut: its second number may not be whole.
    const isCut = barePair.lastIndex === text.length && /[([{<]/.test(text.charAt(start - 1));
    if (pair !== null && !isCut) return addCell(tokens, undefined, pair[1], pair[2], start, barePair.lastIndex);
  }
  let at = start;
  while (isDigit(text.charCodeAt(at))) at += 1;
  if (text[at] === "." && isDigit(text.charCodeAt(at + 1))) {
    at += 1;
    while (isDigit(text.charCodeAt(at))) at += 1;
  }
  const digits = text.slice(start, at);
  return add(tokens, { kind: "number", value: Number(digits), text: digits, start, end: at });
}

/** `0행 0열`; returns `start` where it does not stand there. */
function readCounted(tokens: Token[], text: string, start: number): number {
  counted.lastIndex = start;
  const match = counted.exec(text);
  return match === null ? start : addCell(tokens, undefined, match[1], match[2], start, counted.lastIndex);
}

function readWord(tokens: Token[], text: string, start: number, code: number): number {
  if ("rRcC행열".includes(text.charAt(start))) {
    labelled.lastIndex = start;
    const match = labelled.exec(text);
    if (match !== null) return addCell(tokens, match[1], match[2], match[3], start, labelled.lastIndex);
  }
  const belongs = isLatin(code) ? isLatin : isHangul;
  let end = start + 1;
  while (belongs(text.charCodeAt(end))) end += 1;
  const word = text.slice(start, end);
  const place = { start, end };
  if (belongs === isHangul) {
    const korean = koreanDirection(word);
    if (korean !== null) {
      return add(tokens, { kind: "direction", ...korean, form: "word", separates: false, faint: false, ...place });
    }
    return add(tokens, { kind: "word", text: word, ...place });
  }
  const run = letterRun(word);
  if (run !== null) {
    const move = { kind: "direction", form: "letter", separates: false, moves: false, faint: false } as const;
    for (const [index, dir] of run.entries()) {
      tokens.push({ ...move, dir, start: start + index, end: start + index + 1 });
    }
    return end;
  }
  const latin = latinDirection(word);
  if (latin === null) return add(tokens, { kind: "word", text: word, ...place });
  const faint = latin.form === "letter" && word !== word.toUpperCase();
  return add(tokens, { kind: "direction", ...latin, separates: false, moves: false, faint, ...place });
}
