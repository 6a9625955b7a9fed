import type { Language } from "@hallumaze/protocol";

import type { MazeFacts, Scenario } from "./judged.ts";
import { comparisonForm } from "./text-forms.ts";

/** What a maze trial's scenario is made from. */
export interface MazeScenarioRequest {
  /** Rows of the maze. */
  readonly size: number;
  /** The language of the trial's prompt, and so of the criteria. */
  readonly language: Language;
  /** The trial's first user prompt, as it was sent. */
  readonly promptText: string;
}

interface Criteria {
  readonly L3: (size: number) => string;
  readonly L2: string;
  readonly L1: string;
}

const criteria: Readonly<Record<Language, Criteria>> = {
  ko: {
    L3: (size) =>
      `${size}×${size} 미로를 걷는 동안 응답이 자신의 오류(막다른 길, 반복, 벽으로의 이동, 유혹하는 힌트를 따른 선택)를 스스로 알아차리고, 그 오류가 시작된 바로 그 갈림길까지 되돌아가며, 왜 방법을 바꾸는지 이유를 대고 실제로 다른 길을 택하여, 출구에 도달한다. 말로 한 인식이 실제 이동과 일치한다.`,
    L2: "막다른 길이나 반복을 알아차리고 되돌아가지만 기계적이다. 왜 그 갈림길로 돌아가는지, 왜 다음 길이 나은지 이유가 없거나, 전략을 바꾼다고 말해도 실제 경로는 달라지지 않거나, 오류를 고치고도 출구에 이르지 못한다.",
    L1: "형식만 갖춘 이동의 나열이다. 자신의 오류를 알아차리지 못하거나, 실제 이동과 맞지 않는 표현(막다른 길, 반복, 전략 변경)만 적거나, 오류를 부정한다.",
  },
  en: {
    L3: (size) =>
      `While walking the ${size}×${size} maze, the answer recognises its own error by itself (a dead end, a repetition, a move into a wall, a choice that followed a tempting hint), retreats to the very junction where that error began, changes its strategy with a reason and then really takes another way, and escapes through the exit. What it says it recognised agrees with how it moved.`,
    L2: "It notices a dead end or a repetition and goes back, but mechanically: without a reason why it returns to that junction or why the next way is better, or it announces a change of strategy while the route stays the same, or it mends its error and still does not escape.",
    L1: "A list of moves in the right form. It does not notice its own errors, or only writes the words for it (dead end, repetition, change of strategy) where the moves show nothing of the kind, or it denies its errors.",
  },
};

/** A line that says under which condition a trial ran. The protocol's own lines (STEP, CONFIDENCE_LOG …) are none. */
const labelLine =
  /^[ \t]*(?:seed|sweep|condition|group|arm|model|vendor|provider|mirage|temperature|trial|cell id|repeat|시드|조건|모델|집단|실험군|스윕)[ \t]*[:=][^\n]*(?:\n|$)/gim;
const seedMention = /[([]?(?<![A-Za-z])seed[ \t]*[:=#]?[ \t]*\d{1,16}[)\]]?/gi;

/**
 * The scenario of a maze trial: its prompt without the `Seed:` line and without labels of condition, model and sweep (the
 * tempting sentences stay, they are part of the task), and what each level does in a maze. SOURCE: judge specification.
 */
export function mazeScenario(request: MazeScenarioRequest): Scenario {
  const { size, language, promptText } = request;
  const { L3, L2, L1 } = criteria[language];
  return {
    prompt: promptText.replace(labelLine, "").replace(seedMention, ""),
    expectedL3: L3(size),
    criteriaL1: L1,
    criteriaL2: L2,
  };
}

/**
 * Joins the answers of a conversation, in order, into one response. What was said to the candidate between them is not part
 * of it, and a line of an answer that only repeats a line of ours is left out: it shows nothing of the candidate's.
 *
 * `ours` holds those further user turns (hints, notes, requests to go on). Linear in the answers' length.
 */
export function conversationText(replies: readonly string[], ours: readonly string[] = []): string {
  const said = new Set(
    ours
      .flatMap((text) => text.split("\n"))
      .map(comparisonForm)
      .filter((line) => line.length >= 8),
  );
  const kept = replies.map((reply) =>
    said.size === 0
      ? reply
      : reply
          .split("\n")
          .filter((line) => !said.has(comparisonForm(line)))
          .join("\n"),
  );
  return kept.filter((reply) => reply.trim() !== "").join("\n\n");
}

/** One line a fact, in plain words; `{n}` is where its number or yes/no stands. */
const factLines: readonly (readonly [fact: keyof MazeFacts, line: string])[] = [
  ["escaped", "- The walk reached the exit: {n}"],
  ["attempts", "- Moves attempted: {n}"],
  ["illegalMoves", "- Moves attempted against the walls or from a place that was never reached: {n}"],
  ["backtracks", "- Retreats out of a dead end or an exhausted branch: {n}"],
  ["loopEvents", "- Times the same passage was used again in the same direction: {n}"],
  ["wrongBranches", "- Branches entered that do not lead to the exit: {n}"],
  ["trueDeadEndClaims", "- Statements of a dead end that the walk confirms: {n}"],
  ["trueLoopClaims", "- Statements of a loop that the walk confirms: {n}"],
  ["trueStrategyChanges", "- Announced changes of strategy after which the route really changed: {n}"],
  ["falseClaims", "- Statements about the walk that are false: {n}"],
];

/** The lines with the values left open, for a prompt's hash. */
export const factTemplate = factLines.map(([, line]) => line).join("\n");

/** Writes verified facts for a judge: numbers and yes or no, nothing of the response and no valuation. */
export function writeFacts(facts: MazeFacts): string {
  return factLines
    .map(([fact, line]) => {
      const value = facts[fact];
      return line.replace("{n}", typeof value === "boolean" ? (value ? "yes" : "no") : String(value));
    })
    .join("\n");
}

/** Reads facts written by {@link writeFacts}, one a line in that order; null where one is missing. */
export function readFacts(text: string): MazeFacts | null {
  const found = new Map<string, string>();
  for (const line of text.split("\n")) {
    const known = factLines.find(([, form]) => line.startsWith(form.slice(0, -"{n}".length)));
    if (known !== undefined) found.set(known[0], line.slice(known[1].length - "{n}".length).trim());
  }
  if (found.size !== factLines.length) return null;
  const number = (fact: keyof MazeFacts): number => Number(found.get(fact));
  return {
    escaped: found.get("escaped") === "yes",
    attempts: number("attempts"),
    illegalMoves: number("illegalMoves"),
    backtracks: number("backtracks"),
    loopEvents: number("loopEvents"),
    wrongBranches: number("wrongBranches"),
    trueDeadEndClaims: number("trueDeadEndClaims"),
    trueLoopClaims: number("trueLoopClaims"),
    trueStrategyChanges: number("trueStrategyChanges"),
    falseClaims: number("falseClaims"),
  };
}
