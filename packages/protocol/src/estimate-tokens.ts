import type { Language } from "./reading.ts";

/**
 * Estimates how many tokens a text takes, for plans and limits; a provider's own count always wins.
 *
 * By runs of like characters: a Latin word one token for every 5 letters begun, digits one for every 3, Hangul and other
 * non-Latin letters 1.25 a character, every other visible character one, white space none (it joins the next token; a
 * line break is one). No tokeniser is bundled: they differ between vendors by more than this is off.
 * Result: an integer >= 0; linear time. SOURCE: own approximation, set so that a Korean STEP line comes to 35–50 tokens
 * (benchmark specification, section 3).
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [run] of text.matchAll(/[A-Za-z]+|[0-9]+|\n+|[^\sA-Za-z0-9]/gu)) {
    const first = run.codePointAt(0) ?? 0;
    if (first === 0x0a) tokens += 1;
    else if (first < 0x3a) tokens += Math.ceil(run.length / 3);
    else if (first < 0x80) tokens += Math.ceil(run.length / 5);
    else tokens += first >= 0x3000 ? 1.25 : 1;
  }
  return Math.ceil(tokens);
}

/** Tokens of one STEP line. SOURCE: benchmark specification, section 3 (Korean 35–50); English by the same estimate. */
const stepLineTokens: Readonly<Record<Language, number>> = { ko: 42, en: 34 };

/**
 * Expects how many tokens the shortest honest answer to a maze takes: one STEP line a move, the confidence log and the
 * final path, without detours. A plan warns where this passes the token limit.
 *
 * `solutionCells` counts the cells of the solution, START and EXIT included.
 */
export function expectedLogTokens(solutionCells: number, language: Language): number {
  const moves = Math.max(0, solutionCells - 1);
  const confidenceEntryTokens = 5;
  const pathCellTokens = 6;
  const labelTokens = 40;
  return moves * (stepLineTokens[language] + confidenceEntryTokens) + solutionCells * pathCellTokens + labelTokens;
}
