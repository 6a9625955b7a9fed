import { type Cell, type Direction, directionBetween, step } from "@hallumaze/maze";

import type { AttemptFlag } from "./reading.ts";
import { scanTokens, type Token } from "./scan-tokens.ts";

/** One move as a line states it. */
export interface Move {
  readonly from: Cell | null;
  readonly dir: Direction | null;
  readonly to: Cell | null;
  readonly flags: readonly AttemptFlag[];
}

/** What the move part of a STEP line says. */
export interface Moves {
  /** At least one; several where the line lists several. */
  readonly moves: readonly Move[];
  /** True where a placeholder of the template stands in it. */
  readonly echo: boolean;
  /** True where anything of a move was read: a place, a direction or a target. */
  readonly found: boolean;
  /** True where a direction or a target was read, or a direction that cannot be told. */
  readonly moved: boolean;
  /** What follows the moves. */
  readonly rest: string;
}

type DirectionToken = Token & { readonly kind: "direction" };
type Item = { readonly kind: "dir"; dir: Direction; forms: string[] } | { readonly kind: "cell"; readonly cell: Cell };

/** A count of cells goes as far as the largest maze does. */
const maxRepeat = 101;
/** One more than the reader keeps: enough to know that there were too many. */
const maxItems = 20_001;

/** Reads the part of a STEP line that states a place and a move, as far as its first pipe or confidence. */
export function readMoves(text: string): Moves {
  const tokens = scanTokens(text, { barePairs: true });
  const origin = findOrigin(tokens);
  const zone = gather(tokens, origin.next, origin.leading, text, origin.from !== null);
  const echo = zone.echo || origin.echo;
  const rest = text.slice(zone.end);
  const nothing = { echo, found: origin.from !== null, rest };
  if (zone.ambiguous) {
    const move: Move = { from: origin.from, dir: null, to: null, flags: ["ambiguousDirection"] };
    return { ...nothing, moves: [move], found: true, moved: true };
  }
  const moves = fold(origin.from, zone.items);
  if (moves.length === 0) {
    return { ...nothing, moves: [{ from: origin.from, dir: null, to: null, flags: [] }], moved: false };
  }
  return { ...nothing, moves, found: true, moved: true };
}

interface Origin {
  readonly from: Cell | null;
  /** Directions stated before the place (`move south from (0,0)`). */
  readonly leading: readonly DirectionToken[];
  /** Index of the first token after the place. */
  readonly next: number;
  readonly echo: boolean;
}

function findOrigin(tokens: readonly Token[]): Origin {
  const at = tokens.findIndex(
    (token) => token.kind === "cell" || (token.kind === "placeholder" && token.what === "cell"),
  );
  const first = tokens[at];
  if (first === undefined) return { from: null, leading: [], next: 0, echo: false };
  if (first.kind === "placeholder") return { from: null, leading: [], next: at + 1, echo: true };
  const leading = tokens
    .slice(0, at)
    .filter((token): token is DirectionToken => token.kind === "direction" && !token.separates && !token.faint)
    // `S(0,0)` names START, not a way.
    .filter(({ form, end }) => form !== "letter" || end !== first.start);
  const only = !tokens.slice(at + 1).some((token) => token.kind === "cell");
  const later = tokens.slice(at + 1).some((token) => token.kind === "direction" && !token.faint);
  const before = tokens[at - 1];
  const leads = before !== undefined && (isSeparator(before) || isWord(before, "to", "into"));
  // `[S] → (1,0)`: the only cell is where the move leads, not where it starts.
  if (only && leads && (leading.length > 0 || !later)) return { from: null, leading: [], next: 0, echo: false };
  return { from: first.kind === "cell" ? first.cell : null, leading, next: at + 1, echo: false };
}

interface Zone {
  readonly items: readonly Item[];
  readonly ambiguous: boolean;
  readonly echo: boolean;
  readonly end: number;
}

const connecting = new Set(
  "to at now arrive arrives arriving reach reaches move moves moving go goes going into onto cell position new next then and direction 도착 이동 현재 위치 셀 칸 쪽 방향 로 으로 에서 에서의 그리고 다음 방향으로 쪽으로 칸씩 이동하여 이동해 이동해서 이동합니다 이동한다 이동함 도달".split(
    " ",
  ),
);
const choosing = /^(?:choos|go$|mov|tak|선택|이동|결정|택)/i;

