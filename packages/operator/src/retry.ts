import {
  type AddCommand,
  checkKnown,
  exitCodes,
  findSweep,
  integerBetween,
  list,
  UsageError,
} from "@hallumaze/console";
import {
  enqueueTrials,
  failureOutcomes,
  type Outcome,
  rescoreSweep,
  retryTrials,
  type TrialState,
} from "@hallumaze/engine";
import { limiterLaneOf } from "@hallumaze/judging";
import { openHouse } from "@hallumaze/runtime";
import { isJudgeLane, judgesOf, parseStoredSpec } from "@hallumaze/sweep";

interface RetryOptions {
  readonly failed?: boolean;
  readonly outcome?: readonly string[];
  readonly model?: readonly string[];
  readonly size?: number;
  readonly json?: boolean;
}

/** `retry SWEEP --failed`: puts failed trials back with a full new budget of tries. */
export const addRetryCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("retry")
    .description("put failed trials back into the queue with a full new budget of tries")
    .argument("<sweep>", "name of the sweep")
    .option("--failed", "the failed trials")
    .option("--outcome <kinds>", "of these outcomes only, for example timeout,transport", list)
    .option("--class <kinds>", "the same as --outcome", list)
    .option("--model <names>", "of these models only", list)
    .option("--size <n>", "of this size only", integerBetween(3, 101))
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      "\nExample:\n  $ hallumaze retry baselines --failed && hallumaze run examples/baselines.yaml\n",
    );
  register(command, async (name: string, options: RetryOptions & { readonly class?: readonly string[] }) => {
    const outcomes = [...(options.outcome ?? []), ...(options.class ?? [])];
    if (!options.failed && outcomes.length === 0) {
      throw new UsageError("say which trials: --failed, or --outcome with the kinds to retry.");
    }
    for (const outcome of outcomes) checkKnown("outcome", outcome, failureOutcomes);
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const sweep = await findSweep(house.store, name);
    const { models } = await house.store.progress(sweep.sweepId);
    for (const model of options.model ?? []) {
      const aliases = models.map(({ alias }) => alias);
      checkKnown("model", model, [...aliases, ...aliases.map((alias) => alias.slice(alias.indexOf("/") + 1))]);
    }
    const states: readonly TrialState[] = ["failed"];
    const count = await retryTrials(house, sweep.sweepId, {
      states,
      ...(outcomes.length > 0 && { outcomes: outcomes as readonly Outcome[] }),
      ...(options.model && { models: options.model }),
      ...(options.size !== undefined && { sizes: [options.size] }),
    });
    const isNarrow = outcomes.length > 0 || options.model !== undefined || options.size !== undefined;
    const judges = isNarrow ? [] : await house.store.unblockJudges({ sweepId: sweep.sweepId, failed: true });
    await enqueueTrials(house.queue, judges);
    const also = judges.length > 0 ? ` and ${judges.length} judgements` : "";
    if (options.json) console.out(JSON.stringify({ sweep: sweep.name, requeued: count, judgements: judges.length }));
    else
      console.out(
        `${sweep.name}: ${count} trials${also} put back. A worker, or run with the same spec, works on them.`,
      );
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
    if (report.firstMessage) console.err(`first: ${report.firstMessage}`);
    return report.failed > 0 ? exitCodes.unexpected : exitCodes.ok;
  });
};

/** `resume SWEEP`: lets the parked lanes of a sweep go on. */
export const addResumeCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("resume")
    .description("let the parked lanes of a sweep go on, and put back what they blocked")
    .argument("<sweep>", "name of the sweep")
    .option("--lanes <lanes>", "only these lanes", list)
    .option("--json", "print the report as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze resume overnight && hallumaze run examples/overnight.yaml\n");
  register(command, async (name: string, options: { readonly lanes?: readonly string[]; readonly json?: boolean }) => {
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const sweep = await findSweep(house.store, name);
    const { models } = await house.store.progress(sweep.sweepId);
    const judged = judgesOf(parseStoredSpec(sweep.specJson)).map(({ lane }) => lane);
    const lanes = [...new Set([...models.map(({ lane }) => lane), ...judged])].filter(
      (lane) => options.lanes?.includes(lane) ?? true,
    );
    const resumed: string[] = [];
    let trials = 0;
    for (const lane of lanes) {
      if (await house.limiter.resume(limiterLaneOf(lane))) resumed.push(lane);
      const back = isJudgeLane(lane) ? await house.store.unblockJudges({ lane }) : await house.store.unblockLane(lane);
      await enqueueTrials(house.queue, back);
      trials += back.length;
    }
    const affordable = await house.store.unblockBudget(sweep.sweepId);
    await enqueueTrials(house.queue, affordable);
    trials += affordable.length;
    if (options.json) console.out(JSON.stringify({ sweep: sweep.name, lanes: resumed, requeued: trials }));
    else console.out(`${sweep.name}: ${resumed.length} lanes go on, ${trials} trials put back`);
    return exitCodes.ok;
  });
};
