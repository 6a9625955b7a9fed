import { type Console, list } from "@hallumaze/console";
import { readSelector, type TrialSelector } from "@hallumaze/steering";
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

/** Reads the selector options; a word that names nothing is a usage error with the nearest. */
export function selectorOf(options: SelectorOptions): TrialSelector {
  const { outcome = [], class: kinds = [], model, size, group, mirage, seeds, language, since } = options;
  return readSelector({
    outcomes: [...outcome, ...kinds],
    models: model,
    sizes: size,
    groups: group,
    mirage,
    seeds,
    languages: language,
    since,
  });
}

/** Says that nothing was selected, which would look like success. */
export function sayNothing(console: Pick<Console, "err">, sweep: string, what: string): void {
  console.err(`${sweep}: nothing is selected: it has no ${what} like that. hallumaze status shows what it has.`);
}
