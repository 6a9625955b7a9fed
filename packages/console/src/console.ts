import type { Environment, Logger } from "@hallumaze/runtime";

/** What a command may touch of the process around it. Injected, so that a test can hold it. */
export interface Console {
  /** The command's result, for people or (`--json`) for programs. */
  readonly out: (text: string) => void;
  /** Notices, warnings and errors. */
  readonly err: (text: string) => void;
  /** True where `out` is a terminal that can redraw lines. */
  readonly isTerminal: boolean;
  readonly columns: () => number;
  readonly workingFolder: string;
  readonly environment: () => Environment;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly logger: () => Logger;
  /** Fires at the first interrupt: drain. The second ends the process. */
  readonly interrupt: AbortSignal;
  readonly readInput: () => Promise<string>;
  readonly now: () => number;
}

/** Exit codes of every command (spec/sweeps.md section 7); the highest of those that apply. */
export const exitCodes = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  failedTrials: 3,
  refused: 4,
  interrupted: 130,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
