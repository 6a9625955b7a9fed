import {
  type AddCommand,
  type Console,
  type ExitCode,
  exitCodeOf,
  exitCodes,
  findSweep,
  openTrials,
} from "@hallumaze/console";
import { setTimeout as sleep } from "node:timers/promises";

import { expiresAtMs } from "@hallumaze/batching";
import type { BatchStanding, LaneUse, ModelProgress, SweepMoney, SweepProgress, SweepRecord } from "@hallumaze/engine";
import type { JudgeProgress } from "@hallumaze/judging";
import { type House, openHouse } from "@hallumaze/runtime";

import { findInSweep, quickLook, type SweepFindings } from "@hallumaze/watching";
import { describeControl, describeSteering } from "@hallumaze/operator";
import type { LaneControl } from "@hallumaze/steering";
import { drawTable, formatCount, formatDuration, singleLine } from "@hallumaze/reports";
import { allFindings, findingLines } from "../findings.ts";
import { progressLine, progressTable } from "../progress-view.ts";

interface StatusOptions {
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** `status [SWEEP]`: counts by model and outcome, what the queue holds, failures by kind. */
export const addStatusCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("status")
    .description("show how sweeps stand: by model and outcome, with failures grouped")
    .argument("[sweep]", "name of the sweep; all when left out, a line each where they are many")
    .option("--watch", "show it again every two seconds until all is finished")
    .option("--json", "print JSON, one line a sweep")
    .addHelpText("after", "\nExample:\n  $ hallumaze status baselines --watch\n");
  register(command, async (name: string | undefined, options: StatusOptions) => {
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const sweeps = name === undefined ? await house.store.listSweeps() : [await findSweep(house.store, name)];
    if (sweeps.length === 0) console.err("no sweeps yet. Start one with: hallumaze run examples/baselines.yaml");
    if (sweeps.length > shownWhole && !options.json) return await showOverview(console, house, sweeps, options);
    let code: ExitCode = exitCodes.ok;
    for (const sweep of sweeps)
      code = Math.max(code, await showSweep(console, house, sweep.sweepId, options)) as ExitCode;
    return code;
  });
};

/** With more sweeps than this, each has one line: what matters of many is which of them to look at. */
const shownWhole = 5;
/** Sweeps that are counted side by side. */
const countedAtOnce = 8;

async function showOverview(
  console: Console,
  house: House,
  sweeps: readonly SweepRecord[],
  { watch }: StatusOptions,
): Promise<ExitCode> {
  for (;;) {
    let code: ExitCode = exitCodes.ok;
    let open = 0;
    for (let at = 0; at < sweeps.length; at += countedAtOnce) {
      const part = sweeps.slice(at, at + countedAtOnce);
      for (const progress of await Promise.all(part.map(({ sweepId }) => house.store.progress(sweepId)))) {
        console.out(progressLine(progress, console.now() - progress.sweep.createdAtMs, "begun before "));
        for (const line of describeSteering(progress.sweep)) console.out(`  ${line}`);
        code = Math.max(code, exitCodeOf(progress)) as ExitCode;
        open += openTrials(progress);
      }
    }
    console.out(`${formatCount(sweeps.length)} sweeps; one with all its tables: hallumaze status NAME`);
    if (!watch || open === 0 || console.interrupt.aborted) return code;
    await sleep(2000, undefined, { signal: console.interrupt }).catch(() => undefined);
  }
}

