import { type AddCommand, exitCodes, findSweep, integerBetween, list, UsageError } from "@hallumaze/console";
import { openHouse } from "@hallumaze/runtime";
import { cancelNamed, pauseNamed, prioritizeSweep, resumeNamed } from "@hallumaze/steering";
import { InvalidArgumentError } from "commander";

import { addSelectors, sayNothing, selectorOf, type SelectorOptions } from "./selector-options.ts";

/** `pause SWEEP`: nothing new starts, anywhere; calls under way end and are kept. */
export const addPauseCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("pause")
    .description("let nothing new of a sweep start, on any machine; calls under way end and are kept")
    .argument("<sweep>", "name of the sweep")
    .option("--model <names>", "only these models; without it the whole sweep, its judges too", list)
    .option("--json", "print the report as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze pause overnight\n  $ hallumaze resume overnight\n");
  register(command, async (name: string, options: { readonly model?: readonly string[]; readonly json?: boolean }) => {
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const sweep = await findSweep(house.store, name);
    const paused = await pauseNamed(house, sweep, options.model);
    if (JSON.stringify(paused?.models) !== JSON.stringify(sweep.paused?.models)) {
      console.logger().info({ sweepId: sweep.sweepId, models: paused?.models }, "sweep paused");
    }
    if (options.json) console.out(JSON.stringify({ sweep: sweep.name, paused }));
    else {
      const what = paused?.models.length ? ` (${paused.models.join(", ")})` : "";
      console.out(`${sweep.name}${what}: paused. Calls under way end and are kept; hallumaze resume lets it go on.`);
    }
    return exitCodes.ok;
  });
};

interface ResumeOptions {
  readonly model?: readonly string[];
  readonly lanes?: readonly string[];
  readonly json?: boolean;
}

/** `resume SWEEP`: ends a pause, lets lanes go on that a vendor parked, and puts back what they blocked. */
export const addResumeCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("resume")
    .description("let a paused sweep go on, and its lanes that a vendor stopped, and put back what they blocked")
    .argument("<sweep>", "name of the sweep")
    .option("--model <names>", "end the pause of these models only", list)
    .option("--lanes <lanes>", "only these lanes that a vendor stopped", list)
    .option("--json", "print the report as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze resume overnight && hallumaze run examples/overnight.yaml\n");
  register(command, async (name: string, options: ResumeOptions) => {
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const sweep = await findSweep(house.store, name);
    const logger = console.logger();
    const report = await resumeNamed(house, sweep, { models: options.model, lanes: options.lanes });
    const { models, trials } = report;
    if (report.hasResumed) logger.info({ sweepId: sweep.sweepId, models, trials }, "sweep resumed");
    for (const { lane, putBack } of report.lanes) logger.info({ lane, trials: putBack }, "lane resumed");
    const lanes = report.lanes.filter(({ wasParked }) => wasParked).map(({ lane }) => lane);
    if (options.json) console.out(JSON.stringify({ sweep: sweep.name, lanes, requeued: trials }));
    else {
      const on = lanes.length > 0 ? `${count(lanes.length, "lane")} ${lanes.length === 1 ? "goes" : "go"} on, ` : "";
      console.out(`${sweep.name}: ${on}${count(trials, "trial")} put back`);
    }
    for (const { lane, parked } of report.held) {
      console.err(`${lane} stays parked (${parked?.reason}); go on with: hallumaze lanes resume ${lane}`);
    }
    return exitCodes.ok;
  });
};

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** `cancel SWEEP`: open trials end as cancelled. */
export const addCancelCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("cancel")
    .description("cancel what is open of a sweep; calls under way end and are kept")
    .argument("<sweep>", "name of the sweep");
  addSelectors(command, { since: false })
    .option("--now", "do not wait for calls under way: their replies are archived, with their cost, when they come")
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      `
Without selectors the judges stop too. What is cancelled comes back by retry --outcome cancelled only, never by run.

Example:
  $ hallumaze cancel overnight --model gpt-4o --size 11
`,
    );
  register(
    command,
    async (name: string, options: SelectorOptions & { readonly now?: boolean; readonly json?: boolean }) => {
      const selector = selectorOf(options);
      await using house = await openHouse(console.environment(), console.logger(), console.variables);
      const sweep = await findSweep(house.store, name);
      const report = await cancelNamed(house, sweep, selector, { now: options.now === true });
      const { cancelled, ending, judgements } = report;
      if (cancelled + ending + judgements === 0) sayNothing(console, sweep.name, "open trial");
      else console.logger().info({ sweepId: sweep.sweepId, cancelled, ending, judgements }, "trials cancelled");
      if (options.json) console.out(JSON.stringify({ sweep: sweep.name, ...report }));
      else {
        const also = judgements > 0 ? `, ${judgements} judgements` : "";
        console.out(`${sweep.name}: ${cancelled} trials cancelled${also}; ${ending} end with their calls under way`);
      }
      return exitCodes.ok;
    },
  );
};

interface PrioritizeOptions {
  readonly priority?: number;
  readonly weight?: number;
  readonly reset?: boolean;
  readonly json?: boolean;
}

/** `prioritize SWEEP`: another priority or weight, while it runs. */
export const addPrioritizeCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("prioritize")
    .description("change a sweep's priority or weight while it runs; over its spec, until --reset")
    .argument("<sweep>", "name of the sweep")
    .option("--priority <n>", "-10 to 10: sweeps of a higher one go first in every lane", integerBetween(-10, 10))
    .option("--weight <w>", "0.01 to 100: its share of a lane beside sweeps of the same priority", readWeight)
    .option("--reset", "what the spec says holds again")
    .option("--json", "print the report as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze prioritize overnight --priority 5\n");
  register(command, async (name: string, options: PrioritizeOptions) => {
    const { priority, weight, reset = false } = options;
    if (priority === undefined && weight === undefined && !reset) {
      throw new UsageError("say what to change: --priority, --weight, or --reset.");
    }
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const sweep = await findSweep(house.store, name);
    const placed = await prioritizeSweep(house, sweep.sweepId, {
      ...(reset && { priority: null, weight: null }),
      ...(priority !== undefined && { priority }),
      ...(weight !== undefined && { weight }),
    });
    const now = await findSweep(house.store, name);
    if (now.priority !== sweep.priority || now.weight !== sweep.weight) {
      const { sweepId, priority: first, weight: share } = now;
      console.logger().info({ sweepId, priority: first, weight: share, placed }, "sweep prioritized");
    }
    if (options.json) {
      console.out(JSON.stringify({ sweep: now.name, priority: now.priority, weight: now.weight, placed }));
    } else
      console.out(`${now.name}: priority ${now.priority}, weight ${now.weight}; ${placed} waiting trials placed anew`);
    return exitCodes.ok;
  });
};

function readWeight(word: string): number {
  const weight = Number(word);
  if (/^\d+(?:\.\d+)?$/.test(word) && weight >= 0.01 && weight <= 100) return weight;
  throw new InvalidArgumentError("expected a number from 0.01 to 100.");
}
