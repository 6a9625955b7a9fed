import type { Console } from "@hallumaze/console";
import type { ModelProgress, SweepProgress } from "@hallumaze/engine";
import { createLogUpdate } from "log-update";

import { drawTable, formatCount, formatDuration } from "@hallumaze/reports";

/** Shows how a sweep goes on: a table that redraws itself on a terminal, a plain line now and then elsewhere. */
export interface ProgressView {
  readonly show: (progress: SweepProgress, elapsedMs: number) => void;
  readonly note: (text: string) => void;
  /** Ends the redrawing and leaves the last picture. */
  readonly close: () => void;
}

/** A plain line at most this often, and whenever all is done. */
const plainEveryMs = 5000;

/** Opens the view that fits the console. */
export function openProgressView(console: Console, quiet: boolean): ProgressView {
  if (quiet) return { show: () => undefined, note: (text) => console.err(text), close: () => undefined };
  return console.isTerminal ? terminalView(console) : plainView(console);
}

/** One line for a whole sweep: `312/600 done, 2 failed, 16 in flight, 41.0/s, about 7.2 s left`. */
export function progressLine(progress: SweepProgress, elapsedMs: number, since = ""): string {
  const sums = sumModels(progress.models);
  const parts = [`${formatCount(sums.done)}/${formatCount(sums.all)} done`];
  if (sums.failed > 0) parts.push(`${formatCount(sums.failed)} failed`);
  if (sums.blocked > 0) parts.push(`${formatCount(sums.blocked)} blocked`);
  if (sums.cancelled > 0) parts.push(`${formatCount(sums.cancelled)} cancelled`);
  if (sums.running > 0) parts.push(`${sums.running} in flight`);
  if (sums.rate > 0 && sums.waiting > 0)
    parts.push(`${sums.rate.toFixed(1)}/s`, `about ${formatDuration((sums.waiting / sums.rate) * 1000)} left`);
  return `${progress.sweep.name}: ${parts.join(", ")} (${since}${formatDuration(elapsedMs)})`;
}

/** The table of models under way. */
export function progressTable(progress: SweepProgress, columns: number): string {
  const hasBlocked = progress.models.some((model) => model.states.blocked > 0);
  const hasCancelled = progress.models.some((model) => model.states.cancelled > 0);
  const hasCost = progress.models.some((model) => model.costUsd !== null);
  const rows = progress.models.map((model) => {
    const counts = countModel(model);
    const left = counts.rate > 0 && counts.waiting > 0 ? formatDuration((counts.waiting / counts.rate) * 1000) : "";
    return [
      model.alias,
      bar(counts.all === 0 ? 1 : (counts.done + counts.failed) / counts.all),
      `${formatCount(counts.done)}/${formatCount(counts.all)}`,
      formatCount(counts.failed),
      String(counts.running),
      formatCount(counts.waiting),
      counts.rate > 0 && counts.waiting > 0 ? counts.rate.toFixed(1) : "",
      left,
      ...(hasBlocked ? [formatCount(model.states.blocked)] : []),
      ...(hasCancelled ? [formatCount(model.states.cancelled)] : []),
      ...(hasCost ? [formatCost(model)] : []),
    ];
  });
  const heads = ["model", "", "done", "failed", "in flight", "waiting", "per s", "ETA"];
  if (hasBlocked) heads.push("blocked");
  if (hasCancelled) heads.push("cancelled");
  if (hasCost) heads.push("cost");
  return drawTable(heads, rows, columns);
}

/** What is known of a model's cost, and that there is more where some of its requests have no known price. */
function formatCost({ costUsd, costUnknown }: ModelProgress): string {
  if (costUsd === null) return costUnknown > 0 ? "unknown" : "";
  return `$${Number(costUsd).toFixed(4)}${costUnknown > 0 ? " + unknown" : ""}`;
}

function terminalView(console: Console): ProgressView {
  const update = createLogUpdate(process.stdout, { showCursor: true });
  let remark = "";
  return {
    show: (progress, elapsedMs) =>
      update(
        [progressTable(progress, console.columns()), progressLine(progress, elapsedMs), remark]
          .filter(Boolean)
          .join("\n"),
      ),
    note: (text) => {
      remark = text;
    },
    close: () => update.done(),
  };
}

function plainView(console: Console): ProgressView {
  let lastMs = Number.NEGATIVE_INFINITY;
  let lastLine = "";
  let pending = "";
  return {
    show: (progress, elapsedMs) => {
      pending = progressLine(progress, elapsedMs);
      if (elapsedMs - lastMs < plainEveryMs) return;
      lastMs = elapsedMs;
      lastLine = pending;
      console.out(pending);
    },
    note: (text) => console.out(text),
    close: () => {
      if (pending !== lastLine) console.out(pending);
    },
  };
}

interface Counts {
  readonly all: number;
  readonly done: number;
  readonly failed: number;
  readonly blocked: number;
  readonly cancelled: number;
  readonly running: number;
  readonly waiting: number;
  /** Finished per second over the last minute, or since the start where that is shorter. */
  readonly rate: number;
}

function countModel(model: ModelProgress): Counts {
  const { planned, queued, running, done, failed, cancelled, blocked } = model.states;
  const waiting = planned + queued + running;
  return {
    all: waiting + done + failed + cancelled + blocked,
    done,
    failed,
    blocked,
    cancelled,
    running,
    waiting,
    rate: model.finishedPerSecond,
  };
}

function sumModels(models: readonly ModelProgress[]): Counts {
  return models.map(countModel).reduce(
    (sum, next) => ({
      all: sum.all + next.all,
      done: sum.done + next.done,
      failed: sum.failed + next.failed,
      blocked: sum.blocked + next.blocked,
      cancelled: sum.cancelled + next.cancelled,
      running: sum.running + next.running,
      waiting: sum.waiting + next.waiting,
      rate: sum.rate + next.rate,
    }),
    { all: 0, done: 0, failed: 0, blocked: 0, cancelled: 0, running: 0, waiting: 0, rate: 0 },
  );
}

function bar(share: number): string {
  const width = 12;
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return "█".repeat(filled) + "░".repeat(width - filled);
}
