import {
  type AddCommand,
  type Console,
  type ExitCode,
  exitCodes,
  integerBetween,
  openResultsFolder,
  budgetBlocked,
  countState,
  exitCodeOf,
  judgeExitCode,
  judgeFailureLines,
  pausedLine,
} from "@hallumaze/console";
import { comparePlan, submitSweep, type SweepPlan } from "@hallumaze/engine";
import { sha256Hex } from "@hallumaze/foundation";
import type { SweepJudging } from "@hallumaze/judging";
import { type House, openHouse, openJudgeCatalog, planInHouse, readProvenance, watchHouse } from "@hallumaze/runtime";
import type { SweepSpec } from "@hallumaze/sweep";

import {
  formatCount,
  formatDuration,
  formatHours,
  formatUsd,
  planOutcomeLine,
  quoted,
  singleLine,
} from "@hallumaze/reports";
import { readSpecFile, refusePastDeadlines, requireKeys } from "../inputs.ts";
import { autoLines, deadlineWarnings, estimateToKeep, findPast } from "./plan.ts";
import { openRehearsal } from "./mock-providers.ts";
import { printLeaderboard, writeResults } from "../results.ts";
import { programFolder, programVersion, readBuild } from "../env.ts";
import { type WorkReport, workUntilDone } from "../work-until-done.ts";

interface RunOptions {
  readonly fresh?: boolean;
  readonly json?: boolean;
  readonly concurrency: number;
  readonly output: string;
  readonly rehearse?: boolean;
}

/** `run SPEC`: plan, submit and work in this process until all is done; then the table and the files. */
export const addRunCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("run")
    .description("run a sweep in this process until it is done; the same command resumes it")
    .argument("<spec>", "spec file, YAML or JSON")
    .option("--fresh", "run cells again that another sweep of this database has answered")
    .option("--concurrency <n>", "trials at once in each lane", integerBetween(1, 1000), 16)
    .option("--rehearse", "against a local server in the vendors' place: no key, no cost, results apart from real ones")
    .option("--output <folder>", "folder for the result files", "results")
    .option("--json", "print the summary as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze run examples/baselines.yaml\n");
  register(command, async (path: string, options: RunOptions) => {
    const given = await readSpecFile(console, path);
    const spec = options.rehearse ? { ...given, name: rehearsalName(given.name) } : given;
    if (!options.rehearse) requireKeys(console, spec);
    await using rehearsal = options.rehearse ? await openRehearsal() : null;
    const variables = { ...console.variables, ...rehearsal?.variables };
    await using house = await openHouse(console.environment(), console.logger(), variables);
    // Awaited here: the house closes when this scope ends.
    return await runSweep(console, rehearsal === null ? house : rehearsal.redirect(house), spec, options);
  });
};

/** A rehearsal is a sweep of its own: under the real one's name it would take the real cells out of their grid. */
function rehearsalName(name: string): string {
  // A sweep's name holds 80 characters at most; long names that begin alike must stay apart.
  const short = name.length <= 70 ? name : `${name.slice(0, 61)}-${sha256Hex(name).slice(0, 8)}`;
  return `${short}-rehearsal`;
}

/** Runs one sweep in an open house and reports it. */
async function runSweep(console: Console, house: House, spec: SweepSpec, options: RunOptions): Promise<ExitCode> {
  const say = options.json ? console.err : console.out;
  say(`data: ${house.databaseName}; queue: ${house.queueName}`);
  const before = await house.store.findSweep(spec.name);
  if (before !== null && before.paused?.models.length === 0) {
    say(`${pausedLine(before)}, then run again. Nothing was changed.`);
    return exitCodes.failedTrials;
  }
  await openResultsFolder(console, spec.name, options.output);
  const plan = await announcePlan(console, say, house, spec, options);
  if (before !== null) {
    const failed = countState(await house.store.progress(before.sweepId), "failed");
    const retry = `hallumaze retry ${quoted(spec.name)} --failed`;
    if (failed > 0) say(`${formatCount(failed)} failed in an earlier run and are not asked again: ${retry}, then run`);
  }
  await using watch = await watchHouse(house, console.environment(), await readBuild(), {
    logger: console.logger(),
    variables: console.variables,
  });
  const queue = watch.tracing?.producer(house.queue) ?? house.queue;
  const submitted = await submitSweep({ store: house.store, queue }, spec, {
    provenance: await readProvenance(programFolder, programVersion),
    fresh: options.fresh === true,
    rehearsal: options.rehearse === true,
    signal: console.interrupt,
    estimateJson: estimateToKeep(plan),
  });
  const { sweep, inserted, leftGrid, enqueued } = submitted;
  if (inserted + leftGrid + enqueued > 0) {
    console.logger().info({ sweepId: sweep.sweepId, inserted, leftGrid, enqueued }, "sweep queued");
  }
  if (submitted.leftGrid > 0) say(`${submitted.leftGrid} cells left the grid with this spec; their results are kept`);
  const work = await workUntilDone(console, house, submitted.sweep.sweepId, {
    concurrency: options.concurrency,
    quiet: options.json === true,
    rehearsal: options.rehearse === true,
    watch,
    judging: await findJudging(house, submitted.sweep.sweepId, options.rehearse === true),
  });
  if (work.interrupted) {
    say("Interrupted: what is done is kept. The same command resumes.");
    return exitCodes.interrupted;
  }
  const files = await writeResults(console, house.store, submitted.sweep, options.output);
  if (options.json) console.out(JSON.stringify({ sweep: spec.name, ...files.summary }));
  else printLeaderboard(console, files);
  const past = await findPast(house.store, spec.name);
  const isWhole = countState(work.progress, "blocked") + countState(work.progress, "cancelled") === 0;
  if (isWhole && past !== null && past.estimate.costUsd !== null && past.estimate.costUsd.high > 0) {
    say(planOutcomeLine(comparePlan(past.estimate, past.actual)));
  }
  reportFailures(say, spec, work);
  const judges = await house.store.judgeProgress(submitted.sweep.sweepId);
  for (const line of judgeFailureLines(judges, spec.name)) say(line);
  return Math.max(exitCodeOf(work.progress), judgeExitCode(judges)) as ExitCode;
}