function offers(word: string, next: Token | undefined): boolean {
  if (!/^(?:available|options?|possible|open|openings?|exits?|choices?|valid|가능|가능한|열린|선택지)$/i.test(word))
    return false;
  return (
    isMark(next, ":") || (next !== undefined && isWord(next, "directions", "direction", "moves", "are", "방향", "이동"))
  );
}

const alternatives = new Set(["or", "또는", "혹은", "이나", "아니면"]);
const counts: Readonly<Record<string, number>> = {
  한: 1,
  두: 2,
  세: 3,
  네: 4,
  다섯: 5,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
};

/** Walks over the tokens behind the place and gathers moves, as long as what stands there is about moves. */
function gather(
  tokens: readonly Token[],
  next: number,
  leading: readonly DirectionToken[],
  text: string,
  placed: boolean,
): Zone {
  const items: Item[] = [];
  let [echo, ambiguous, depth, separated, unread] = [false, false, 0, !placed, false];
  // A count that stands before its direction (`3S`, `두 칸 남쪽`).
  let ahead = 1;
  let remarked: Direction | null = null;
  // True while open directions are listed (`Available: E, S.`), of which none is the move.
  let listing = false;
  let end = tokens[next - 1]?.end ?? 0;
  for (const token of leading) addDirection(items, token);
  let at = next;
  for (; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    if (token.kind === "ellipsis" && items.length === 0) echo = true;
    if (token.kind === "placeholder") echo ||= items.length === 0;
    else if (token.kind === "cell") {
      if (items.length > 0 && !isLinked(tokens[at - 1])) break;
      if (items.length === 0 && unread && !isLinked(tokens[at - 1]) && !leadsTo(tokens[at + 1])) continue;
      items.push({ kind: "cell", cell: token.cell });
      separated = false;
    } else if (token.kind === "direction") {
      if (listing) {
        if (!token.separates || !isMark(tokens[at - 1], "]")) continue;
        listing = false;
      }
      if (token.faint && depth === 0 && !separated) continue;
      if (token.separates && separatesHere(tokens, at, separated, items)) {
        separated = true;
        continue;
      }
      if (items.length > 0 && depth === 0 && !isListed(tokens, at)) break;
      if (depth > 0 && items.length > 0 && isRemark(tokens, at)) break;
      const last = items.at(-1);
      // `북쪽(위)`: the same said again in brackets.
      const again =
        (isMark(tokens[at - 1], "(") && last?.kind === "dir" && last.dir === token.dir) ||
        (last?.kind === "cell" && remarked === token.dir && tokens[at - 1]?.kind === "direction");
      if (isRemarkOnTarget(tokens, at, items)) {
        items.splice(-1, 0, { kind: "dir", dir: token.dir, forms: [token.form] });
        remarked = token.dir;
      } else if (!again) addDirection(items, token);
      if (ahead > 1) repeat(items, ahead);
      ahead = 1;
      separated = true;
    } else if (token.kind === "separator") {
      separated = true;
      listing = false;
    } else if (token.kind === "number") {
      if (countsNext(tokens, at)) ahead = token.value;
      else if (!repeats(items, token.value, tokens[at + 1]) && items.length > 0) break;
    } else if (token.kind === "word") {
      if (alternatives.has(token.text.toLowerCase())) ambiguous ||= isDirection(tokens[at + 1]) && items.length > 0;
      else if (Object.hasOwn(counts, token.text.toLowerCase())) {
        const count = counts[token.text.toLowerCase()] ?? 1;
        if (countsNext(tokens, at)) ahead = count;
        else if (!repeats(items, count, tokens[at + 1]) && items.length > 0) break;
      } else if (!connecting.has(token.text.toLowerCase()) && !isTimes(token, tokens[at + 1])) {
        if (items.length > 0) break;
        unread = true;
        listing = offers(token.text, tokens[at + 1]) || (listing && !choosing.test(token.text));
      }
    } else if (token.kind === "mark") {
      if ("[({<".includes(token.text)) depth += 1;
      else if ("])}>".includes(token.text)) depth = Math.max(0, depth - 1);
      else if (token.text === "/" && items.length > 0 && isDirection(tokens[at + 1])) {
        const [last, other] = [items.at(-1), tokens[at + 1]];
        // `S/남` says the same twice.
        ambiguous ||= last?.kind !== "dir" || other?.kind !== "direction" || other.dir !== last.dir;
      } else if (items.length > 0 && !",:+&=-–—×;".includes(token.text)) break;
      else if ("✗✘❌🚫⛔".includes(token.text)) break;
      if (":=".includes(token.text)) separated = true;
      if (".;".includes(token.text)) listing = false;
    } else if (items.length > 0) break;
    if (!isMark(token, "(") && token.kind !== "word") end = token.end;
  }
  const contested = ambiguous || isCopiedLine(items) || contradictsItself(tokens, next, items, text);
  return { items, ambiguous: contested && !echo, echo, end };
}

