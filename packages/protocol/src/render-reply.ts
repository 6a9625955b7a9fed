import { type Cell, type Direction, directionArrows } from "@hallumaze/maze";

import type { Language } from "./reading.ts";

/** One line of a log to be written. Steps are numbered from 1 in order of appearance. */
export type ReplyLine =
  | {
      readonly kind: "step";
      /** Null leaves the place out. */
      readonly from: Cell | null;
      readonly dir: Direction;
      /** Where it leads; null where the style or the writer does not say. */
      readonly to: Cell | null;
      /** 0 … 1, written in whole per cent; null leaves it out. */
      readonly confidence: number | null;
      /** Empty leaves it out. */
      readonly reason: string;
    }
  | { readonly kind: "deadEnd"; readonly at: Cell }
  | { readonly kind: "loop"; readonly at: Cell; readonly seenAtStep: number }
  | { readonly kind: "strategyChange"; readonly reason: string }
  /** A line outside the protocol, written as it is. */
  | { readonly kind: "text"; readonly text: string };

/** A whole reply to be written. */
export interface ReplyLog {
  readonly lines: readonly ReplyLine[];
  /** Null leaves the count's line out. */
  readonly backtracks: number | null;
  readonly hallucinations: number | null;
  /** Null leaves FINAL_PATH out; an empty path says in words that there is none. */
  readonly finalPath: readonly Cell[] | null;
}

/** How a reply is written: the prompt's own format, or one of the many that models make of it. */
export interface ReplyStyle {
  /** What stands before each protocol line: a bullet, a quote mark. */
  readonly prefix: string;
  readonly lineBreak: string;
  readonly step: (index: number) => string;
  readonly cell: (cell: Cell) => string;
  /** Between place and direction, with its spaces. */
  readonly separator: string;
  readonly direction: (dir: Direction) => string;
  /** Between target and direction, where a step names its target. */
  readonly targetSeparator: string;
  /** Between fields, with its spaces or line breaks. */
  readonly field: string;
  /** The whole field, from whole per cent. */
  readonly confidence: (percent: number) => string;
  /** True writes the reason before the confidence. */
  readonly reasonFirst: boolean;
  readonly confidenceLog: boolean;
  readonly pathLabel: string;
  readonly pathSeparator: string;
  readonly noPath: string;
}

const words: Readonly<Record<Language, { readonly confidence: string; readonly noPath: string }>> = {
  ko: { confidence: "확신도", noPath: "없음" },
  en: { confidence: "Confidence", noPath: "none" },
};

/** The format that the prompt of a language asks for. */
export function promptStyle(language: Language): ReplyStyle {
  return {
    prefix: "",
    lineBreak: "\n",
    step: (index) => `STEP ${index}:`,
    cell: writeCell,
    separator: " → ",
    direction: (dir) => `[${dir}${directionArrows[dir]}]`,
    targetSeparator: " → ",
    field: " | ",
    confidence: (percent) => `${words[language].confidence}: ${percent}%`,
    reasonFirst: false,
    confidenceLog: true,
    pathLabel: "FINAL_PATH: ",
    pathSeparator: "→",
    noPath: words[language].noPath,
  };
}

/** Writes a log as a model would. Reading it gives the same walk, whatever the style. Lines end in the style's break. */
export function renderReply(log: ReplyLog, style: ReplyStyle = promptStyle("ko")): string {
  let index = 0;
  const confidences: string[] = [];
  const lines = log.lines.map((line) => {
    if (line.kind !== "step") return line.kind === "text" ? line.text : style.prefix + writeClaim(line, style);
    index += 1;
    if (line.confidence !== null) confidences.push(`step${index}:${toPercent(line.confidence)}`);
    return style.prefix + writeStep(line, index, style);
  });
  const final: string[] = [];
  if (log.backtracks !== null) final.push(`BACKTRACK_COUNT: ${log.backtracks}`);
  if (log.hallucinations !== null) final.push(`HALLUCINATION_COUNT: ${log.hallucinations}`);
  if (style.confidenceLog && confidences.length > 0) final.push(`CONFIDENCE_LOG: ${confidences.join(", ")}`);
  if (log.finalPath !== null) {
    const path = log.finalPath.length === 0 ? style.noPath : log.finalPath.map(style.cell).join(style.pathSeparator);
    final.push(style.pathLabel + path);
  }
  const all = [...lines, ...(final.length > 0 ? ["", ...final.map((line) => style.prefix + line)] : [])];
  return all.map((line) => line + style.lineBreak).join("");
}

function writeStep(line: ReplyLine & { readonly kind: "step" }, index: number, style: ReplyStyle): string {
  const place = line.from === null ? "" : style.cell(line.from) + style.separator;
  const target = line.to === null ? "" : style.targetSeparator + style.cell(line.to);
  const confidence = line.confidence === null ? "" : style.confidence(toPercent(line.confidence));
  const fields = style.reasonFirst ? [line.reason, confidence] : [confidence, line.reason];
  const move = `${style.step(index)} ${place}${style.direction(line.dir)}${target}`;
  return [move, ...fields.filter((field) => field !== "")].join(style.field);
}

function writeClaim(
  line: ReplyLine & { readonly kind: "deadEnd" | "loop" | "strategyChange" },
  style: ReplyStyle,
): string {
  switch (line.kind) {
    case "deadEnd":
      return `DEAD_END at ${style.cell(line.at)} — backtracking`;
    case "loop":
      return `LOOP detected at ${style.cell(line.at)} — visited at step ${line.seenAtStep}`;
    case "strategyChange":
      return `STRATEGY_CHANGE — ${line.reason}`;
  }
}

function writeCell(cell: Cell): string {
  return `(${cell[0]},${cell[1]})`;
}

function toPercent(share: number): number {
  return Math.round(share * 100);
}
