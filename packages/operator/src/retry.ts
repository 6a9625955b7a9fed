import { type AddCommand, exitCodes, findSweep } from "@hallumaze/console";
import { rescoreSweep } from "@hallumaze/engine";
import { openHouse } from "@hallumaze/runtime";
import { checkRetry, retryNamed } from "@hallumaze/steering";

import { addSelectors, sayNothing, selectorOf, type SelectorOptions } from "./selector-options.ts";

interface RetryOptions extends SelectorOptions {
  readonly failed?: boolean;
  readonly json?: boolean;
}

/** `retry SWEEP --failed`: puts failed or cancelled trials back with a full new budget of tries. */
export const addRetryCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("retry")
    .description("put failed trials back into the queue with a full new budget of tries")
    .argument("<sweep>", "name of the sweep")
    .option("--failed", "the failed trials");
  addSelectors(command, { since: true })
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      `
Selectors narrow each other. Cancelled trials come back with --outcome cancelled, blocked ones with hallumaze resume. A
trial that was answered (ok, truncated, empty, refused, parse_failed) is a result and never bought again.

Example:
  $ hallumaze retry baselines --failed --model dfs-honest --seeds 2000..2029 --since 2h
  $ hallumaze run examples/baselines.yaml
`,
    );
  register(command, async (name: string, options: RetryOptions) => {
    const selector = selectorOf(options);
    checkRetry(selector, options.failed === true);
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const sweep = await findSweep(house.store, name);
    const { trials: count, judgements, states } = await retryNamed(house, sweep, selector, options.failed === true);
    const put = { trials: count, judgements };
    if (count + judgements === 0) sayNothing(console, sweep.name, `${states.join(" or ")} trial`);
    else console.logger().info({ sweepId: sweep.sweepId, ...put }, "trials put back");
    const also = judgements > 0 ? ` and ${judgements} judgements` : "";
    if (options.json) console.out(JSON.stringify({ sweep: sweep.name, requeued: count, judgements }));
    else
      console.out(
        `${sweep.name}: ${count} trials${also} put back. A worker, or run with the same spec, works on them.`,
      );
    if (sweep.paused !== null) console.err(`${sweep.name} is paused: hallumaze resume lets it go on.`);
    return exitCodes.ok;
  });
};

/** `rescore SWEEP`: readings, walks and scores again from stored replies; no calls. */
export const addRescoreCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("rescore")
    .description("read and score every stored reply of a sweep again; no provider is called")
    .argument("<sweep>", "name of the sweep")
    .option("--json", "print the report as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze rescore baselines\n");
  register(command, async (name: string, options: { readonly json?: boolean }) => {
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const sweep = await findSweep(house.store, name);
    const report = await rescoreSweep(house.store, sweep, console.interrupt);
    if (options.json) console.out(JSON.stringify({ sweep: sweep.name, ...report }));
    else console.out(`${sweep.name}: ${report.rescored} replies scored again, ${report.failed} could not be`);
    if (report.pruned > 0)
      console.err(`${report.pruned} replies keep their scores: their text was pruned, and nothing is left to score`);
    if (report.firstMessage) console.err(`first: ${report.firstMessage}`);
    return report.failed > 0 ? exitCodes.unexpected : exitCodes.ok;
  });
};
