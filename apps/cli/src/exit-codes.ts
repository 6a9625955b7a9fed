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
