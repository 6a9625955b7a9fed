import { type LogEntry, readConfidenceEntries } from "./confidence.ts";
import { type ClaimDraft, readCount, readLineClaims } from "./read-claims.ts";
import { type PathCandidate, pathStart, readPath } from "./read-path.ts";
import { headingRole, readKeyed, readRecord, readStep, type StepDraft } from "./read-step.ts";
import { type Line, splitMembers } from "./split-lines.ts";
import { readUnlabelled } from "./read-unlabelled.ts";
import { readStepHead } from "./step-head.ts";

/** A step of the log with its place in the reply. */
export interface LogStep extends StepDraft {
  readonly index: number | null;
  readonly span: readonly [start: number, end: number];
}

/** A claim with the number of steps before it. */
interface PlacedClaim {
  readonly claim: ClaimDraft;
  readonly afterStep: number;
  readonly inStep: boolean;
}

/** All that stands on protocol lines, before indices, confidences and paths are settled. */
export interface Log {
  readonly steps: LogStep[];
  readonly claims: PlacedClaim[];
  readonly entries: LogEntry[];
  readonly candidates: PathCandidate[];
  readonly selfReport: { backtracks: number | null; hallucinations: number | null };
  echoes: number;
  promptEcho: boolean;
  partialConfidenceLog: boolean;
  /** True where more steps stood there than are read. */
  capped: boolean;
  claimsCapped: boolean;
}

type Role = NonNullable<ReturnType<typeof headingRole>>;

/** More attempts than any walk needs; the rest of a pacing log is not read. SOURCE: specification, section 4 rule 9. */
export const maxAttempts = 20_000;

/** A step goes on over no more lines than this; it bounds how far a line is looked at more than once. */
const maxContinuation = 60;