async function showSweep(console: Console, house: House, sweepId: string, options: StatusOptions): Promise<ExitCode> {
  let last: { readonly found: SweepFindings; readonly atMs: number } | null = null;
  for (;;) {
    // Side by side: on a large sweep each takes a good part of a second.
    const counting = house.store.progress(sweepId);
    const kept: SweepFindings | null = last !== null && console.now() - last.atMs < findAgainMs ? last.found : null;
    const looking: SweepFindings | Promise<SweepFindings> =
      kept ?? findInSweep(house.store, sweepId, counting.then(countTrials), quickLook);
    const [progress, judges, looked, standings] = await Promise.all([
      counting,
      house.store.judgeProgress(sweepId),
      looking,
      house.store.batchStandings(sweepId),
    ]);
    const batches = standings.map((standing) => ({ ...standing, expiresAtMs: expiresAtMs(standing) }));
    const lanes = await readLanes(house, progress);
    const isFinished = openTrials(progress) === 0 || console.interrupt.aborted;
    const found: SweepFindings =
      isFinished && kept !== null ? await findInSweep(house.store, sweepId, countTrials(progress), quickLook) : looked;
    if (kept === null) last = { found, atMs: console.now() };
    if (options.json)
      console.out(
        JSON.stringify({ ...progress, lanes, judges, batches, findings: found.findings, findingsScope: found.scope }),
      );
    else {
      printStatus(console, progress, lanes);
      for (const line of judgeLines(judges)) console.out(line);
      for (const batch of batches) console.out(batchLine(batch, console.now()));
      for (const line of findingLines(found, findingsShown, allFindings(progress.sweep.name))) console.out(line);
    }
    if (!options.watch || isFinished) return exitCodeOf(progress);
    await sleep(2000, undefined, { signal: console.interrupt }).catch(() => undefined);
  }
}

/** Findings that are shown; `--json` has all. */
const findingsShown = 6;
/** Between two looks of the detectors while a sweep is watched: they read replies, not counts alone. */
const findAgainMs = 30_000;

function countTrials({ models }: SweepProgress): number {
  return models.reduce((sum, { states }) => sum + Object.values(states).reduce((all, count) => all + count, 0), 0);
}

function printStatus(console: Console, progress: SweepProgress, lanes: readonly LaneState[]): void {
  console.out(progressLine(progress, console.now() - progress.sweep.createdAtMs, "begun before "));
  for (const line of describeSteering(progress.sweep)) console.out(line);
  console.out(progressTable(progress, console.columns()));
  const outcomes = progress.models.flatMap((model) =>
    Object.entries(model.outcomes).map(([outcome, count]) => [model.alias, outcome, formatCount(count)]),
  );
  if (outcomes.length > 0) console.out(`\n${drawTable(["model", "outcome", "trials"], outcomes, console.columns())}`);
  const asked = progress.models.filter(({ requests }) => requests > 0);
  if (asked.length > 0) {
    const heads = ["model", "requests", "hints and other turns", "failed", "waited for limits"];
    console.out(`\n${drawTable(heads, asked.map(requestCells), console.columns())}`);
  }
  for (const line of moneyLines(progress.money)) console.out(line);
  const shown = lanes.filter(
    (lane) => lane.waiting + lane.active + lane.delayed > 0 || lane.use?.parked || (lane.use?.granted ?? 0) > 0,
  );
  if (shown.length > 0) {
    const heads = ["lane", "waiting", "active", "delayed", "limits in force", "used"];
    console.out(`\n${drawTable(heads, shown.map(laneCells), console.columns())}`);
  }
  for (const { lane, use, control } of lanes) {
    for (const line of control === null ? [] : describeControl(control)) console.out(line);
    if (!use?.parked || (control?.parked ?? null) !== null) continue;
    const { reason, resumesAtMs } = use.parked;
    const until = resumesAtMs === null ? "until it is resumed" : `until ${new Date(resumesAtMs).toISOString()}`;
    console.out(`${lane} is parked ${until}: ${singleLine(reason)}`);
    console.out(`  go on with: hallumaze resume ${progress.sweep.name}`);
  }
  for (const failure of progress.failures) {
    console.out(`${failure.count} × ${failure.outcome} (${failure.alias}): ${singleLine(failure.firstMessage)}`);
  }
  if (progress.leftGrid > 0)
    console.out(`${formatCount(progress.leftGrid)} cells left the grid; their results are kept`);
  if (progress.lateDuplicates > 0) console.out(`${formatCount(progress.lateDuplicates)} late replies archived`);
}

