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
const bracketed = new RegExp(
  `[([{<]\\s{0,4}(?:(?<label>${rowLabel}|${columnLabel})${glue})?(?<first>${integer})\\s{0,2}[행열]?` +
    `(?:\\s{0,4}[,;]\\s{0,4}|\\s{1,4}|(?<dash>-))(?:(?:${rowLabel}|${columnLabel})${glue})?(?<second>${integer})\\s{0,2}[행열]?\\s{0,4}[)\\]}>]`,
  "iy",
);
const labelled = new RegExp(
  `(?:(?<label>${rowLabel}|${columnLabel})${glue}(?<first>${integer})\\s{0,3},?\\s{0,3}(?:${rowLabel}|${columnLabel})${glue}(?<second>${integer})(?![A-Za-z0-9])` +
    `|(?<row>${integer})\\s?행\\s{0,3},?\\s{0,3}(?<column>${integer})\\s?열)`,
  "iy",
);
const barePair = /(\d{1,9})\s{0,3},\s{0,3}(\d{1,9})(?!\s{0,3}[\d.%/]|\s{0,3},\s{0,3}\d)/y;
const cellPlaceholder =
  /[([{<]\s{0,2}(?:r\d?|row\d?|행|x\d?|i|R|N|n|M)\s{0,2}(?:-\s?1\s{0,2})?,\s{0,2}(?:c\d?|col\d?|column|열|y\d?|j|C|N|n|M)\s{0,2}(?:-\s?1\s{0,2})?[)\]}>]/y;
const wordPlaceholder =
  /[[{<(]\s{0,2}(?:방향|이유|근거|direction|dir|reason|move|N\/[ESW]\/[ESW]\/[ESW]|N\s?\|\s?[ESW]\s?\|\s?[ESW]\s?\|\s?[ESW])\s{0,2}[\]}>)]/iy;
const arrows = /-{1,3}>|={1,2}>|~{1,2}>|[⇒➜⟶↦⟼]|>/y;
const word =
  /[A-Za-z_][A-Za-z_]*|[\uac00-\ud7a3\u3131-\u318e]+|[\u00c0-\u024f\u0400-\u04ff\u3040-\u30ff\u3400-\u9fff]+/y;
const number = /\d+(?:\.\d+)?|\.\d+/y;

/**
 * Takes a normalised line apart. `barePairs` also reads `0,0` as a cell: only where a path or a place is expected.
 * Linear time: each place tries a fixed number of patterns with bounded quantifiers, or over one class.
 */
export function scanTokens(text: string, options: { readonly barePairs: boolean }): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    if (text[at] === " ") {
      at += 1;
      continue;
    }
    const read = readToken(text, at, options.barePairs);
    for (const token of read) tokens.push(token);
    at = read.at(-1)?.end ?? at + 1;
  }
  return tokens;
}

function readToken(text: string, start: number, barePairs: boolean): readonly Token[] {
  const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
  const cell = readCell(text, start, character, barePairs);
  if (cell !== null) return [cell];
  const matched = (pattern: RegExp): string | null => {
    pattern.lastIndex = start;
    return pattern.exec(text)?.[0] ?? null;
  };
  const place = (length: number): Place => ({ start, end: start + length });
  if ("[({<".includes(character)) {
    const cellEcho = matched(cellPlaceholder);
    if (cellEcho !== null) return [{ kind: "placeholder", what: "cell", ...place(cellEcho.length) }];
    const wordEcho = matched(wordPlaceholder);
    if (wordEcho !== null) return [{ kind: "placeholder", what: "word", ...place(wordEcho.length) }];
    return [{ kind: "mark", text: character, ...place(1) }];
  }
  const arrow = arrowDirection(character);
  if (arrow !== null) {
    return [{ kind: "direction", ...arrow, form: "arrow", moves: false, faint: false, ...place(character.length) }];
  }
  const separator = matched(arrows);
  if (separator !== null) return [{ kind: "separator", ...place(separator.length) }];
  if (character === "…" || character === "⋯" || text.startsWith("...", start)) {
    return [{ kind: "ellipsis", ...place(character === "." ? 3 : 1) }];
  }
  const digits = matched(number);
  if (digits !== null) return [{ kind: "number", value: Number(digits), text: digits, ...place(digits.length) }];
  const letters = matched(word);
  if (letters !== null) return readWord(letters, start);
  return [{ kind: "mark", text: character, ...place(character.length) }];
}

function readCell(text: string, start: number, character: string, barePairs: boolean): Token | null {
  let match: RegExpExecArray | null = null;
  if ("[({<".includes(character)) {
    bracketed.lastIndex = start;
    match = bracketed.exec(text);
    // A dash parts a pair only within angle brackets; elsewhere it is a range or a sign.
    if (match?.groups?.["dash"] !== undefined && character !== "<") match = null;
  } else if (/[rc행열\d-]/i.test(character) && !/[A-Za-z0-9_가-힣]/.test(text[start - 1] ?? " ")) {
    labelled.lastIndex = start;
    match = labelled.exec(text);
    if (match === null && barePairs && /\d/.test(character)) {
      barePair.lastIndex = start;
      const bare = barePair.exec(text);
      if (bare !== null) {
        return { kind: "cell", cell: [Number(bare[1]), Number(bare[2])], start, end: start + bare[0].length };
      }
    }
  }
  if (match === null) return null;
  const groups = match.groups ?? {};
  const first = Number(groups["first"] ?? groups["row"]);
  const second = Number(groups["second"] ?? groups["column"]);
  const swapped = /^(?:c|열)/i.test(groups["label"] ?? "");
  const cell: Cell = swapped ? [second + 0, first + 0] : [first + 0, second + 0];
  return { kind: "cell", cell, start, end: start + match[0].length };
}

function readWord(text: string, start: number): readonly Token[] {
  const place = { start, end: start + text.length };
  const run = letterRun(text);
  if (run !== null) {
    const move = { kind: "direction", form: "letter", separates: false, moves: false, faint: false } as const;
    return run.map((dir, index) => ({ ...move, dir, start: start + index, end: start + index + 1 }));
  }
  const latin = latinDirection(text);
  if (latin !== null) {
    const faint = latin.form === "letter" && text !== text.toUpperCase();
    return [{ kind: "direction", ...latin, separates: false, moves: false, faint, ...place }];
  }
  const korean = koreanDirection(text);
  if (korean !== null) {
    return [{ kind: "direction", ...korean, form: "word", separates: false, faint: false, ...place }];
  }
  return [{ kind: "word", text, ...place }];
}
