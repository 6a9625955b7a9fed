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
  for (let at = 0; at < text.length; ) {
    const start = at;
    const kind = kindOf(text.charCodeAt(at));
    at += 1;
    if (kind === "other" || kind === "wide") {
      // A surrogate pair is one character.
      if (isHighSurrogate(text.charCodeAt(start)) && at < text.length) at += 1;
      tokens += kind === "wide" ? 1.25 : 1;
      continue;
    }
    while (at < text.length && kindOf(text.charCodeAt(at)) === kind) at += 1;
    if (kind === "letter") tokens += Math.ceil((at - start) / 5);
    else if (kind === "digit") tokens += Math.ceil((at - start) / 3);
    else if (kind === "break") tokens += 1;
  }
  return Math.ceil(tokens);
}

type CharacterKind = "letter" | "digit" | "break" | "space" | "wide" | "other";

function kindOf(code: number): CharacterKind {
  if ((code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)) return "letter";
  if (code >= 0x30 && code <= 0x39) return "digit";
  if (code === 0x0a) return "break";
  if (code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0 || code === 0x3000 || code === 0xfeff)
    return "space";
  return code > 0x3000 ? "wide" : "other";
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
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
