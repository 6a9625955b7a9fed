import { type AddCommand, exitCodes, findSweep, UsageError } from "@hallumaze/console";
import { enqueueTrials, rescoreSweep, type TrialState } from "@hallumaze/engine";
import { openHouse } from "@hallumaze/runtime";
import { retryTrials } from "@hallumaze/steering";

import { addSelectors, checkModels, readSelector, sayNothing, type SelectorOptions } from "./selector-options.ts";

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
    const selector = readSelector(options);
    if (!options.failed && selector.outcomes === undefined) {
      throw new UsageError("say which trials: --failed, or --outcome with the kinds to retry.");
    }
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const sweep = await findSweep(house.store, name);
    await checkModels(house.store, sweep.sweepId, selector.models);
    const states: readonly TrialState[] = selector.outcomes?.includes("cancelled")
      ? ["failed", "cancelled"]
      : ["failed"];
    const count = await retryTrials(house, sweep.sweepId, { ...selector, states });
    // Judgements have no size or seed of their own.
    const { outcomes = [], ...narrower } = selector;
    const isWhole = Object.keys(narrower).length === 0 && outcomes.every((outcome) => outcome === "cancelled");
    const judged = outcomes.length === 0 ? (["failed"] as const) : (["cancelled"] as const);
    const judges = isWhole ? await house.store.unblockJudges({ sweepId: sweep.sweepId, states: judged }) : [];
    await enqueueTrials(house.queue, judges);
    const put = { trials: count, judgements: judges.length };
    if (count + judges.length === 0) sayNothing(console, sweep.name, `${states.join(" or ")} trial`);
    else console.logger().info({ sweepId: sweep.sweepId, ...put }, "trials put back");
    const also = judges.length > 0 ? ` and ${judges.length} judgements` : "";
    if (options.json) console.out(JSON.stringify({ sweep: sweep.name, requeued: count, judgements: judges.length }));
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