/** In brackets, a direction with words behind it is a remark (`(east is blocked)`), not a further move. */
function isRemark(tokens: readonly Token[], at: number): boolean {
  const following = tokens[at + 1];
  return following?.kind === "word" && !connecting.has(following.text.toLowerCase());
}

/** Outside brackets, a further direction counts only in a list of moves: no words behind it, and none before it. */
function isListed(tokens: readonly Token[], at: number): boolean {
  return !isRemark(tokens, at) && tokens[at - 1]?.kind !== "word";
}

/** Whether a rightward arrow parts its neighbours here rather than pointing east. */
function separatesHere(tokens: readonly Token[], at: number, separated: boolean, items: readonly Item[]): boolean {
  const following = tokens[at + 1];
  const before = tokens[at - 1];
  const enclosed = before?.kind === "mark" && following?.kind === "mark" && "[({<".includes(before.text);
  if (enclosed && "])}>".includes(following.text)) return false;
  if (following?.kind === "cell" || following?.kind === "placeholder") return true;
  const onward = following?.kind === "direction" && !following.separates;
  const opens = following?.kind === "mark" && "[({<".includes(following.text);
  const last = items.at(-1);
  if (last?.kind === "dir") return !(last.dir === "E" && before?.end === tokens[at]?.start) && (onward || opens);
  if (last?.kind === "cell") return true;
  return !separated || onward || opens;
}

function isSeparator(token: Token): boolean {
  return token.kind === "separator" || (token.kind === "direction" && token.separates);
}

function isWord(token: Token, ...words: readonly string[]): boolean {
  return token.kind === "word" && words.includes(token.text.toLowerCase());
}

function isMark(token: Token | undefined, text: string): boolean {
  return token?.kind === "mark" && token.text === text;
}

function isDirection(token: Token | undefined): boolean {
  return token?.kind === "direction";
}

/** Whether what stands before a cell makes it a move's target. */
function isLinked(before: Token | undefined): boolean {
  if (before === undefined) return false;
  if (before.kind === "mark") return "])}>([:=,-–—".includes(before.text);
  return before.kind !== "number";
}

function leadsTo(after: Token | undefined): boolean {
  return after !== undefined && isWord(after, "로", "으로", "쪽으로");
}

function isTimes(token: Token, after: Token | undefined): boolean {
  return isWord(token, "x") && after?.kind === "number";
}

const unitWords = /^(?:칸|칸씩|cells?|steps?|times?|번|회|squares?|blocks?)/i;

/** Repeats the last direction where a count of cells follows it (`남쪽으로 두 칸`, `S×2`). */
function repeats(items: Item[], count: number, unit: Token | undefined): boolean {
  const last = items.at(-1);
  if (last?.kind !== "dir" || !Number.isInteger(count) || count < 1) return false;
  const counted = unit?.kind === "word" && unitWords.test(unit.text);
  const closing = unit === undefined || (unit.kind === "mark" && "])},".includes(unit.text));
  if (!counted && !closing) return false;
  repeat(items, count);
  return true;
}

