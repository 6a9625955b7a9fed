import type { Cell, Direction } from "@hallumaze/maze";

import { type Confidence, confidenceStart, findConfidence, readConfidence } from "./confidence.ts";
import { type ClaimDraft, isRejected, readStepClaims } from "./read-claims.ts";
import { readMoves } from "./read-moves.ts";
import type { AttemptFlag } from "./reading.ts";
import { scanTokens } from "./scan-tokens.ts";

/** A STEP line taken apart, whatever way it was written. */
export interface StepDraft {
  readonly moves: readonly {
    readonly from: Cell | null;
    readonly dir: Direction | null;
    readonly to: Cell | null;
    readonly flags: readonly AttemptFlag[];
  }[];
  readonly confidence: Confidence | null;
  readonly claims: readonly ClaimDraft[];
  /** True where the line repeats the template. */
  readonly echo: boolean;
  /** True where a place, a direction or a target was read. */
  readonly found: boolean;
  /** True where a direction or a target was read. */
  readonly moved: boolean;
}

type Role = "step" | "from" | "row" | "column" | "dir" | "to" | "confidence" | "reason" | "event";

const roles: Readonly<Record<Role, string>> = {
  step: "step|스텝|단계|stepnumber|stepno|stepid|index|번호|no|n|num|#",
  from: "pos|position|from|cell|current|currentposition|currentcell|at|coord|coords|coordinate|coordinates|location|위치|현재|현재위치|현재셀|좌표|셀|출발|시작|startposition|startcell",
  row: "row|r|행",
  column: "col|column|c|열",
  dir: "dir|direction|move|action|heading|방향|이동|이동방향|선택|행동|선택방향|선택한방향|진행방향|chosendirection|chosenmove|movedirection|nextmove|nextdirection|selecteddirection|choice|decision",
  to: "to|next|nextposition|nextcell|target|destination|dest|newposition|다음|다음위치|다음셀|도착|이동후|목적지",
  confidence: "confidence|conf|confidencelevel|confidencescore|confidencepercent|확신도|확신|신뢰도|certainty|자신감",
  reason: "reason|reasoning|rationale|comment|note|notes|why|explanation|thought|이유|근거|설명|비고|메모",
  event: "event|type|claim|kind|status|이벤트",
};
const roleOf = new Map<string, Role>();
for (const [role, names] of Object.entries(roles)) {
  for (const name of names.split("|")) roleOf.set(name, role as Role);
}

