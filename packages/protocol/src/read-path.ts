import type { Cell, Direction } from "@hallumaze/maze";

import { scanTokens, type Token } from "./scan-tokens.ts";
import type { Line } from "./split-lines.ts";

/** One FINAL_PATH as it stands in a reply. */
export interface PathCandidate {
  readonly cells: readonly Cell[];
  /** A bare list of moves in place of coordinates (`S, E, E, S`); empty where there is none. */
  readonly moves: readonly Direction[];
  readonly kind: "path" | "incomplete" | "echo" | "giveUp" | "nothing";
  /** Index of the first line that is not part of it. */
  readonly next: number;
}

const label =
  /^(?:(?:the|my)\s)?(?:(?:수정(?:된|한)?|정정(?:된|한)?|corrected|revised|updated)\s)?(?:final[\s_-]{0,2}(?:escape[\s_-]?)?(?:path|route)|(?:최종|탈출)\s?(?:탈출\s?)?(?:경로|패스))(?![A-Za-z_])\s{0,3}(?:\((?!\s{0,3}-?\d{1,9}\s{0,3},)[^()]{0,60}\)\s{0,3})?(?:(?:is|는|은)(?![A-Za-z가-힣])\s{0,3}(?:as\sfollows|(?:다음|아래)(?:과|와)\s같(?:습니다|다|음))?\s{0,3})?(?<mark>[:=]{1,2}>?|\||->|[→⇒]|-(?=\s)|[–—]|(?=[([{<]\s{0,3}[\d([{-])|(?=\d{1,3},\d)|$)\s{0,4}/i;
const innerLabel = /FINAL[_ ]PATH\s{0,3}[:=]\s{0,3}(?=[([{<\d])/;

/** Where the text behind a FINAL_PATH label begins; -1 where the line has no such label. */
export function pathStart(text: string): number {
  if (!/path|route|경로|패스/i.test(text.slice(0, 400))) return -1;
  const match = label.exec(text);
  if (match !== null) return match[0].length;
  const inner = innerLabel.exec(text);
  return inner === null ? -1 : inner.index + inner[0].length;
}

const giveUp =
  /없음|없습|없다|없었|찾지\s?못|못\s?(?:함|했|찾)|실패|불가|포기|미발견|미완|\bincomplete\b|탈출\s?못|해당\s?없|알\s?수\s?없|\bn\/a\b|\bnone\b|\bnull\b|\bnil\b|not\s(?:found|available|reached|possible)|\bno\s(?:path|valid|solution|route|exit)|impossible|fail(?:ed|ure)?\b|unable|cannot|can't|cant\b|could\s?n[o']t|couldnt|did\snot|didnt|didn't|unknown|undefined|unreachable|give\s?up|gave\s?up|\bstuck\b|∅/i;

const pathWords = new Set(
  "start exit end goal finish to then cell cells node 셀 칸 시작 시작점 출발 출발점 출구 도착 도착점 목표 에서 로 으로".split(
    " ",
  ),
);

/** Words that stand for cells left out. */
const elisions = new Set("중략 생략 이하 etc omitted skipped".split(" "));

/** What stands beyond this on one line is not read, nor are cells beyond the most that a walk may have. */
const maxLineLength = 400_000;
const maxCells = 20_001;

interface Reader {
  readonly cells: Cell[];
  readonly moves: Direction[];
  ellipsis: boolean;
  echo: boolean;
  /** True while the last thing read was an arrow or a comma: the path goes on. */
  open: boolean;
}

/**
 * Reads the path behind a FINAL_PATH label that stands on `lines[index]`, joining the lines over which it is wrapped. It
 * stops at the first text that is not part of a path. Linear in what it consumes.
 */
export function readPath(lines: readonly Line[], index: number, start: number): PathCandidate {
  const reader: Reader = { cells: [], moves: [], ellipsis: false, echo: false, open: false };
  const first = lines[index]?.text.slice(start) ?? "";
  let next = index + 1;
  let went = takeLine(reader, first, true);
  if (went === "giveUp") return { cells: [], moves: [], kind: "giveUp", next };
  let blanks = 0;
  while (went === "on") {
    const line = lines[next];
    if (line === undefined) break;
    if (line.ruled || line.text === "") {
      blanks += 1;
      // Before the first cell a blank line or a fence may stand; within a path only an arrow carries on over one.
      if (blanks > 3 || (reader.cells.length > 0 && !reader.open && !line.ruled)) break;
      next += 1;
      continue;
    }
    const headsTable = line.piped && reader.cells.length === 0 && !/\d/.test(line.text);
    if (headsTable || /^[\s,\])}]+$/.test(line.text)) {
      next += 1;
      continue;
    }
    if (!continuesPath(reader, line.text)) break;
    const taken = takeLine(reader, line.text, reader.cells.length === 0);
    if (taken === "giveUp") return { cells: [], moves: [], kind: "giveUp", next: next + 1 };
    went = taken;
    blanks = 0;
    next += 1;
  }
  return { cells: reader.cells, moves: reader.moves, kind: kindOf(reader), next };
}

function kindOf(reader: Reader): PathCandidate["kind"] {
  if (reader.echo) return "echo";
  if (reader.ellipsis) return "incomplete";
  return reader.cells.length > 1 ? "path" : "nothing";
}

/** A member of an object that the label heads (`path: [[0,0],[1,0]]`). */
const named = /^(?:path|route|cells|coordinates|경로|좌표)\s{0,3}[:=]\s{0,3}[[(]/i;

/** A line's tokens without the numbers that only count its cells (`1: (0,0) 2: (1,0)`, `Step 1: (1,0)`). */
function readTokens(text: string): readonly Token[] {
  const tokens = scanTokens(text.slice(0, maxLineLength), { barePairs: true });
  const [first, second] = tokens;
  const labels = first?.kind === "word" && /^(?:steps?|스텝|단계)$/i.test(first.text) && second?.kind === "number";
  // A numbered line with a move is a step of the log, not a cell of the path.
  if (labels && !tokens.some((token) => token.kind === "direction" || token.kind === "separator")) {
    return readTokens(text.slice(second.start));
  }
  return tokens.filter((token, at) => {
    const isMark = token.kind === "mark" && ".:)|".includes(token.text);
    if (isMark) return tokens[at - 1]?.kind !== "number" || tokens[at + 1]?.kind !== "cell";
    if (token.kind !== "number") return true;
    const mark = tokens[at + 1];
    return mark?.kind !== "mark" || !".:)|".includes(mark.text) || tokens[at + 2]?.kind !== "cell";
  });
}

/** Whether a line goes on with the path: it does if an arrow leads over, or if it is nothing but path. */
function continuesPath(reader: Reader, text: string): boolean {
  const tokens = readTokens(text);
  const [first] = tokens;
  if (first === undefined) return false;
  if (reader.cells.length === 0) {
    if (named.test(text)) return true;
    if (giveUp.test(text.slice(0, 60)) && text.length < 60) return true;
    return tokens.slice(0, 6).some((token) => token.kind === "cell" || token.kind === "placeholder") &&
      !/^\([^)]*\):/.test(text)
      ? isPathToken(first) || first.kind === "cell" || first.kind === "placeholder"
      : isDirectionList(tokens);
  }
  if (isArrow(first)) return true;
  if (first.kind === "ellipsis") return true;
  if (first.kind !== "cell" && !(first.kind === "mark" && "[({,".includes(first.text))) return false;
  if (reader.open) return true;
  return tokens.every((token, at) => isPathToken(token) || (at === tokens.length - 1 && isStop(token)));
}

function isDirectionList(tokens: readonly Token[]): boolean {
  return tokens.length > 0 && tokens.every((token) => token.kind === "direction" || isPathToken(token));
}

function isArrow(token: Token): boolean {
  return token.kind === "separator" || (token.kind === "direction" && token.form === "arrow");
}

function isElision(token: Token): boolean {
  return token.kind === "word" && elisions.has(token.text.toLowerCase());
}

function isStop(token: Token): boolean {
  return token.kind === "mark" && ".!✅🎉".includes(token.text);
}

function isPathToken(token: Token): boolean {
  switch (token.kind) {
    case "cell":
    case "separator":
    case "ellipsis":
    case "placeholder":
      return true;
    case "direction":
      return true;
    case "word":
      return pathWords.has(token.text.toLowerCase()) || isElision(token);
    case "mark":
      return ",;|[](){}-–—+:⚑🏁🚩".includes(token.text);
    case "number":
      return false;
  }
}

/** Takes a line's cells up to the first text that is no path: `on` where all of it was, `stop` where not. */
function takeLine(reader: Reader, whole: string, leads: boolean): "on" | "stop" | "giveUp" {
  const text = whole.slice(0, maxLineLength);
  const tokens = readTokens(text);
  const firstCell = tokens.findIndex((token) => token.kind === "cell" || token.kind === "placeholder");
  if (leads && reader.cells.length === 0) {
    const lead = firstCell < 0 ? text.slice(0, 120) : text.slice(0, Math.min(120, tokens[firstCell]?.start ?? 0));
    if (giveUp.test(lead) || (firstCell < 0 && /^\s*(?:\[\s*\]|\(\s*\)|-|\/|x|❌|✗|🚫|⛔)\s*$/iu.test(text)))
      return "giveUp";
    if (firstCell < 0) return takeMoves(reader, tokens);
    // A few words may lead up to the path (`최종 경로는 …`); more is a sentence that happens to hold coordinates.
    if (firstCell > 10) return "stop";
  }
  for (const token of firstCell > 0 && reader.cells.length === 0 ? tokens.slice(firstCell) : tokens) {
    if (token.kind === "cell") {
      if (reader.cells.length >= maxCells) return "stop";
      reader.cells.push(token.cell);
      reader.open = false;
    } else if (token.kind === "placeholder") reader.echo = true;
    else if (token.kind === "ellipsis" || isElision(token)) reader.ellipsis = true;
    else if (isPathToken(token)) {
      if (isArrow(token) || (token.kind === "mark" && token.text === ",")) reader.open = true;
    } else return "stop";
  }
  return "on";
}

function takeMoves(reader: Reader, tokens: readonly Token[]): "on" | "stop" {
  if (!isDirectionList(tokens)) return tokens.length === 0 ? "on" : "stop";
  const listed = tokens.filter((token) => token.kind === "direction");
  const letters = listed.filter((token) => token.form !== "arrow");
  // With letters or words, arrows are separators or repeat them; alone they are the moves.
  for (const token of letters.length > 0 ? letters : listed) reader.moves.push(token.dir);
  if (tokens.some((token) => token.kind === "ellipsis")) reader.ellipsis = true;
  return "on";
}
