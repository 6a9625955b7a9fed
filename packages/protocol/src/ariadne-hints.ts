import type { Cell } from "@hallumaze/maze";

import type { Language } from "./reading.ts";

/** The version of the hints' texts; a changed word needs a new one, since it changes what a trial is. */
export const hintVersion = "h1";

/** What a check of an answer's walk showed. Only cells that the walk reached may stand here, and never EXIT. */
export interface HintFacts {
  /** Pairs of neighbouring cells between which the same move was made again; at most two are named. */
  readonly repeatedMoves: readonly (readonly [from: Cell, to: Cell])[];
  /** True where a move was made again, named or not. */
  readonly hasRepeatedMove: boolean;
  /** Cells from which the same closed passage was tried again; at most two are named. */
  readonly repeatedErrors: readonly Cell[];
  /** True where an illegal attempt was made again, named or not. */
  readonly hasRepeatedError: boolean;
  /** True where a long run of attempts brought nothing new. */
  readonly isStalled: boolean;
  /** True where the walk ended short of EXIT; false: it got there, but the answer as a whole was not accepted. */
  readonly isShort: boolean;
  /** Distinct cells that the conversation's legal moves reached, START included; >= 1. */
  readonly cellsReached: number;
}

/**
 * What to say next: a `hint` with the instruction to use it (group B), the same information as a `note` without one
 * (group C), or a neutral request to `continue` (the shadow of group A).
 */
export type HintRequest =
  | { readonly kind: "hint" | "note"; readonly language: Language; readonly facts: HintFacts }
  | { readonly kind: "continue"; readonly language: Language };

/** A further user turn, ready to send. */
export interface Hint {
  readonly version: string;
  /** Lines joined by a line feed. */
  readonly text: string;
}

interface Wording {
  readonly heading: string;
  readonly repeatedMove: (one: string, other: string) => string;
  readonly unnamedMove: string;
  readonly repeatedError: (cell: string) => string;
  readonly unnamedError: string;
  readonly stalled: string;
  readonly short: string;
  readonly unaccepted: string;
  readonly reached: (cells: number) => string;
  readonly instruction: readonly string[];
  readonly goOn: string;
}

// No word here may be read as a direction ("right", "up", 서, 위 …), a move, a claim (loop, dead end, 루프, 막다른 길),
// a refusal or a give-up ("impossible", 불가): a model that repeats a sentence, even loosely, says nothing by it.
const wordings: Readonly<Record<Language, Wording>> = {
  en: {
    heading: "Note on the walk in your last answer:",
    repeatedMove: (one, other) => `The same move between the cells ${one} and ${other} was made more than once.`,
    unnamedMove: "The same move was made more than once.",
    repeatedError: (cell) => `The same closed passage was tried more than once, starting from the cell ${cell}.`,
    unnamedError: "The same move against the rules was tried more than once.",
    stalled: "A long stretch of the walk brought nothing new.",
    short: "The walk ended before the exit was reached.",
    unaccepted: "The answer does not yet hold one complete and unbroken route to the exit.",
    reached: (cells) => `The number of different cells reached so far is ${cells}.`,
    instruction: [
      "Please use this: leave what was repeated, and look at openings that your walk has not used yet.",
      "Then answer again in the same format as before, with FINAL_PATH as the last line.",
    ],
    goOn: "Please continue in the same format, with FINAL_PATH as the last line.",
  },
  ko: {
    heading: "마지막 답변의 탐색에 대한 기록:",
    repeatedMove: (one, other) => `칸 ${one}과 칸 ${other} 사이의 같은 움직임이 두 번 이상 나왔습니다.`,
    unnamedMove: "같은 움직임이 두 번 이상 나왔습니다.",
    repeatedError: (cell) => `칸 ${cell}에서 닫힌 같은 통로를 두 번 이상 시도했습니다.`,
    unnamedError: "규칙에 어긋난 같은 움직임을 두 번 이상 시도했습니다.",
    stalled: "오랫동안 새로운 칸도 새로운 움직임도 나오지 않았습니다.",
    short: "탐색이 출구에 닿기 전에 끝났습니다.",
    unaccepted: "출구까지 끊기지 않고 이어진 완전한 경로가 답변에 아직 담기지 않았습니다.",
    reached: (cells) => `지금까지 닿은 칸은 중복을 빼고 모두 ${cells}개입니다.`,
    instruction: [
      "이 내용을 활용해 되풀이한 움직임을 멈추고, 아직 쓰지 않은 열린 통로를 살펴보세요.",
      "그런 다음 이전과 같은 형식으로 다시 답하고, 마지막 줄에 FINAL_PATH를 적으세요.",
    ],
    goOn: "이전과 같은 형식으로 계속하고, 마지막 줄에 FINAL_PATH를 적어 주세요.",
  },
};

/** A hint reminds of what was seen; a longer list would begin to draw the maze. */
const maxNamed = 2;

/**
 * Writes a further user turn from what was seen, never from the maze: no direction, no untried opening, no cell but those
 * in `facts`. Pure. SOURCE: benchmark specification, section 7; seed, section 9.3.
 */
export function buildHint(request: HintRequest): Hint {
  const wording = wordings[request.language];
  if (request.kind === "continue") return { version: hintVersion, text: wording.goOn };
  const lines = [
    wording.heading,
    ...factLines(wording, request.facts),
    ...(request.kind === "hint" ? wording.instruction : []),
  ];
  return { version: hintVersion, text: lines.join("\n") };
}

function factLines(wording: Wording, facts: HintFacts): readonly string[] {
  const { repeatedMoves, repeatedErrors } = facts;
  const moves = repeatedMoves
    .slice(0, maxNamed)
    .map(([one, other]) => wording.repeatedMove(cellText(one), cellText(other)));
  const errors = repeatedErrors.slice(0, maxNamed).map((cell) => wording.repeatedError(cellText(cell)));
  return [
    ...moves,
    ...(facts.hasRepeatedMove && moves.length === 0 ? [wording.unnamedMove] : []),
    ...errors,
    ...(facts.hasRepeatedError && errors.length === 0 ? [wording.unnamedError] : []),
    ...(facts.isStalled ? [wording.stalled] : []),
    facts.isShort ? wording.short : wording.unaccepted,
    wording.reached(facts.cellsReached),
  ];
}

function cellText([row, col]: Cell): string {
  return `(${row},${col})`;
}
