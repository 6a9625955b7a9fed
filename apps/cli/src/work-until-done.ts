import { type Console, countState, openTrials, pausedLine } from "@hallumaze/console";
import { setTimeout as sleep } from "node:timers/promises";

import { enqueuePlanned, type SweepProgress } from "@hallumaze/engine";
import { HalluMazeError } from "@hallumaze/foundation";
import { requestJudgements, type SweepJudging } from "@hallumaze/judging";
import { formatCount } from "@hallumaze/reports";
import {
  drainDeadlineMs,
  guardSchema,
  type House,
  startBatchWorker,
  startJudgeWorker,
  startSolveWorker,
  type Watch,
} from "@hallumaze/runtime";

import { openProgressView, type ProgressView } from "./progress-view.ts";

/** How long trials under way may take to end after a failure; after an interrupt, as long as their requests. */
const failedDrainMs = 30_000;

/** How often a run tells how far its judges are. */
const noteEveryMs = 5000;

/** How long a database or queue that does not answer is waited for before the run gives up; it can be resumed. */
const outagePatienceMs = 120_000;

/** How working on a sweep ended. */
export interface WorkReport {
  readonly progress: SweepProgress;
  readonly interrupted: boolean;
  readonly elapsedMs: number;
}

/**
 * Works on a sweep in this process until the ledger has no open trial of it, or an interrupt drains it. Progress is
 * counted in the ledger, so trials that other processes finish count too.
 */
export async function workUntilDone(
  console: Console,
  house: House,
  sweepId: string,
  options: {
    readonly concurrency: number;
    readonly quiet: boolean;
    readonly rehearsal: boolean;
    readonly judging?: SweepJudging | null;
    /** Counts and traces what is worked here; nothing is unless told. */
    readonly watch?: Pick<Watch, "metrics" | "tracing">;
  },
): Promise<WorkReport> {
  const startedMs = console.now();
  const view = openProgressView(console, options.quiet);
  const watched = options.watch ?? {};
  const worker = startSolveWorker({
    ...watched,
    store: house.store,
    queue: house.queue,
    provider: house.provider,
    limiter: house.limiter,
    rehearsal: options.rehearsal,
    logger: console.logger(),
    concurrency: options.concurrency,
    lanes: null,
  });
  const { judging = null } = options;
  const judges =
    judging !== null
      ? startJudgeWorker({
          ...watched,
          store: house.store,
          queue: house.queue,
          provider: house.judgeProvider,
          limiter: house.limiter,
          rehearsal: options.rehearsal,
          logger: console.logger(),
          concurrency: options.concurrency,
        })
      : null;
  // Also where the spec asks for none now: an earlier one's may still be under way.
  const batches = startBatchWorker({
    ...watched,
    store: house.store,
    queue: house.queue,
    vendor: house.batches,
    limiter: house.limiter,
    rehearsal: options.rehearsal,
    logger: console.logger(),
    lanes: null,
    concurrency: options.concurrency,
    repairs: false,
  });
  const ended = new AbortController();
  const guard = guardSchema(house, ended.signal);
  const outage = watchOutage(console, view);
  let nextNoteMs = 0;
  let wasPaused = false;
  try {
    while (!console.interrupt.aborted) {
      try {
        const progress = await house.store.progress(sweepId);
        outage.isOver();
        view.show(progress, console.now() - startedMs);
        const { paused } = progress.sweep;
        if (paused !== null && !wasPaused) view.note(pausedLine(progress.sweep));
        wasPaused = paused !== null;
        // Its judges wait too: nothing is over yet.
        if (paused !== null && paused.models.length === 0) {
          await pause(500, console.interrupt);
          continue;
        }
        const isSolved = openTrials(progress) === 0;
        if (isSolved && (judging === null || (await isJudged(house, judging, console.interrupt)))) {
          return { progress, interrupted: false, elapsedMs: console.now() - startedMs };
        }
        if (isSolved && console.now() >= nextNoteMs) {
          const { states } = await house.store.judgeProgress(sweepId);
          const all = Object.values(states).reduce((sum, count) => sum + count, 0);
          view.note(`all trials are answered; judged ${formatCount(states["done"] ?? 0)} of ${formatCount(all)}`);
          nextNoteMs = console.now() + noteEveryMs;
        }
        // Another process may have been killed between writing rows and enqueuing them.
        if (countState(progress, "planned") > 0) await enqueuePlanned(house, sweepId, console.interrupt);
      } catch (error) {
        outage.bear(error);
      }
      await Promise.race([
        pause(500, console.interrupt),
        guard.refused,
        worker.broken,
        batches.broken,
        ...(judges === null ? [] : [judges.broken]),
      ]);
    }
    view.note(`draining: ${worker.inFlight()} trials under way may end; interrupt again to stop at once`);
    const drainMs = drainDeadlineMs(console.environment());
    await Promise.all([worker.drain(drainMs), batches.drain(drainMs), judges?.drain(drainMs)]);
    const progress = await house.store.progress(sweepId);
    return { progress, interrupted: openTrials(progress) > 0, elapsedMs: console.now() - startedMs };
  } finally {
    ended.abort();
    view.close();
    await Promise.all([worker.drain(failedDrainMs), batches.drain(failedDrainMs), judges?.drain(failedDrainMs)]);
  }
}

/** Whether the judges have nothing left to say: every done trial in their share asked about, no request open. */
async function isJudged(house: House, judging: SweepJudging, signal: AbortSignal): Promise<boolean> {
  if ((await requestJudgements(house, judging, signal)) > 0) return false;
  return (await house.store.listOpenJudgeLanes(judging.sweepId)).length === 0;
}

/** Bears errors that pass (a server that restarts, a full disk) for a bounded time; throws all others at once. */
function watchOutage(console: Console, view: ProgressView): { bear: (error: unknown) => void; isOver: () => void } {
  let sinceMs: number | null = null;
  return {
    bear: (error) => {
      const isPassing = error instanceof HalluMazeError && error.retry;
      if (sinceMs === null && isPassing) view.note(`${error.message} Waiting for it.`);
      sinceMs ??= console.now();
      if (!isPassing || console.interrupt.aborted || console.now() - sinceMs > outagePatienceMs) throw error;
    },
    isOver: () => {
      if (sinceMs !== null) view.note("It answers again.");
      sinceMs = null;
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
