import type { LaneQueue } from "./back-end.ts";
import type { ReportError } from "./error-report.ts";
import { QueueError } from "./errors.ts";
import { readLaneDepth } from "./lane-depth.ts";
import type { QueueSettings } from "./settings.ts";

/** What the watchdog looks at, and what it may do. */
export interface WatchdogContext {
  readonly queue: LaneQueue;
  readonly queueName: string;
  readonly settings: QueueSettings;
  readonly report: ReportError;
  /** The clock by which delays end. */
  readonly nowMs: () => Promise<number>;
  /** Deliveries started so far, and whether every slot is taken. */
  readonly progress: () => { readonly starts: number; readonly busy: boolean };
  readonly rebuild: () => void;
}

/** A watch over one consumer. */
export interface Watchdog {
  readonly stop: () => void;
  /** How long work has waited beside a free slot with nothing started, over rebuilds; 0 while it moves. */
  readonly standsStillForMs: () => number;
}

/**
 * Has the worker rebuilt when work waits beside a free slot and nothing starts for `stuckAfterMs`.
 *
 * BullMQ's fetch loop has stopped for good, silently and with a healthy look, after outages and resets
 * (taskforcesh/bullmq 4479, 4585, 4378, 648, 2466). Fixed as they are, the kind returns; a queue that stands still all
 * night costs more than one look at its counts now and then. The look goes over the producers' connection, not the
 * worker's.
 */
export function startWatchdog(context: WatchdogContext): Watchdog {
  const { settings, report, queueName } = context;
  let seenStarts = context.progress().starts;
  /** Since the last rebuild, and in all. */
  let stuckSinceMs: number | null = null;
  let stillSinceMs: number | null = null;
  let looking = false;
  let stopped = false;

  const itMoves = (): void => {
    stuckSinceMs = null;
    stillSinceMs = null;
  };
  const look = async (): Promise<void> => {
    const { starts, busy } = context.progress();
    if (busy || starts !== seenStarts) {
      seenStarts = starts;
      itMoves();
      return;
    }
    const ready = await countReady(context);
    if (stopped || ready === 0 || context.progress().starts !== seenStarts) {
      itMoves();
      return;
    }
    stillSinceMs ??= performance.now();
    stuckSinceMs ??= performance.now();
    if (performance.now() - stuckSinceMs < settings.stuckAfterMs) return;
    stuckSinceMs = null;
    report(
      new QueueError(
        "queue-stuck",
        `${queueName}: work waits and nothing has started for ${settings.stuckAfterMs} ms; the worker is rebuilt.`,
        {
          retry: true,
          context: { queue: queueName, ready },
        },
      ),
    );
    context.rebuild();
  };

  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    look()
      // No answer: the server is away, and a new worker could not reach it either.
      .catch(itMoves)
      .finally(() => {
        looking = false;
      });
  }, settings.stuckAfterMs / 4);
  timer.unref();
  return {
    stop: () => {
      stopped = true;
      clearInterval(timer);
    },
    standsStillForMs: () => {
      // What has started since the last look moves.
      const { starts, busy } = context.progress();
      return stillSinceMs === null || busy || starts !== seenStarts ? 0 : performance.now() - stillSinceMs;
    },
  };
}

/** Deliveries that a worker could start now: waiting, and delayed ones that are overdue by more than 2 s. */
async function countReady({ queue, queueName, report, nowMs }: WatchdogContext): Promise<number> {
  const [depth, overdue] = await Promise.all([
    readLaneDepth(queue),
    nowMs().then((now) => queue.getDelayedCount(Math.round(now) - 2_000)),
  ]);
  const ready = depth.waiting + overdue;
  if (ready === 0 || !(await queue.isPaused())) return ready;
  report(
    new QueueError(
      "queue-paused",
      `${queueName} is paused in the back end; nothing starts until it is resumed there.`,
      {
        context: { queue: queueName },
      },
    ),
  );
  return 0;
}
