import type { Cell, Direction } from "@hallumaze/maze";

/** What a move turned out to be. */
export type MoveKind = "ok" | "wall" | "outOfGrid" | "malformed" | "skipped" | "afterExit";

/** What it means that a line does not start where the walker stands; null where it does. */
export type Relocation = "throughWall" | "rewind" | "jumpBack" | "teleport";

/** One attempt after simulation from START. */
export interface WalkStep {
  readonly kind: MoveKind;
  readonly relocation: Relocation | null;
  /** Where the move starts, after any relocation; null where that is off the grid. */
  readonly from: Cell | null;
  /** Where the walker stands afterwards; null while it stands on a phantom cell off the grid. */
  readonly to: Cell | null;
  readonly dir: Direction | null;
  /** True while backtracks, traps, branches, new cells and progress count (the log stands on legally reached cells). */
  readonly grounded: boolean;
  /** 0 … 1, null where none was read. */
  readonly confidence: number | null;
  /** True on the attempt that carries its line's confidence into the metrics (one a line). */
  readonly confidenceCounts: boolean;
  /** True where more than one onward direction was open (a real choice). */
  readonly isDecision: boolean;
  /** True where the move follows the unique way from where it starts to EXIT. */
  readonly onRoute: boolean;
  /** The step number printed on the line. */
  readonly index: number | null;
}

/** One entry into a branch off the solution. */
export interface BranchEntry {
  /** 0-based position in `steps`. */
  readonly at: number;
  readonly depth: number;
  /** Attempts from the first dead end in it (or its entry) to the first turn; null where it never turned. */
  readonly latency: number | null;
  /** True where this branch had been left once before. */
  readonly revisit: boolean;
}

/** The verified walk: what the log did, whatever it says. Counts follow spec section 5. */
export interface Walk {
  readonly steps: readonly WalkStep[];
  readonly sr: 0 | 1;
  readonly hc: number;
  readonly wallAttempts: number;
  readonly outOfGridAttempts: number;
  readonly teleports: number;
  /** Illegal edges of FINAL_PATH that the log does not contain. */
  readonly finalPathErrors: number;
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
  /** Moves of the accepted path beyond the solution's; null where SR is 0. */
  readonly excessMoves: number | null;
  /** True where the accepted path repeats no cell; null where SR is 0. */
  readonly simplePath: boolean | null;
  /** Self-reported minus true counts; null where nothing was reported. */
  readonly selfReportGaps: { readonly backtracks: number | null; readonly hallucinations: number | null };
}