/** How the judges stand; nothing where none was asked. */
function judgeLines({ states, unscored, failures }: JudgeProgress): readonly string[] {
  const all = Object.values(states).reduce((sum, count) => sum + count, 0);
  if (all === 0) return [];
  const parts = Object.entries(states).map(([state, count]) => `${formatCount(count)} ${state}`);
  return [
    `judges: ${formatCount(all)} requests: ${parts.join(", ")}${unscored > 0 ? `; ${formatCount(unscored)} unscored` : ""}`,
    ...failures.map(({ outcome, count, firstMessage }) => `${count} × ${outcome} (judge): ${singleLine(firstMessage)}`),
  ];
}

/** How a vendor's batches stand, and by when the last of them is over. */
function batchLine(standing: BatchStanding & { expiresAtMs: number | null }, nowMs: number): string {
  const { provider, underWay, rows, oldestAtMs, waiting, trouble, expiresAtMs: endMs } = standing;
  const age = oldestAtMs === null ? "" : `, the oldest for ${formatDuration(Math.max(0, nowMs - oldestAtMs))}`;
  const end = endMs === null ? "" : `, over by ${new Date(endMs).toISOString()} at the latest`;
  const held = `${formatCount(underWay)} under way with ${formatCount(rows)} rows${age}${end}`;
  const vain =
    trouble === null
      ? ""
      : `\n  looked for in vain ${trouble.looks} times in a row, and goes on: ${singleLine(trouble.message)}`;
  return `batches (${provider}): ${held}; ${formatCount(waiting)} wait to be gathered${vain}`;
}

function requestCells(model: ModelProgress): readonly string[] {
  const { alias, requests, followUps, failedRequests, limiterMs } = model;
  return [alias, ...[requests, followUps, failedRequests].map(formatCount), formatDuration(limiterMs)];
}

/** What was spent, of what, and what is not known for certain; nothing where nothing costs anything. */
function moneyLines({ budgetUsd, spentUsd, open, lost }: SweepMoney): readonly string[] {
  const of = budgetUsd === null ? "" : ` of $${budgetUsd}`;
  const lines = [];
  if (budgetUsd !== null || Number(spentUsd) > 0) {
    lines.push(
      `spent at most $${Number(spentUsd).toFixed(4)}${of}; under way: ${open.count}, at most $${open.boundUsd}`,
    );
  }
  if (lost.count > 0) {
    const unpriced = lost.unpriced > 0 ? ` and ${lost.unpriced} of unknown price` : "";
    lines.push(
      `worker_lost: ${formatCount(lost.count)} requests whose worker ended before their reply was kept: ` +
        `at most $${lost.boundUsd}${unpriced}`,
    );
  }
  return lines;
}

/** What the queue holds of a lane, and what its limits are and took. */
interface LaneState {
  readonly lane: string;
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly use: LaneUse | null;
  /** An operator's word; null: none. */
  readonly control: LaneControl | null;
}

async function readLanes(house: House, progress: SweepProgress): Promise<readonly LaneState[]> {
  const lanes = [...new Set(progress.models.map((model) => model.lane))];
  const uses = new Map((await house.limiter.use(lanes)).map((use) => [use.lane, use]));
  const controls = new Map((await house.store.laneControls()).map((control) => [control.lane, control]));
  return Promise.all(
    lanes.map(async (lane) => ({
      lane,
      ...(await house.queue.depth(lane)),
      use: uses.get(lane) ?? null,
      control: controls.get(lane) ?? null,
    })),
  );
}

function laneCells({ lane, waiting, active, delayed, use }: LaneState): readonly string[] {
  const limits = Object.entries(use?.effective ?? {}).map(
    ([name, value]) => `${name} ${formatCount(Math.round(value))}`,
  );
  const share = use?.utilisation ?? null;
  const used = share === null ? "" : `${Math.round(share * 100)} %${use?.binding ? ` of ${use.binding}` : ""}`;
  return [lane, ...[waiting, active, delayed].map(formatCount), limits.join(", "), used];
}
