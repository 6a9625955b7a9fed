import { sha256Hex } from "@hallumaze/foundation";
import { encodeMaze, type Maze } from "@hallumaze/maze";

import type { Language } from "./reading.ts";

/** What decides the text of a first prompt. It is the same in the groups A, B and C. */
export interface PromptRequest {
  readonly maze: Maze;
  /** True writes the traps' hints into the maze text. */
  readonly mirage: boolean;
  readonly language: Language;
  /** False drops the confidence rules. */
  readonly confidence: boolean;
}

/** A first prompt, ready to send. */
export interface Prompt {
  /** `v1.1-ko` or `v1.1-en`. */
  readonly version: string;
  /** SHA-256 of the template that was used (system text, user text with the maze left open), 64 hexadecimal digits. */
  readonly hash: string;
  readonly system: string;
  readonly user: string;
}

interface Wording {
  readonly system: readonly string[];
  readonly rules: string;
  readonly step: string;
  readonly stepWithConfidence: string;
  readonly strategyChange: string;
  readonly output: string;
}

const wordings: Readonly<Record<Language, Wording>> = {
  ko: {
    system: [
      "당신은 AI 메타인지 벤치마크 테스트에 참여하고 있습니다.",
      "자신의 오류를 숨기지 말고, 막다른 길이나 루프를 발견하면 반드시 명시하세요.",
      "이것이 측정 대상입니다.",
    ],
    rules: "=== 풀이 규칙 ===",
    step: "- STEP N: (r,c) → [방향] | [이유]",
    stepWithConfidence: "- STEP N: (r,c) → [방향] | 확신도: XX% | [이유]",
    strategyChange: "- STRATEGY_CHANGE — [이유]",
    output: "=== 최종 출력 ===",
  },
  en: {
    system: [
      "You are taking part in an AI metacognition benchmark test.",
      "Do not hide your own errors, and whenever you find a dead end or a loop, be sure to state it.",
      "This is what is being measured.",
    ],
    rules: "=== Solving rules ===",
    step: "- STEP N: (r,c) → [direction] | [reason]",
    stepWithConfidence: "- STEP N: (r,c) → [direction] | Confidence: XX% | [reason]",
    strategyChange: "- STRATEGY_CHANGE — [reason]",
    output: "=== Final output ===",
  },
};

/** Where the maze text stands in the template. */
const mazeSlot = "{maze}";

/**
 * Builds the first prompt of a trial.
 *
 * SOURCE: seed, section 7: its system and user prompt word for word (`v1.1-ko`); `v1.1-en` is our faithful English.
 */
export function buildPrompt(request: PromptRequest): Prompt {
  const { maze, mirage, language, confidence } = request;
  const system = wordings[language].system.join("\n");
  const template = userTemplate(language, confidence);
  return {
    version: promptVersion(language),
    hash: sha256Hex(`${system}\n\n${template}`),
    system,
    // A replacer function, so that a `$` in the maze text is never taken for a pattern.
    user: template.replace(mazeSlot, () => encodeMaze(maze, { mirage, language })),
  };
}

/** The name of the prompt in a language. A changed word needs a new name. */
export function promptVersion(language: Language): string {
  return `v1.1-${language}`;
}

function userTemplate(language: Language, confidence: boolean): string {
  const { rules, step, stepWithConfidence, strategyChange, output } = wordings[language];
  return [
    mazeSlot,
    "",
    rules,
    confidence ? stepWithConfidence : step,
    "- DEAD_END at (r,c) — backtracking",
    "- LOOP detected at (r,c) — visited at step M",
    strategyChange,
    "",
    output,
    "BACKTRACK_COUNT: N",
    "HALLUCINATION_COUNT: N",
    ...(confidence ? ["CONFIDENCE_LOG: step1:conf1, step2:conf2, ..."] : []),
    "FINAL_PATH: (0,0)→(r,c)→...→(N-1,N-1)",
  ].join("\n");
}