function repeat(items: Item[], count: number): void {
  const last = items.at(-1);
  if (last?.kind !== "dir") return;
  for (let more = 1; more < Math.min(count, maxRepeat) && items.length < maxItems; more += 1) {
    items.push({ kind: "dir", dir: last.dir, forms: ["count"] });
  }
}

/** Whether a number or its word counts the direction behind it. */
function countsNext(tokens: readonly Token[], at: number): boolean {
  const following = tokens[at + 1];
  if (following?.kind === "direction" && !following.separates && !following.faint) {
    return following.form === "letter" && following.start === tokens[at]?.end;
  }
  const joins =
    isMark(following, "×") ||
    (following?.kind === "word" && (following.text === "x" || unitWords.test(following.text)));
  const counted = tokens[at + 2];
  return joins && counted?.kind === "direction" && !counted.separates && !counted.faint;
}

/** Behind a target with no arrow between, a direction says how one got there: `(0,0) → (1,0) [S]` is one move. */
function isRemarkOnTarget(tokens: readonly Token[], at: number, items: readonly Item[]): boolean {
  if (items.at(-1)?.kind !== "cell" || items.at(-2)?.kind === "dir") return false;
  const bracketed = isMark(tokens[at - 1], "[") || isMark(tokens[at - 1], "(");
  const punctuated = isMark(tokens[at - 1], ",") || isMark(tokens[at - 1], ":");
  if (tokens[bracketed || punctuated ? at - 2 : at - 1]?.kind !== "cell") return false;
  const following = tokens[at + 1];
  return bracketed || following === undefined || !(following.kind === "cell" || isSeparator(following));
}

function addDirection(items: Item[], token: DirectionToken): void {
  if (items.length >= maxItems) return;
  const last = items.at(-1);
  if (last?.kind === "dir" && last.dir === token.dir && !last.forms.includes(token.form)) last.forms.push(token.form);
  else items.push({ kind: "dir", dir: token.dir, forms: [token.form] });
}

/** `[E→ S↓]` repeats a cell's line of the maze: directions in the printed order, each with its own arrow. */
function isCopiedLine(items: readonly Item[]): boolean {
  const order = "NESW";
  let last = -1;
  for (const item of items) {
    if (item.kind !== "dir" || !item.forms.includes("arrow") || item.forms.length < 2) return false;
    const place = order.indexOf(item.dir);
    if (place <= last) return false;
    last = place;
  }
  return items.length > 1;
}

/** In a sentence without separator or brackets, two unlike directions leave open which one is meant. */
function contradictsItself(tokens: readonly Token[], next: number, items: readonly Item[], text: string): boolean {
  if (items.length !== 1 || text.length > 2000) return false;
  const [item] = items;
  if (item?.kind !== "dir" || !item.forms.every((form) => form === "word")) return false;
  const spoken = tokens.slice(next).filter((token): token is DirectionToken => token.kind === "direction");
  const chosen = spoken.find((token) => token.dir === item.dir);
  if (chosen === undefined || chosen.moves) return false;
  return spoken.some((token) => token.moves && token.dir !== item.dir);
}

function fold(from: Cell | null, items: readonly Item[]): readonly Move[] {
  const moves: Move[] = [];
  let current = from;
  let pending: Direction[] = [];
  const flush = (target: Cell | null): void => {
    for (const [index, dir] of pending.entries()) {
      const reached: Cell | null = current === null ? null : step(current, dir);
      const to = target !== null && index === pending.length - 1 ? target : null;
      const clashes = to !== null && reached !== null && (to[0] !== reached[0] || to[1] !== reached[1]);
      moves.push({ from: current, dir, to, flags: clashes ? ["contradiction"] : [] });
      current = to ?? reached;
    }
    pending = [];
  };
  for (const item of items) {
    if (item.kind === "dir") pending.push(item.dir);
    else if (pending.length > 0) flush(item.cell);
    else {
      const dir = current === null ? null : directionBetween(current, item.cell);
      moves.push({ from: current, dir, to: item.cell, flags: dir === null ? [] : ["derivedDirection"] });
      current = item.cell;
    }
  }
  flush(null);
  return moves.length < 2 ? moves : moves.map((move) => ({ ...move, flags: [...move.flags, "multiMove"] }));
}
