import { planSweep, type SweepPlan } from "@hallumaze/engine";
import { openHouse } from "@hallumaze/runtime";
import { specJsonSchema } from "@hallumaze/sweep";

import { type Console, exitCodes } from "../console.ts";
import { drawTable, formatCount } from "@hallumaze/reports";
import type { AddCommand } from "../program.ts";
import { readSpecFile } from "../inputs.ts";

/** `plan SPEC`: what a spec would do; writes and spends nothing. */
export const addPlanCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("plan")
    .description("show what a spec would do: cells, reuse, tokens, warnings; nothing is written or spent")
    .argument("<spec>", "spec file, YAML or JSON")
    .option("--fresh", "plan as if cells answered by other sweeps were run again")
    .option("--json", "print the plan as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze plan examples/baselines.yaml\n");
  register(command, async (path: string, options: { fresh?: boolean; json?: boolean }) => {
    const spec = await readSpecFile(console, path);
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const plan = await planSweep(house.store, spec, { fresh: options.fresh === true, rehearsal: false });
    if (options.json) console.out(JSON.stringify(plan));
    else printPlan(console, plan);
    return exitCodes.ok;
  });
};

/** Prints a plan for a person. */
export function printPlan(console: Console, plan: SweepPlan): void {
  const sum = (pick: (model: SweepPlan["models"][number]) => number): string =>
    formatCount(plan.models.reduce((total, model) => total + pick(model), 0));
  console.out(
    drawTable(
      ["model", "cells", "done", "reused", "to run", "prompt tokens", "reply tokens at most"],
      [
        ...plan.models.map((model) => [
          model.alias,
          formatCount(model.cells),
          formatCount(model.done),
          formatCount(model.reused),
          formatCount(model.toRun),
          `~${formatCount(model.promptTokens)}`,
          formatCount(model.maxReplyTokens),
        ]),
        [
          "in all",
          formatCount(plan.cells),
          sum((model) => model.done),
          sum((model) => model.reused),
          sum((model) => model.toRun),
          `~${sum((model) => model.promptTokens)}`,
          sum((model) => model.maxReplyTokens),
        ],
      ],
      console.columns(),
    ),
  );
  for (const warning of plan.warnings) console.err(`warning: ${warning}`);
}

/** `schema`: the JSON Schema of spec files, for editors. */
export const addSchemaCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("schema")
    .description("print the JSON Schema of spec files, for editors")
    .option("--json", "print JSON (the default)")
    .addHelpText("after", "\nExample:\n  $ hallumaze schema > sweep.schema.json\n");
  register(command, async () => {
    console.out(JSON.stringify(specJsonSchema(), null, 2));
    return exitCodes.ok;
  });
};
