/** A cell as [row, column], 0-based, top-left origin. */
export type ViewCell = readonly [row: number, column: number];

/** What a move turned out to be; see the metrics package for the exact meaning of each. */
export type ViewMoveKind = "ok" | "wall" | "outOfGrid" | "malformed" | "skipped" | "afterExit";

/** One attempt of the verified walk, as far as drawing it goes. */
export interface ViewStep {
  readonly kind: ViewMoveKind;
  readonly relocation: "throughWall" | "rewind" | "jumpBack" | "teleport" | null;
  /** Null where the move starts off the grid or nothing was tried. */
  readonly from: ViewCell | null;
  /** Where the log stands afterwards; null on a phantom cell off the grid. */
  readonly to: ViewCell | null;
  readonly dir: "N" | "E" | "S" | "W" | null;
  /** 0 … 1; null where none was read. */
  readonly confidence: number | null;
  /** What is to be seen at it beside its kind, in the service's words. */
  readonly marks: readonly string[];
}

/** Something drawn once, at the first attempt that shows it, and kept from then on. */
export interface Mark {
  /** 0-based attempt from which on it is drawn. */
  readonly at: number;
  readonly sign: "trail" | "bump" | "leap" | "trap";
  readonly from: ViewCell;
  readonly to: ViewCell;
}

/** What one attempt is to a reader, most telling first; `plain` is a legal move with nothing to say. */
export type StepNote =
  | "wall"
  | "outOfGrid"
  | "teleport"
  | "throughWall"
  | "malformed"
  | "skipped"
  | "afterExit"
  | "escape"
  | "trapTaken"
  | "loop"
  | "deadEnd"
  | "backtrack"
  | "branch"
  | "retreat"
  | "rewind"
  | "jumpBack"
  | "trapFaced"
  | "hint"
  | "plain";

/** A walk prepared for replay: what is drawn is found by position alone, so that any step shows at once. */
export interface Replay {
  readonly steps: readonly ViewStep[];
  readonly notes: readonly StepNote[];
  /** In order of `at`; each place at most once, so there are never more than the maze has ways and walls. */
  readonly marks: readonly Mark[];
  /** 0-based attempts that are more than plain: where "next event" stops. */
  readonly events: readonly number[];
}

/** Prepares a walk for replay in linear time. */
export function prepareReplay(steps: readonly ViewStep[]): Replay {
  const notes = steps.map((step) => noteOf(step));
  const seen = new Set<string>();
  const marks: Mark[] = [];
  steps.forEach((step, at) => {
    for (const { sign, from, to } of signsOf(step)) {
      const key = placeOf(sign, from, to);
      if (seen.has(key)) continue;
      seen.add(key);
      marks.push({ at, sign, from, to });
    }
  });
  const events = notes.flatMap((note, at) => (note === "plain" ? [] : [at]));
  return { steps, notes, marks, events };
}

/** How many of the marks show at a position: those of attempts before it. Position 0 is START, before any attempt. */
export function marksShown(marks: readonly Mark[], position: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.at ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where the walker stands after so many attempts; null while the log stands off the grid. */
export function standsAt(replay: Replay, position: number): ViewCell | null {
  return position <= 0 ? [0, 0] : (replay.steps[Math.min(position, replay.steps.length) - 1]?.to ?? null);
}

/** The attempts that led to a position, newest last, at most `count`: the tail that shows where the walk came from. */
export function recentSteps(replay: Replay, position: number, count: number): readonly ViewStep[] {
  return replay.steps.slice(Math.max(0, position - count), position);
}

/** The next position after (or, backwards, before) one at which an event has just happened; the end where none is left. */
export function nextEvent(replay: Replay, position: number, direction: 1 | -1): number {
  if (direction === 1) {
    const next = replay.events.find((at) => at + 1 > position);
    return next === undefined ? replay.steps.length : next + 1;
  }
  const earlier = replay.events.findLast((at) => at + 1 < position);
  return earlier === undefined ? 0 : earlier + 1;
}

/** A position after so much playing, and whether the end is reached. `speed` is attempts a second. */
export function playedTo(
  from: number,
  elapsedMs: number,
  speed: number,
  length: number,
): { readonly position: number; readonly ended: boolean } {
  const position = Math.min(length, from + Math.floor((elapsedMs * speed) / 1000));
  return { position, ended: position >= length };
}

/** Marks that make a step more than plain, most telling first. */
const tellingMarks = [
  "escape",
  "trapTaken",
  "loop",
  "deadEnd",
  "backtrack",
  "branch",
  "retreat",
  "trapFaced",
  "hint",
] as const satisfies readonly StepNote[];

function noteOf(step: ViewStep): StepNote {
  if (step.kind !== "ok" && step.kind !== "malformed") return step.kind;
  if (step.relocation === "teleport" || step.relocation === "throughWall") return step.relocation;
  if (step.kind === "malformed") return "malformed";
  return tellingMarks.find((mark) => step.marks.includes(mark)) ?? step.relocation ?? "plain";
}

function* signsOf(step: ViewStep): Generator<Omit<Mark, "at">> {
  const { from, to, dir, kind } = step;
  if (from === null) return;
  if (kind === "wall" || kind === "outOfGrid") {
    if (dir !== null) yield { sign: "bump", from, to: beside(from, dir) };
    return;
  }
  if (kind !== "ok" || to === null) return;
  yield { sign: step.relocation === "teleport" || step.relocation === "throughWall" ? "leap" : "trail", from, to };
  if (step.marks.includes("trapTaken")) yield { sign: "trap", from, to };
}

function beside([row, column]: ViewCell, dir: "N" | "E" | "S" | "W"): ViewCell {
  switch (dir) {
    case "N":
      return [row - 1, column];
    case "S":
      return [row + 1, column];
    case "E":
      return [row, column + 1];
    case "W":
      return [row, column - 1];
  }
}

/** A trail looks the same in both directions; a bump, leap or trap does not. */
function placeOf(sign: Mark["sign"], from: ViewCell, to: ViewCell): string {
  const [one, other] = sign === "trail" && isAfter(from, to) ? [to, from] : [from, to];
  return `${sign} ${one.join()} ${other.join()}`;
}

function isAfter(one: ViewCell, other: ViewCell): boolean {
  return one[0] > other[0] || (one[0] === other[0] && one[1] > other[1]);
}
