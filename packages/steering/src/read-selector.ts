import { failureOutcomes, type Outcome } from "@hallumaze/engine";
import { readSeeds, type SeedRange } from "@hallumaze/sweep";

import type { TrialSelector } from "./ports.ts";
import { checkWord, SteeringError } from "./refusal.ts";

/** The words that select trials, as they were given; absent ones select all. */
export interface SelectorWords {
  readonly outcomes?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
  readonly sizes?: readonly (string | number)[] | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly mirage?: boolean | undefined;
  readonly seeds?: readonly string[] | undefined;
  readonly languages?: readonly string[] | undefined;
  readonly since?: string | undefined;
}

/** Reads a selector; a word that names nothing is refused with the nearest. Whether the sweep has its models: `checkModels`. */
export function readSelector(words: SelectorWords): TrialSelector {
  const { outcomes = [], models, sizes, groups, mirage, seeds, languages, since } = words;
  for (const group of groups ?? []) checkWord("group", group, ["A", "B", "C"]);
  for (const language of languages ?? []) checkWord("language", language, ["ko", "en"]);
  const kinds = outcomes.map(readOutcome);
  return {
    ...(kinds.length > 0 && { outcomes: kinds }),
    ...(models && { models }),
    ...(sizes && { sizes: sizes.map(readSize) }),
    ...(groups && { groups }),
    ...(mirage !== undefined && { mirage }),
    ...(seeds && { seeds: readSeedWords(seeds) }),
    ...(languages && { languages }),
    ...(since !== undefined && { since: readSince(since) }),
  };
}

const results: readonly string[] = ["ok", "truncated", "truncated_in_reasoning", "empty", "refused", "parse_failed"];

function readOutcome(word: string): Outcome {
  if (results.includes(word)) {
    throw new SteeringError(
      `"${word}" is a result, not a failure: asking until the answer is another would bend the figures. ` +
        "Change what is asked in the spec (maxTokens, say: other cells), or give a sweep of another name --fresh.",
    );
  }
  checkWord("outcome", word, failureOutcomes);
  return word as Outcome;
}

function readSize(word: string | number): number {
  const size = Number(word);
  if (/^\d+$/.test(String(word)) && size >= 3 && size <= 101) return size;
  throw new SteeringError(`--size: "${word}" is no size; expected whole numbers from 3 to 101, such as 5,7.`);
}

function readSeedWords(words: readonly string[]): readonly SeedRange[] {
  for (const word of words) {
    if (/^(?:\d{1,16}(?:\.\.\d{1,16})?|published30)$/.test(word)) continue;
    throw new SteeringError(
      `--seeds: "${word}" is no seed; expected numbers, ranges such as 2000..2029, or published30.`,
    );
  }
  const { ranges, problems } = readSeeds(
    words.map((word) => (/^\d+$/.test(word) ? `${word}..${word}` : word)),
    [],
  );
  const [problem] = problems;
  if (problem !== undefined) throw new SteeringError(`--seeds: ${problem.message}.`);
  return ranges;
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Longest time that is read: 1,000 days. */
const longestMs = 1000 * 86_400_000;

/** Reads `2h`, `90m` and the like; null where the word is none, or more than 1,000 days. */
export function readDurationMs(word: string): number | null {
  const [, count, unit] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(word) ?? [];
  const ms = count === undefined ? null : Number(count) * unitMs[unit as keyof typeof unitMs];
  return ms === null || ms > longestMs ? null : ms;
}

function readSince(word: string): NonNullable<TrialSelector["since"]> {
  const agoMs = readDurationMs(word);
  if (agoMs !== null) return { kind: "ago", ms: agoMs };
  const isTime = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?/.test(word);
  const ms = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(word) || word.length <= 10 ? word : `${word}Z`);
  if (isTime && !Number.isNaN(ms)) return { kind: "moment", ms };
  throw new SteeringError(
    `--since: "${word}" is no time; expected 30s, 90m, 2h, 1d (1,000 days at most), or an ISO time such as 2026-11-30T02:00Z.`,
  );
}
