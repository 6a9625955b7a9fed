import { type Cell, directionArrows } from "@hallumaze/maze";
import { estimateTokens, type Language } from "@hallumaze/protocol";

import type { Log, LogLine, Reason } from "./journal.ts";

/** An answer and how it ended: `length` where it was cut at the token limit. */
export interface Answer {
  readonly text: string;
  readonly finishReason: "stop" | "length";
}

/** How a log is written. */
export interface WritingOptions {
  readonly language: Language;
  readonly asksConfidence: boolean;
  readonly maxTokens: number;
}

// No word here may be read as a direction ("right", 상, 동 …), a move or a claim; only `wallMet` is meant as one.
const reasons: Readonly<Record<Language, Readonly<Record<Reason, string>>>> = {
  en: {
    open: "open",
    onlyWay: "only way",
    newBranch: "new branch",
    retreat: "retreat",
    hint: "tempting hint",
    guess: "guess",
    certain: "certain",
    wallMet: "wall, blocked",
    rethink: "try another branch",
  },
  ko: {
    open: "열린 길",
    onlyWay: "외길",
    newBranch: "새 갈래",
    retreat: "되돌아감",
    hint: "힌트 따름",
    guess: "추측",
    certain: "확실함",
    wallMet: "벽에 막힘",
    rethink: "다른 갈래 시도",
  },
};

const confidenceLabels: Readonly<Record<Language, string>> = { en: "Confidence", ko: "확신도" };
const giveUpWords: Readonly<Record<Language, string>> = { en: "N/A", ko: "없음" };

/**
 * Writes a log in the prompt's format. Where it would pass the token limit it is written tersely, as a model that minds
 * its limit would: first without reasons, then without CONFIDENCE_LOG (each line still carries its confidence). What
 * still does not fit is cut.
 */
export function writeLog(log: Log, options: WritingOptions): Answer {
  for (const terseness of [0, 1, 2]) {
    const text = logText(log, options, terseness);
    if (estimateTokens(text) <= options.maxTokens) return { text, finishReason: "stop" };
  }
  return cutToFit(logText(log, options, 2), options.maxTokens);
}

/** Cuts a text to the longest beginning that is estimated to fit the token limit. */
export function cutToFit(text: string, maxTokens: number): Answer {
  if (estimateTokens(text) <= maxTokens) return { text, finishReason: "stop" };
  let fits = 0;
  let tooLong = text.length;
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (estimateTokens(text.slice(0, middle)) <= maxTokens) fits = middle;
    else tooLong = middle;
  }
  return { text: text.slice(0, fits), finishReason: "length" };
}

/** Writes cells as a path: `(0,0)→(0,1)`. */
export function pathText(cells: readonly Cell[]): string {
  return cells.map(cellText).join("→");
}

function logText(log: Log, options: WritingOptions, terseness: number): string {
  const { language, asksConfidence } = options;
  const steps = log.lines.filter((line) => line.kind === "step");
  const confidences = steps.map(({ number, confidence }) => `step${number}:${confidence}`);
  return [
    ...log.lines.map((line) => lineText(line, options, terseness > 0)),
    "",
    `BACKTRACK_COUNT: ${log.backtracks}`,
    `HALLUCINATION_COUNT: ${log.hallucinations}`,
    ...(asksConfidence && terseness < 2 ? [`CONFIDENCE_LOG: ${confidences.join(", ")}`] : []),
    `FINAL_PATH: ${log.finalPath === null ? giveUpWords[language] : pathText(log.finalPath)}`,
  ].join("\n");
}

function lineText(line: LogLine, { language, asksConfidence }: WritingOptions, terse: boolean): string {
  switch (line.kind) {
    case "step": {
      const move = `STEP ${line.number}: ${cellText(line.from)} → [${line.dir}${directionArrows[line.dir]}]`;
      const confidence = asksConfidence ? ` | ${confidenceLabels[language]}: ${line.confidence}%` : "";
      return `${move}${confidence}${terse ? "" : ` | ${reasons[language][line.reason]}`}`;
    }
    case "deadEnd":
      return `DEAD_END at ${cellText(line.at)} — backtracking`;
    case "loop":
      return `LOOP detected at ${cellText(line.at)} — visited at step ${line.seenAtStep}`;
    case "strategyChange":
      return `STRATEGY_CHANGE — ${reasons[language][line.reason]}`;
  }
}

function cellText([row, col]: Cell): string {
  return `(${row},${col})`;
}