/** Who judges the sweep; null where its spec asks for no judge. */
async function findJudging(house: House, sweepId: string, rehearsal: boolean): Promise<SweepJudging | null> {
  const catalog = openJudgeCatalog(house.store, house.limiter, { rehearsal, now: Date.now });
  await catalog.refresh();
  return catalog.judgings().find((judging) => judging.sweepId === sweepId) ?? null;
}

async function announcePlan(
  console: Console,
  say: (text: string) => void,
  house: House,
  spec: SweepSpec,
  options: RunOptions,
): Promise<SweepPlan> {
  const nowMs = console.now();
  const plan = await planInHouse(house, spec, {
    fresh: options.fresh === true,
    rehearsal: options.rehearse === true,
    concurrency: options.concurrency,
    nowMs,
  });
  refusePastDeadlines(plan, nowMs);
  const toRun = plan.models.reduce((sum, model) => sum + model.toRun, 0);
  const reused = plan.models.reduce((sum, model) => sum + model.reused, 0);
  for (const warning of [...plan.warnings, ...deadlineWarnings(plan, nowMs)]) console.err(`warning: ${warning}`);
  const known = reused > 0 ? `, ${formatCount(reused)} taken over from other sweeps` : "";
  say(
    toRun === 0
      ? `${spec.name}: nothing to run: all ${formatCount(plan.cells)} cells have been answered`
      : `${spec.name}: ${formatCount(plan.cells)} cells, ${formatCount(toRun)} to run${known}`,
  );
  const { costUsd, hours } = plan.estimate;
  if (costUsd !== null && costUsd.high > 0) {
    const rest = plan.estimate.unpriced.length > 0 ? " + unknown" : "";
    say(`expected: ${formatUsd(costUsd)}${rest}, ${formatHours(hours)} hours`);
  }
  for (const line of autoLines(plan.auto)) say(line);
  if (plan.estimate.budget?.expectedExceeds) console.err("warning: the expected cost is over budgetUsd");
  return plan;
}

function reportFailures(say: (text: string) => void, spec: SweepSpec, work: WorkReport): void {
  for (const failure of work.progress.failures) {
    say(`${failure.count} × ${failure.outcome} (${failure.alias}): ${singleLine(failure.firstMessage)}`);
  }
  const failed = countState(work.progress, "failed");
  if (failed > 0)
    say(
      `${failed} trials failed and count as missing. Again: hallumaze retry ${quoted(spec.name)} --failed, then run.`,
    );
  const unaffordable = budgetBlocked(work.progress);
  if (unaffordable > 0) say(`${unaffordable} trials wait for the budget. Raise budgetUsd in the spec, then run again.`);
  const cancelled = countState(work.progress, "cancelled");
  if (cancelled > 0)
    say(
      `${cancelled} trials were cancelled by an operator and stay so. Back: hallumaze retry ${quoted(spec.name)} --outcome cancelled, then run.`,
    );
  const blocked = countState(work.progress, "blocked") - unaffordable;
  if (blocked > 0)
    say(
      `${blocked} trials wait for a parked lane. When it can go on: hallumaze resume ${quoted(spec.name)}, then run.`,
    );
  say(`done in ${formatDuration(work.elapsedMs)}`);
}
