import type { Cell, Direction } from "@hallumaze/maze";

/**
 * What a move turned out to be. `malformed` has no readable direction or target, stays on its cell, contradicts itself
 * (`dir` and `to` disagree: deciding for one of them would be a silent repair), names a target that is no neighbour, or
 * starts off the grid. `skipped` follows an illegal move on its line, `afterExit` the arrival at EXIT.
 */
export type MoveKind = "ok" | "wall" | "outOfGrid" | "malformed" | "skipped" | "afterExit";

/**
 * What it means that a line does not start where the walker stands, or names a target that is no neighbour; null where
 * neither is so. `throughWall` is also the phantom cell behind the grid's edge just tried.
 */
export type Relocation = "throughWall" | "rewind" | "jumpBack" | "teleport";

/** One attempt after simulation from START. */
export interface WalkStep {
  readonly kind: MoveKind;
  readonly relocation: Relocation | null;
  /** Where the move starts, after any relocation; null where that is off the grid, or where nothing was tried. */
  readonly from: Cell | null;
  /** Where the log stands afterwards; null while it stands on a phantom cell off the grid. */
  readonly to: Cell | null;
  readonly dir: Direction | null;
  /** True while backtracks, traps, branches, new cells and progress count (the log stands on legally reached cells). */
  readonly grounded: boolean;
  /** 0 … 1, null where none was read. */
  readonly confidence: number | null;
  /** True on the attempt that carries its line's confidence into the metrics (at most one a line): the illegal one, if any. */
  readonly confidenceCounts: boolean;
  /** True where more than one onward direction was open (a real choice). */
  readonly isDecision: boolean;
  /** True where the move follows the unique way from where it starts to EXIT. */
  readonly onRoute: boolean;
  /** The step number printed on the line. */
  readonly index: number | null;
  /** True where the line's direction and target disagree. */
  readonly contradiction: boolean;
  /** True where the move is legal and its directed edge had been used before in this pass. */
  readonly repeatsEdge: boolean;
  /** `back`: it goes back towards START, by a move or a rewind. `counted`: and completes a backtrack of `bt`. */
  readonly retreat: "back" | "counted" | null;
  /** What it did to a trap for the first time: tried a move on its cell, or went the tempting way. */
  readonly trap: "faced" | "taken" | null;
  /** True where the numbering begins again at START: a new pass. */
  readonly beginsPass: boolean;
}

/** One entry into a branch off the solution, by a move or a jump from outside it. */
export interface BranchEntry {
  /** 0-based position in `steps`. */
  readonly at: number;
  /** The farthest cell reached in it, in moves from the solution. */
  readonly depth: number;
  /** Attempts from the entry to the first turn; null where it never turned. */
  readonly latency: number | null;
  /** True where this branch had been left once before. */
  readonly revisit: boolean;
  /** 0-based position in `steps` of the arrival at the first dead end in it; null where none was reached. */
  readonly deadEndAt: number | null;
  /** 0-based position in `steps` of the first move back, rewind or jump in it; null where it never turned. */
  readonly turnAt: number | null;
}

/** The verified walk: what the log did, whatever it says. Counts follow spec section 5. */
export interface Walk {
  readonly steps: readonly WalkStep[];
  /** What the attempts were read from; null for a non-answer. */
  readonly source: "log" | "finalPath" | null;
  readonly sr: 0 | 1;
  /** `wallAttempts` + `outOfGridAttempts` + `teleports` + `finalPathErrors`. */
  readonly hc: number;
  readonly wallAttempts: number;
  readonly outOfGridAttempts: number;
  readonly teleports: number;
  /** Illegal edges of FINAL_PATH that the log does not contain. */
  readonly finalPathErrors: number;
  readonly throughWalls: number;
  readonly rewinds: number;
  readonly jumpBacks: number;
  readonly contradictions: number;
  /** How often the numbering started again at START, plus one. */
  readonly passes: number;
  /** First error step, 1-based; -1 where there is none; capped at size². */
  readonly fhr: number;
  readonly bt: number;
  readonly lt: number;
  readonly loopEvents: number;
  readonly prematureBacktracks: number;
  readonly falseClaims: number;
  readonly branchEntries: readonly BranchEntry[];
  readonly trapsFaced: number;
  readonly trapsTaken: number;
  /** 1 - taken/faced; null where none was faced. */
  readonly mirageResistance: number | null;
  /** How far along the solution legal moves got from START, in moves. */
  readonly solutionMovesReached: number;
  /** Moves of the accepted path beyond the solution's; null where SR is 0. */
  readonly excessMoves: number | null;
  /** True where the accepted path repeats no cell; null where SR is 0. */
  readonly simplePath: boolean | null;
  /** Self-reported minus true counts; null where nothing was reported. */
  readonly selfReportGaps: { readonly backtracks: number | null; readonly hallucinations: number | null };
}

/** A walk's numbers without its steps: the shape that the `score` command prints under `walk`. */
export type WalkSummary = Omit<Walk, "steps"> & {
  /** How many attempts there are of each kind. */
  readonly kinds: Readonly<Record<MoveKind, number>>;
};

/** Drops a walk's steps and counts their kinds. Plain JSON. */
export function summariseWalk(walk: Walk): WalkSummary {
  const { steps, ...counts } = walk;
  const kinds = { ok: 0, wall: 0, outOfGrid: 0, malformed: 0, skipped: 0, afterExit: 0 };
  for (const { kind } of steps) kinds[kind]++;
  return { ...counts, kinds };
}

/** Tells whether an attempt counts: a move that can be judged, or a jump to a cell that no legal move had reached. */
export function isJudged({ kind, relocation }: WalkStep): boolean {
  return (
    kind === "ok" || kind === "wall" || kind === "outOfGrid" || (kind === "malformed" && relocation === "teleport")
  );
}

/** Tells whether an attempt is an error of its own: into a wall, off the grid, or from a cell never reached. */
export function isIllegal({ kind, relocation }: WalkStep): boolean {
  return kind === "wall" || kind === "outOfGrid" || relocation === "teleport";
}
