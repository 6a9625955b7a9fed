import { checkKnown, type Console, list, UsageError } from "@hallumaze/console";
import { failureOutcomes, type Outcome, type StorePort } from "@hallumaze/engine";
import type { TrialSelector } from "@hallumaze/steering";
import { readSeeds, type SeedRange } from "@hallumaze/sweep";
import type { Command } from "commander";

/** What the selector options of a command were given. */
export interface SelectorOptions {
  readonly outcome?: readonly string[];
  readonly class?: readonly string[];
  readonly model?: readonly string[];
  readonly size?: readonly string[];
  readonly group?: readonly string[];
  readonly mirage?: boolean;
  readonly seeds?: readonly string[];
  readonly language?: readonly string[];
  readonly since?: string;
}

/** Adds the options that select trials; `--since` only where they may have finished. */
export function addSelectors(command: Command, given: { readonly since: boolean }): Command {
  command
    .option("--outcome <kinds>", "of these outcomes only, for example timeout,transport", list)
    .option("--class <kinds>", "the same as --outcome", list)
    .option("--model <names>", "of these models only", list)
    .option("--size <sizes>", "of these sizes only, for example 5,7", list)
    .option("--group <groups>", "of these groups only: A, B, C", list)
    .option("--mirage", "only those with mirage")
    .option("--no-mirage", "only those without")
    .option("--seeds <seeds>", "of these seeds only, for example 1001,2000..2029", list)
    .option("--language <languages>", "of these languages only: ko, en", list);
  if (!given.since) return command;
  return command.option(
    "--since <time>",
    "only those that finished since then: 90m, 2h, 1d ago, or an ISO time (UTC unless it says)",
  );
}

/** Reads the selector options; a word that names nothing is a usage error with the nearest. Models: see checkModels. */
export function readSelector(options: SelectorOptions): TrialSelector {
  const outcomes = [...(options.outcome ?? []), ...(options.class ?? [])];
  for (const outcome of outcomes) checkOutcome(outcome);
  for (const group of options.group ?? []) checkKnown("group", group, ["A", "B", "C"]);
  for (const language of options.language ?? []) checkKnown("language", language, ["ko", "en"]);
  return {
    ...(outcomes.length > 0 && { outcomes: outcomes as readonly Outcome[] }),
    ...(options.model && { models: options.model }),
    ...(options.size && { sizes: options.size.map(readSize) }),
    ...(options.group && { groups: options.group }),
    ...(options.mirage !== undefined && { mirage: options.mirage }),
    ...(options.seeds && { seeds: readSeedWords(options.seeds) }),
    ...(options.language && { languages: options.language }),
    ...(options.since !== undefined && { since: readSince(options.since) }),
  };
}

/** Refuses a model that the sweep does not have. */
export async function checkModels(
  store: Pick<StorePort, "progress">,
  sweepId: string,
  names: readonly string[] | undefined,
): Promise<void> {
  if (names === undefined) return;
  const aliases = (await store.progress(sweepId)).models.map(({ alias }) => alias);
  const known = [...aliases, ...aliases.map((alias) => alias.slice(alias.indexOf("/") + 1))];
  for (const name of names) checkKnown("model", name, known);
}

/** Says that nothing was selected, which would look like success. */
export function sayNothing(console: Pick<Console, "err">, sweep: string, what: string): void {
  console.err(`${sweep}: nothing is selected: it has no ${what} like that. hallumaze status shows what it has.`);
}

const results: readonly string[] = ["ok", "truncated", "truncated_in_reasoning", "empty", "refused", "parse_failed"];

function checkOutcome(outcome: string): void {
  if (results.includes(outcome)) {
    throw new UsageError(
      `"${outcome}" is a result, not a failure: asking until the answer is another would bend the figures. ` +
        "Change what is asked in the spec (maxTokens, say: other cells), or give a sweep of another name --fresh.",
    );
  }
  checkKnown("outcome", outcome, failureOutcomes);
}

function readSize(word: string): number {
  const size = Number(word);
  if (/^\d+$/.test(word) && size >= 3 && size <= 101) return size;
  throw new UsageError(`--size: "${word}" is no size; expected whole numbers from 3 to 101, such as 5,7.`);
}

function readSeedWords(words: readonly string[]): readonly SeedRange[] {
  for (const word of words) {
    if (/^(?:\d{1,16}(?:\.\.\d{1,16})?|published30)$/.test(word)) continue;
    throw new UsageError(`--seeds: "${word}" is no seed; expected numbers, ranges such as 2000..2029, or published30.`);
  }
  const { ranges, problems } = readSeeds(
    words.map((word) => (/^\d+$/.test(word) ? `${word}..${word}` : word)),
    [],
  );
  const [problem] = problems;
  if (problem !== undefined) throw new UsageError(`--seeds: ${problem.message}.`);
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
  throw new UsageError(
    `--since: "${word}" is no time; expected 30s, 90m, 2h, 1d (1,000 days at most), or an ISO time such as 2026-11-30T02:00Z.`,
  );
}
