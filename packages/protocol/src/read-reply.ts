import type { Cell, Maze } from "@hallumaze/maze";

import type { LogEntry } from "./confidence.ts";
import { readLeniently } from "./read-lenient.ts";
import { type Log, type LogStep, maxAttempts, readLog } from "./read-log.ts";
import { endsInsideLine, readOutcome } from "./read-outcome.ts";
import type { PathCandidate } from "./read-path.ts";
import type { Attempt, AttemptFlag, Claim, FinishReason, Reading, ReadingFlag, ReadingMode } from "./reading.ts";
import { splitLines } from "./split-lines.ts";
import { splitReasoning } from "./split-reasoning.ts";

/** The version of the reading rules; a change of a rule raises it, so that old and new readings never mix. */
export const readerVersion = "1";

/** What a reply is read against. */
export interface ReadOptions {
  readonly size: number;
  /** How the provider says the reply ended; null where it does not say. */
  readonly finishReason: FinishReason | null;
  readonly mode: ReadingMode;
  /** Only the lenient mode looks at it: strict reading knows no walls. */
  readonly maze: Maze;
}

/**
 * Reads a reply: attempts, final path, claims, confidences, and what the reply is at all. Pure and total: no text
 * throws, and the time is linear in the text's length.
 *
 * Only protocol lines make attempts and paths; words make claims, which are never scored by themselves.
 * SOURCE: benchmark specification, section 4.
 */
export function readReply(text: string, options: ReadOptions): Reading {
  const { visible, reasoning, unclosed } = splitReasoning(text);
  const lines = splitLines(text, visible);
  const log = readLog(lines);
  const cutShort = endsInsideLine(lines);
  if (cutShort) dropTail(log);
  const flags = new Set<ReadingFlag>();
  const path = choosePath(log.candidates, flags);
  const confidenceLog = settleLog(log);
  const written = {
    attempts: settleAttempts(log, confidenceLog, flags),
    claims: settleClaims(log),
    finalPath: path.cells,
  };
  const lenient = options.mode === "lenient" ? readLeniently(written, log.candidates, options.maze) : null;
  const { attempts, claims, finalPath } = lenient ?? written;
  const outcome = readOutcome({
    finishReason: options.finishReason,
    unclosedReasoning: unclosed,
    lines,
    hasWalk: attempts.length > 0 || finalPath !== null,
    gaveUp: path.gaveUp,
    cutShort,
  });
  if (lenient !== null && lenient.flag !== null) flags.add(lenient.flag);
  if (log.capped || log.claimsCapped) flags.add("capped");
  if (log.echoes > 0) flags.add("templateEcho");
  if (log.promptEcho) flags.add("promptEcho");
  if (log.partialConfidenceLog) flags.add("partialConfidenceLog");
  if (path.gaveUp) flags.add("giveUp");
  if (outcome === "truncated" || outcome === "truncated_in_reasoning") flags.add("truncated");
  return {
    mode: options.mode,
    outcome,
    attempts,
    finalPath,
    gaveUp: path.gaveUp,
    claims,
    flags: [...flags],
    selfReport: { ...log.selfReport },
    confidenceLog,
    templateEchoes: log.echoes,
    reasoning,
  };
}

