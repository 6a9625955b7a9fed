export type { AddCommand, Register } from "./command.ts";
export { type Console, type ExitCode, exitCodes } from "./console.ts";
export { explainError, listenProblem, UsageError } from "./errors.ts";
export { openResultsFolder, writeBeside, writeWhole } from "./files.ts";
export { checkKnown, findSweep, integerBetween, list, readBytes, readText } from "./inputs.ts";
export {
  budgetBlocked,
  countState,
  exitCodeOf,
  judgeExitCode,
  judgeFailureLines,
  openTrials,
  pausedLine,
} from "./sweep-end.ts";
