import { type Console, UsageError } from "@hallumaze/console";
import { checkbox, confirm, number, password } from "@inquirer/prompts";
import type { SeedOptions } from "@hallumaze/sweep";
import { solverNames } from "@hallumaze/solvers";

import { defaultModel, standIns, vendors } from "./seed-models.ts";

/** What was answered; keys by variable, in memory only. */
export interface InteractiveAnswers {
  readonly options: SeedOptions;
  readonly keys: Readonly<Record<string, string>>;
}

/** Asks for settings, models and missing keys (hidden) at the terminal; what the command line gave is offered. */
export async function askInteractively(console: Console, given: Partial<SeedOptions>): Promise<InteractiveAnswers> {
  if (!console.isTerminal) {
    throw new UsageError(
      "--interactive needs a terminal. Elsewhere use options, for example --size 7 --model sim/oracle.",
    );
  }
  const signal = { signal: console.interrupt };
  const whole = { required: true, step: 1 } as const;
  const size = await number({ message: "Maze size", default: given.size ?? 7, min: 3, max: 101, ...whole }, signal);
  const runs = await number({ message: "Runs", default: given.runs ?? 1, min: 1, max: 1000, ...whole }, signal);
  const seed = await number(
    { message: "Seed (empty: new mazes)", min: 0, step: 1, ...(given.seed !== undefined && { default: given.seed }) },
    signal,
  );
  const mirage = await confirm(
    { message: "Linguistic Mirage (tempting hints)?", default: given.mirage ?? true },
    signal,
  );
  const confidence = await confirm({ message: "Ask for confidences?", default: given.confidence ?? true }, signal);
  const maxTokens = await number(
    { message: "Token limit of a reply", default: given.maxTokens ?? 2500, min: 1, ...whole },
    signal,
  );
  const models = await checkbox<string>(
    {
      message: "Models",
      required: true,
      choices: [
        ...solverNames.map((name) => ({ value: `sim/${name}`, checked: standIns.includes(`sim/${name}`) })),
        ...vendors.map(({ provider }) => ({ value: `${provider}/${defaultModel(console, provider)}` })),
      ],
    },
    signal,
  );
  return {
    options: {
      models,
      size,
      runs,
      mirage,
      confidence,
      maxTokens,
      group: given.group ?? "A",
      ...(seed !== undefined && { seed }),
    },
    keys: await askKeys(console, models),
  };
}

async function askKeys(console: Console, models: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const keys: Record<string, string> = {};
  for (const vendor of vendors) {
    if (console.variables[vendor.key] || !models.some((model) => model.startsWith(`${vendor.provider}/`))) continue;
    console.err(`${vendor.key} is not set. A key typed here stays in memory; set the variable to keep it.`);
    keys[vendor.key] = await password({ message: `Key for ${vendor.provider}` }, { signal: console.interrupt });
  }
  return keys;
}