/** Text that shows a letter or digit before anything that could be markup, an entity or the start of reasoning. */
const showsSomething = /^[^&<`~]*[\p{L}\p{N}]/u;

/** Tells whether `readReply` would find the reply empty, without reading it. */
export function isEmptyReply(text: string, finishReason: FinishReason | null): boolean {
  if (showsSomething.test(text)) return false;
  const { visible, unclosed } = splitReasoning(text);
  const lines = splitLines(text, visible);
  const facts = { finishReason, unclosedReasoning: unclosed, lines, hasWalk: false, gaveUp: false, cutShort: false };
  return readOutcome(facts) === "empty";
}

/** A last step that was cut before its move says nothing: it is dropped. */
function dropTail(log: Log): void {
  const last = log.steps.at(-1);
  if (last === undefined || last.moved || log.candidates.length > 0) return;
  log.steps.pop();
}

function choosePath(
  candidates: readonly PathCandidate[],
  flags: Set<ReadingFlag>,
): { readonly cells: readonly Cell[] | null; readonly gaveUp: boolean } {
  const paths = candidates.filter((candidate) => candidate.kind === "path");
  if (candidates.some((candidate) => candidate.kind === "incomplete")) flags.add("incompleteFinal");
  if (new Set(paths.map(({ cells }) => cells.map((cell) => cell.join(",")).join(" "))).size > 1)
    flags.add("multipleFinal");
  const last = candidates.findLast((candidate) => candidate.kind === "path" || candidate.kind === "giveUp");
  if (last === undefined) return { cells: null, gaveUp: false };
  if (last.cells.length > maxAttempts) flags.add("capped");
  return last.kind === "giveUp" ? { cells: null, gaveUp: true } : { cells: last.cells, gaveUp: false };
}

/** Whether the log counts in percent, so that a bare `1` means 1 %. */
function countsInPercent(log: Log): boolean {
  return log.steps.some((step) => step.confidence?.percent) || log.entries.some((entry) => entry.confidence.percent);
}

function settleLog(log: Log): Reading["confidenceLog"] {
  const percent = countsInPercent(log);
  return log.entries.flatMap((entry: LogEntry) => {
    const { value, bareOne } = entry.confidence;
    return value === null ? [] : [{ step: entry.step, confidence: bareOne && percent ? 0.01 : value }];
  });
}

function settleAttempts(
  log: Log,
  confidenceLog: Reading["confidenceLog"],
  flags: Set<ReadingFlag>,
): readonly Attempt[] {
  const percent = countsInPercent(log);
  const logged = new Map(confidenceLog.map(({ step, confidence }) => [step, confidence]));
  const attempts: Attempt[] = [];
  let previous: number | null = null;
  for (const [line, step] of log.steps.entries()) {
    const anomaly = isAnomaly(step.index, previous);
    if (anomaly) flags.add("numberingAnomaly");
    previous = step.index ?? previous;
    const settled = settleConfidence(step, percent, logged.get(step.index ?? line + 1) ?? null);
    if (settled.flags.includes("confidenceMismatch")) flags.add("confidenceMismatch");
    for (const move of step.moves) {
      attempts.push({
        index: step.index,
        ...move,
        confidence: settled.value,
        confidenceText: settled.text,
        flags: [...move.flags, ...settled.flags, ...(anomaly ? (["numberingAnomaly"] as const) : [])],
        line,
        span: step.span,
      });
    }
  }
  if (attempts.length > maxAttempts) flags.add("capped");
  return attempts.slice(0, maxAttempts);
}

/** Steps count up by one from 0 or 1; anything else is odd, and the order of appearance stands. */
function isAnomaly(index: number | null, previous: number | null): boolean {
  if (index === null) return false;
  return previous === null ? index > 1 : index !== previous + 1;
}

/** What stands on the line wins over CONFIDENCE_LOG; where nothing stands there, the log's value is taken. */
function settleConfidence(
  step: LogStep,
  percent: boolean,
  logged: number | null,
): { readonly value: number | null; readonly text: string | null; readonly flags: readonly AttemptFlag[] } {
  const inline = step.confidence;
  if (inline === null) return { value: logged, text: null, flags: [] };
  const value = inline.bareOne && percent ? 0.01 : inline.value;
  const flags: AttemptFlag[] = inline.flag === null ? [] : [inline.flag];
  if (value !== null && logged !== null && Math.abs(value - logged) > 0.005) flags.push("confidenceMismatch");
  return { value, text: inline.text, flags };
}

/** Turns positions in lines into positions in attempts. */
function settleClaims(log: Log): readonly Claim[] {
  const starts = [0];
  for (const step of log.steps) starts.push((starts.at(-1) ?? 0) + step.moves.length);
  return log.claims.map(({ claim, afterStep, inStep }) => {
    const before = starts[afterStep] ?? starts.at(-1) ?? 0;
    // A refusal is about the move of its line, which stands before it.
    const behind = inStep && claim.kind === "wall";
    return { ...claim, afterAttempt: Math.min(maxAttempts, behind ? (starts[afterStep + 1] ?? before) : before) };
  });
}
