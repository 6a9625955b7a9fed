import { checkbox, confirm, number } from "@inquirer/prompts";
import type { SeedOptions } from "@hallumaze/sweep";
import { solverNames } from "@hallumaze/solvers";

import type { Console } from "../console.ts";
import { UsageError } from "../errors.ts";
import { standIns, vendors } from "./seed-models.ts";

/** Asks for settings and models at the terminal; what the command line gave is offered as the answer. */
export async function askInteractively(console: Console, given: Partial<SeedOptions>): Promise<SeedOptions> {
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
        ...vendors.map(({ provider, model }) => ({
          value: `${provider}/${model}`,
          disabled: "(not built into this version yet)",
        })),
      ],
    },
    signal,
  );
  return {
    models,
    size,
    runs,
    mirage,
    confidence,
    maxTokens,
    group: given.group ?? "A",
    ...(seed !== undefined && { seed }),
  };
}