const keyed = /^([A-Za-z#가-힣][A-Za-z가-힣_ -]{0,23}?)\s{0,3}[:=](?![=>])\s{0,3}(.*)$/s;

/** Reads a field such as `방향: S`; null where its key is none of a step's. */
export function readKeyed(text: string): { readonly role: Role; readonly value: string } | null {
  const match = /[:=]/.test(text.slice(0, 30)) ? keyed.exec(text.slice(0, 2000)) : null;
  const role = roleOf.get((match?.[1] ?? "").toLowerCase().replace(/[\s_-]/g, ""));
  const value = (match?.[2] ?? "").replace(/,\s*$/, "");
  // `r=0, c=0 → S` is a place in words, no field of its own.
  if (role === undefined || ((role === "row" || role === "column") && !/^-?\d{1,9}$/.test(value))) return null;
  return { role, value };
}

/** The role that a table's heading names; null where it names none. */
export function headingRole(text: string): Role | null {
  return (
    roleOf.get(
      text
        .toLowerCase()
        // A unit, or what follows an arrow in a column of whole moves (`위치 → 방향`), names no role.
        .replace(/\([^()]{0,40}\)|[→⇒/&].*$/g, "")
        .replace(/[\s_.%:-]|(?<=\S)#/g, ""),
    ) ?? null
  );
}

const leadingConfidence =
  /^[[(](?:확신도|신뢰도|confidence)?\s{0,2}[:=]?\s{0,2}\d{1,3}(?:\.\d{1,4})?\s?%?[\])]\s{0,2}:?\s{0,2}(?=\S)/i;

/** No step is longer: what stands beyond it on its line is not read. */
const maxStepLength = 100_000;

/** Reads what follows a STEP line's head: the move, then fields parted by pipes, in whatever order. */
export function readStep(whole: string): StepDraft {
  const text = whole.slice(0, maxStepLength);
  // `[확신도: 90%] (0,0) → [S]`: a confidence that leads is a field of its own.
  const leading = leadingConfidence.exec(text)?.[0] ?? "";
  const rest = leading === "" ? text : `${text.slice(leading.length)} | ${leading.replace(/[:\s]+$/, "")}`;
  const [first = "", ...others] = rest.split("|").map((field) => field.trim());
  const named = new Map<Role, string>();
  const free: string[] = [];
  let move = first;
  const opening = readKeyed(first);
  if (opening !== null && opening.role !== "from" && opening.role !== "step") {
    move = "";
    others.unshift(first);
  }
  for (const field of others) {
    const key = readKeyed(field);
    if (key !== null && !named.has(key.role)) named.set(key.role, key.value);
    else if (key === null && !isPlaced(named) && free.length === 0 && isMove(field)) move = addField(move, field);
    else free.push(field);
  }
  return draft(complete(move, named), free, named);
}

/** The place that named fields state, as one or as row and column; empty where they state none. */
function placeOf(named: ReadonlyMap<Role, string>): string {
  const [row, column] = [named.get("row"), named.get("column")];
  return named.get("from") ?? (row === undefined || column === undefined ? "" : `(${row},${column})`);
}

function isPlaced(named: ReadonlyMap<Role, string>): boolean {
  return named.has("from") || named.has("dir") || named.has("to");
}

/** Adds a field that is nothing but a place or a direction to a move; one that says its direction again adds nothing. */
function addField(move: string, field: string): string {
  // A move as long as this is a list already: looking at it for each field would take quadratic time.
  if (move.length > 400) return `${move} → ${field}`;
  const stated = readMoves(move);
  const { moves } = readMoves(field);
  if (!stated.moved || moves.length !== 1 || moves[0]?.from !== null || moves[0].dir === null)
    return `${move} → ${field}`;
  const last = stated.moves.at(-1);
  const isSaid = last?.dir === moves[0].dir && !last.flags.includes("derivedDirection");
  return isSaid ? move : `${move} ${field}`;
}

/** Adds what named fields say to a move, as far as its own words do not. */
function complete(move: string, named: ReadonlyMap<Role, string>): string {
  const [from, dir = "", to = ""] = [placeOf(named), named.get("dir"), named.get("to")];
  if (from + dir + to === "") return move;
  const stated = readMoves(move);
  const missing = stated.moved ? [] : stated.found ? [dir] : [from, dir];
  if (stated.moves.length === 1 && stated.moves[0]?.to === null) missing.push(to);
  return [move, ...missing].filter((part) => part !== "").join(" → ");
}

/** Reads a step given as named values: a JSON object, a YAML block, a table's row. */
export function readRecord(values: ReadonlyMap<Role, string>): StepDraft {
  const placed = [placeOf(values), values.get("dir"), values.get("to")].filter((part) => (part ?? "") !== "");
  return draft(placed.join(" → "), [], values);
}

function draft(text: string, free: readonly string[], named: ReadonlyMap<Role, string>): StepDraft {
  const cut = confidenceStart(text);
  const read = readMoves(cut < 0 ? text : text.slice(0, cut).replace(/\d{1,3}(?:\.\d+)?\s?%\s*$/, ""));
  const words = [text, ...free, named.get("reason") ?? ""].join(" | ");
  const claims = [...readStepClaims(words)];
  const rejected = read.moved && isRejected(read.rest, free);
  const [move] = read.moves;
  if (rejected) claims.push({ kind: "wall", at: move?.from ?? null, seenAtStep: null, form: "words" });
  const flagged = read.moves.map((each, index) => {
    const last = index === read.moves.length - 1;
    return rejected && last ? { ...each, flags: [...each.flags, "rejected" as const] } : each;
  });
  const value = named.get("confidence");
  const confidence =
    (value === undefined ? null : readConfidence(value)) ??
    findConfidence([text, ...free].join(" | ")) ??
    bareConfidence(free, read.rest);
  return { moves: flagged, confidence, claims, echo: read.echo, found: read.found, moved: read.moved };
}

/** A field of its own that is nothing but a number is the confidence, though no label says so. */
function bareConfidence(fields: readonly string[], rest: string): Confidence | null {
  const only = /^[([]?\s*(-?\d{1,3}(?:\.\d{1,4})?\s?%|0?\.\d{1,4}|1\.0{1,3}|\d{1,3}\s?\/\s?10{1,2}|\d{1,3})\s*[)\]]?$/;
  const field = fields.find((each) => only.test(each.slice(0, 20)) && each.length < 20);
  if (field !== undefined) return readConfidence(field);
  const told = fields.find((each) => each.length < 24 && inPercent.test(each));
  if (told !== undefined) return readConfidence(told.replace(/^[([]/, ""));
  const behind = /^[\s\])},;:(–—-]*(\d{1,3}(?:\.\d{1,4})?\s?%)/.exec(rest.slice(0, 40));
  return behind?.[1] === undefined ? null : readConfidence(behind[1]);
}

/** A field with nothing but per cents and the words that go with them: `약 90%`, `85-90%`, `높음 (90%)`. */
const inPercent =
  /^[([]?\s*(?:[~≈±>=]|약|대략|about|around|approx\.?|매우|very|높음|낮음|중간|high|low|medium|\s|\()*\d{1,3}(?:\.\d{1,4})?\s?(?:%|퍼센트|프로|percent)?(?:\s?(?:-|~|–|—|to)\s?\d{1,3}(?:\.\d{1,4})?)?\s?(?:%|퍼센트|프로|percent)[+.]?\s?(?:정도|이상|확실|\(?(?:높음|낮음|중간|high|low|medium)\)?)?\s*[)\]]?[✅]?$/i;

/** Whether a field holds nothing but a place or a direction, as in a table without headings. */
function isMove(field: string): boolean {
  const tokens = scanTokens(field.slice(0, 200), { barePairs: true });
  return (
    tokens.some((token) => token.kind === "cell" || token.kind === "direction") &&
    tokens.every((token) => token.kind !== "word" && token.kind !== "number" && token.kind !== "ellipsis")
  );
}
