import type { SweepProgress, SweepRecord } from "@hallumaze/engine";
import type { JudgeProgress } from "@hallumaze/judging";
import { quoted, singleLine } from "@hallumaze/reports";

import { type ExitCode, exitCodes } from "./console.ts";

/** Says that an operator holds a sweep back, and how it goes on. */
export function pausedLine({ name, paused }: SweepRecord): string {
  const what = paused === null || paused.models.length === 0 ? "" : ` (${paused.models.join(", ")})`;
  return `${name}${what} is paused by an operator. Go on with: hallumaze resume ${quoted(name)}`;
}

/** Trials of the grid that are not finished and not blocked. */
export function openTrials(progress: SweepProgress): number {
  return countState(progress, "planned") + countState(progress, "queued") + countState(progress, "running");
}

/** The exit code that a sweep's trials ask for: the budget stopped some, some failed or wait for a lane, or all is done. */
export function exitCodeOf(progress: SweepProgress): ExitCode {
  if (budgetBlocked(progress) > 0) return exitCodes.refused;
  const unfinished = (["failed", "blocked", "cancelled"] as const).reduce(
    (sum, state) => sum + countState(progress, state),
    0,
  );
  return unfinished > 0 ? exitCodes.failedTrials : exitCodes.ok;
}

/** The exit code that a sweep's judges ask for. */
export function judgeExitCode({ failures }: JudgeProgress): ExitCode {
  if (failures.some(({ outcome }) => outcome === "budget_blocked")) return exitCodes.refused;
  return failures.length > 0 ? exitCodes.failedTrials : exitCodes.ok;
}

/** Says which requests to judges were not answered, and what to do. */
export function judgeFailureLines({ failures }: JudgeProgress, sweep: string): readonly string[] {
  const lines = failures.map(
    ({ outcome, count, firstMessage }) => `${count} × ${outcome} (judge): ${singleLine(firstMessage)}`,
  );
  const again = `hallumaze resume ${quoted(sweep)} for blocked ones, hallumaze retry ${quoted(sweep)} --failed for others`;
  return lines.length === 0 ? [] : [...lines, `Judgements are missing. Go on with: ${again}; then run.`];
}

/** Trials that wait for a raised budget. */
export function budgetBlocked(progress: SweepProgress): number {
  return progress.failures
    .filter(({ outcome }) => outcome === "budget_blocked")
    .reduce((sum, { count }) => sum + count, 0);
}

/** Trials of the grid in one state, over all models. */
export function countState(progress: SweepProgress, state: keyof SweepProgress["models"][number]["states"]): number {
  return progress.models.reduce((sum, model) => sum + model.states[state], 0);
}