/** How a line begins that states the move of a head above it. */
const placeStart = /^(?:[([{<→↓↑←]|\d{1,3}\s?,\s?\d|행|셀|현재|위치|cell|row|r\s?=?\s?\d|at\s|from\s|move\s|go\s)/i;

const confidenceLog =
  /^(?:confidence[\s_-]{0,2}log|(?:확신도|신뢰도)[\s_-]{0,2}(?:로그|기록))s?\s{0,3}(?:\([^()]{0,40}\)\s{0,2})?(?:[:=]|->|→|-|[–—]|$|(?=[[{\d]))/i;
const mazeLine =
  /^\(\d{1,3},\s?\d{1,3}\):\s?\[(?:[NESW][↑→↓←]\s?)*\]|^MAZE \d{1,3}[×x]\d{1,3}\s?\||^(?:풀이 규칙|최종 출력|Solving rules|Final output) ?=*$/;

/** Reads the protocol lines in order of appearance. Every line is consumed once. */
export function readLog(lines: readonly Line[]): Log {
  const log: Log = {
    steps: [],
    claims: [],
    entries: [],
    candidates: [],
    selfReport: { backtracks: null, hallucinations: null },
    echoes: 0,
    promptEcho: false,
    partialConfidenceLog: false,
    capped: false,
    claimsCapped: false,
  };
  const table: { columns: readonly (Role | null)[] | null } = { columns: null };
  const loose: LooseLog = { steps: [], claims: [], listings: 0 };
  let attempts = 0;
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (line === undefined) break;
    const before = log.steps.length;
    const claims = log.claims.length;
    const read = log.steps.length === 0 && loose.steps.length < maxAttempts ? readUnlabelled(line) : null;
    at = readLine(log, lines, at, line, table);
    if (log.steps.length === 0) addLoose(loose, read, line, log.claims.slice(claims));
    for (const step of log.steps.slice(before)) attempts += step.moves.length;
    if (attempts > maxAttempts) log.capped = true;
  }
  if (log.steps.length === 0 && loose.listings === 0 && loose.steps.length > 0) {
    log.steps.push(...loose.steps);
    log.claims.splice(0, log.claims.length, ...loose.claims);
  }
  return log;
}

/** Moves without a STEP label, and the claims between them: the log of a reply that labels no step. */
interface LooseLog {
  readonly steps: LogStep[];
  readonly claims: PlacedClaim[];
  listings: number;
}

function addLoose(
  loose: LooseLog,
  read: ReturnType<typeof readUnlabelled>,
  line: Line,
  claims: readonly PlacedClaim[],
): void {
  if (read?.kind === "listing") loose.listings += 1;
  // What a line says in words belongs to its move, if it is one.
  const said = read?.kind === "move" ? read.draft.claims : claims.map(({ claim }) => claim);
  const inStep = read?.kind === "move";
  for (const claim of said) loose.claims.push({ claim, afterStep: loose.steps.length, inStep });
  if (read?.kind === "move") loose.steps.push({ ...read.draft, index: read.index, span: [line.start, line.end] });
}

function readLine(
  log: Log,
  lines: readonly Line[],
  at: number,
  line: Line,
  table: { columns: readonly (Role | null)[] | null },
): number {
  const { text } = line;
  if (line.ruled || text === "") return at + 1;
  if (text.startsWith("{")) {
    readObject(log, line);
    return at + 1;
  }
  const stepEnd = readStepLine(log, lines, at, line);
  if (stepEnd !== null) return stepEnd;
  const start = pathStart(text);
  if (start >= 0) {
    const candidate = readPath(lines, at, start);
    if (candidate.kind === "echo") log.echoes += 1;
    else log.candidates.push(candidate);
    return Math.max(candidate.next, at + 1);
  }
  const header = confidenceLog.exec(text);
  if (header !== null) return readConfidenceLog(log, lines, at, header[0].length);
  const written = readCount(text);
  if (written !== null) {
    // A heading with the number below it.
    const below = lines[at + 1];
    const spread =
      below !== undefined &&
      /(?:count|횟수)\s{0,3}[:=]?$/i.test(text) &&
      /^(?:\d{1,9}|없음|none)\W?$/i.test(below.text);
    const count = (spread ? readCount(`${text.replace(/[\s:=]+$/, "")}: ${below.text}`) : null) ?? written;
    if (count.value !== null) log.selfReport[count.which] = count.value;
    if (count.echo) log.echoes += 1;
    return at + (spread ? 2 : 1);
  }
  // A table's rows may do without the outer pipes.
  if ((line.piped || /\|.*\|/.test(text)) && readRow(log, line, table)) return at + 1;
  if (mazeLine.test(text)) {
    log.promptEcho = true;
    return at + 1;
  }
  if (log.claims.length >= maxAttempts) {
    log.claimsCapped = true;
    return at + 1;
  }
  addClaims(log, text);
  return at + 1;
}

function addClaims(log: Log, text: string): void {
  const { claims, echo } = readLineClaims(text);
  if (echo) log.echoes += 1;
  for (const claim of claims) log.claims.push({ claim, afterStep: log.steps.length, inStep: false });
}

/** A claim that was given a step's number (`STEP 5: DEAD_END at (2,1)`) is no move. */
const numberedClaim = /^(?:dead[\s_-]?end|loop|strategy[\s_-]?change|막다른|루프|전략)/i;

function addStep(log: Log, index: number | null, draft: StepDraft, span: readonly [number, number]): void {
  for (const claim of draft.claims) log.claims.push({ claim, afterStep: log.steps.length, inStep: true });
  log.steps.push({ ...draft, index, span });
}

/** Reads a STEP line with the lines that continue it; null where there is none. */
function readStepLine(log: Log, lines: readonly Line[], at: number, line: Line): number | null {
  const head = readStepHead(line.text);
  if (head === null) return null;
  // A full log takes no further steps, but its final block is still read.
  if (log.capped) return at + 1;
  const own = readStep(line.text.slice(head.end));
  const fields = [line.text.slice(head.end)];
  let next = at + 1;
  let end = line.end;
  let open = !own.found;
  // A head alone heads a block of named values; below a whole line such a value could be anyone's.
  const isBare = line.text.length === head.end;
  let blanks = 0;
  for (; next < lines.length && next - at <= maxContinuation; next += 1) {
    const following = lines[next];
    if (following === undefined) break;
    if (following.ruled || following.text === "") {
      blanks += 1;
      if (!open || blanks > 2) break;
      continue;
    }
    if (startsProtocolLine(following.text)) break;
    const key = readKeyed(following.text);
    const indented = following.indent > line.indent && blanks === 0;
    const placed = key !== null && places.has(key.role);
    const names = key !== null && (!placed || isBare || !own.moved);
    if (following.piped || names || indented) fields.push(open && key === null ? "" : "|", following.text, " ");
    else if (open && placeStart.test(following.text)) fields.push(" ", following.text);
    else if (!own.moved && blanks === 0 && namesMoveBelow(lines, next)) fields.push("|", following.text, " ");
    else break;
    if (open) open = !readStep(following.text).found;
    end = following.end;
  }
  const draft = fields.length === 1 ? own : readStep(fields.join(""));
  if (head.index === null || (draft.echo && !hasPlace(draft))) {
    log.echoes += 1;
    return next;
  }
  // `Step 3 was wrong` and `Step 5 (1,1) …` are sentences; so is a head alone with a bare confidence (`STEP 1: 90`).
  if (!head.marked && !draft.moved) return draft.found ? at + 1 : null;
  if (!draft.found && isEntry(line.text)) return readConfidenceLog(log, lines, at, 0);
  if (draft.echo) log.echoes += 1;
  else if (!draft.moved && numberedClaim.test(line.text.slice(head.end))) addClaims(log, line.text.slice(head.end));
  else if (fields.length === 1 && isSentence(draft, line.text.slice(head.end))) addClaims(log, line.text);
  else addStep(log, head.index, draft, [line.start, end]);
  return next;
}

/** `Step 1: Understand the maze` numbers a thought: nothing of it is a move, not even an unreadable one. */
function isSentence(draft: StepDraft, rest: string): boolean {
  return !draft.found && draft.confidence === null && /\p{L}{2}/u.test(rest) && !/[→⇒➜⟶↦>[\]|?]/.test(rest);
}

const places: ReadonlySet<Role> = new Set<Role>(["from", "row", "column", "dir", "to"]);

/** Whether, before a blank line or another step, a field below names the move of a head that names none yet. */
function namesMoveBelow(lines: readonly Line[], from: number): boolean {
  for (const line of lines.slice(from + 1, from + 9)) {
    if (line.text === "" || startsProtocolLine(line.text)) return false;
    const key = readKeyed(line.text);
    if (key !== null && (key.role === "dir" || key.role === "to")) return true;
  }
  return false;
}

function hasPlace(draft: StepDraft): boolean {
  return draft.moves.some((move) => move.from !== null && (move.dir !== null || move.to !== null));
}

function isEntry(text: string): boolean {
  return /^(?:step|스텝|단계)\s{0,3}\d{1,9}\s{0,3}[:=]\s{0,3}\d{1,3}(?:\.\d{1,4})?\s{0,2}%?\s{0,3}(?:,|;|$)/i.test(
    text,
  );
}

const protocolStart =
  /^(?:dead[\s_-]?end(?![a-z])|loop(?![a-z])|strategy[\s_-]?change|막다른|루프|순환|전략|wall(?![a-z])|back[\s_-]?track|hallucination|confidence[\s_-]?log|백트래킹|환각|[{}\]])/i;

function startsProtocolLine(text: string): boolean {
  const head = readStepHead(text);
  return (head?.marked ?? false) || protocolStart.test(text) || pathStart(text) >= 0;
}

/** Reads CONFIDENCE_LOG, on its own line and on the lines below that hold nothing but entries. */
function readConfidenceLog(log: Log, lines: readonly Line[], at: number, start: number): number {
  let next = at;
  let step = (log.entries.at(-1)?.step ?? 0) + 1;
  if (start > 0) step = 1;
  for (; next < lines.length; next += 1) {
    const line = lines[next];
    if (line === undefined) break;
    const text = next === at ? line.text.slice(start) : line.text;
    if (next > at) {
      if (line.ruled) continue;
      if (text === "" || !isEntries(text)) break;
    }
    if (log.entries.length >= maxAttempts) continue;
    const { entries, partial } = readConfidenceEntries(text, step);
    if (/conf\d|step[nN]|:\s?XX/i.test(text) && entries.length === 0) log.echoes += 1;
    else if (partial) log.partialConfidenceLog = true;
    for (const entry of entries.slice(0, maxAttempts)) if (log.entries.length < maxAttempts) log.entries.push(entry);
    step = (log.entries.at(-1)?.step ?? step - 1) + 1;
  }
  return Math.max(next, at + 1);
}

/** Whether a line holds nothing but digits, marks and the word for a step. */
function isEntries(text: string): boolean {
  return /\d/.test(text) && /^[\d\s.,:;=%/()[\]{}→>#…-]*$/.test(text.replace(/step|스텝|단계/gi, ""));
}

/** Reads one JSON object as a step, or as a claim. */
function readObject(log: Log, line: Line): void {
  if (log.capped) return;
  const values = new Map<Role, string>();
  for (const member of splitMembers(line.text.replace(/^\{|\}$/g, ""))) {
    const key = readKeyed(member);
    if (key !== null && !values.has(key.role)) values.set(key.role, key.value);
  }
  const event = values.get("event");
  if (event !== undefined && !values.has("dir")) {
    const { claims } = readLineClaims(`${event} at ${values.get("from") ?? ""}`);
    for (const claim of claims) log.claims.push({ claim, afterStep: log.steps.length, inStep: false });
    if (claims.length > 0) return;
  }
  const isStep = values.has("step") || (hasFrom(values) && (values.has("dir") || values.has("to")));
  if (isStep) addRecord(log, values, line);
  else if (isEntries(line.text) && /^\{[^([]*$/.test(line.text)) {
    const { entries } = readConfidenceEntries(line.text, 1);
    for (const entry of entries) if (log.entries.length < maxAttempts) log.entries.push(entry);
  }
}

function hasFrom(values: ReadonlyMap<Role, string>): boolean {
  return values.has("from") || (values.has("row") && values.has("column"));
}

function addRecord(log: Log, values: ReadonlyMap<Role, string>, line: Line): void {
  if (log.capped) return;
  const draft = readRecord(values);
  const digits = /\d{1,9}/.exec(values.get("step") ?? "")?.[0];
  if (draft.echo || (!draft.found && digits === undefined)) log.echoes += draft.echo ? 1 : 0;
  else if (draft.found) addStep(log, digits === undefined ? null : Number(digits), draft, [line.start, line.end]);
}

/** What a step's cell of a table holds: its number, not a claim that stands there (`DEAD_END at (2,0)`). */
const rowNumber = /^\s{0,4}(?:steps?|스텝|단계)?\s{0,2}[#(]?\s{0,2}\d{1,9}\D{0,8}$/i;

/** Reads a table's heading or, below one that names a step and a place, a row. */
function readRow(log: Log, line: Line, table: { columns: readonly (Role | null)[] | null }): boolean {
  const fields = line.text.replace(/\|\s*$/, "").split("|");
  const columns = fields.map(headingRole);
  if (columns.includes("step") && columns.filter((role) => role !== null).length > 1) {
    table.columns = columns;
    return true;
  }
  if (table.columns === null || !rowNumber.test(fields[table.columns.indexOf("step")] ?? "")) return false;
  const values = new Map<Role, string>();
  for (const [index, role] of table.columns.entries()) {
    if (role !== null && !values.has(role)) values.set(role, (fields[index] ?? "").trim());
  }
  if (!hasFrom(values) && !values.has("dir") && !values.has("to")) return false;
  addRecord(log, values, line);
  return true;
}
