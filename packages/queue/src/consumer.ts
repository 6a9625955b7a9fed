import type { Consumer, Delivery, DeliveryResult } from "@hallumaze/engine";
import { DelayedError, type Job, WaitingError } from "bullmq";

import type { BackEnd, LaneQueue, LaneWorker } from "./back-end.ts";
import type { ReportError } from "./error-report.ts";
import { describe, QueueError, withinDeadline } from "./errors.ts";
import { readPayload, safeDelayMs } from "./payload.ts";
import type { QueueSettings } from "./settings.ts";
import { startWatchdog } from "./watchdog.ts";

/** What the caller does with a delivery. */
export type HandleDelivery = (delivery: Delivery, signal: AbortSignal) => Promise<DeliveryResult>;

/** All that a consumer works with. */
export interface ConsumerContext {
  readonly backEnd: BackEnd;
  readonly queueName: string;
  readonly queue: LaneQueue;
  readonly concurrency: number;
  readonly handle: HandleDelivery;
  readonly settings: QueueSettings;
  readonly report: ReportError;
}

/** Starts to consume a queue; resolves once the worker has its connections. */
export async function startConsumer(context: ConsumerContext): Promise<Consumer> {
  const { backEnd, queueName, queue, concurrency, settings, report } = context;
  const running = new Set<Running>();
  let closing: Promise<void> | null = null;
  let starts = 0;
  let worker: LaneWorker;

  const open = (): LaneWorker => {
    // Handlers of a worker that was given up still run: they keep their slots until they end.
    const opened = backEnd.openWorker(queueName, Math.max(1, concurrency - running.size), async (job, token) => {
      starts += 1;
      if (closing !== null) await giveBack(job, token);
      const abort = new AbortController();
      const ended = runHandler(job, abort.signal, context);
      const entry: Running = { abort, ended, worker: opened };
      running.add(entry);
      let result: HandlerEnd;
      try {
        result = await ended;
      } finally {
        running.delete(entry);
        if (entry.worker !== worker) worker.setConcurrency(Math.max(1, concurrency - countOthers(running, worker)));
      }
      if (result.kind === "aborted") await giveBack(job, token);
      if (result.kind === "again") await putOff(job, token, result.afterMs);
      // BullMQ stores the message and stack of what is thrown; a NUL there wedges the job on Postgres. So it gets ours.
      if (result.kind === "threw") throw new Error("the handler threw");
    });
    return opened;
  };
  worker = open();
  try {
    await withinDeadline(worker.waitUntilReady(), settings.requestTimeoutMs, backEnd.url);
  } catch (error) {
    await worker.forceClose().catch(() => undefined);
    throw error;
  }

  const watchdog = startWatchdog({
    queue,
    settings,
    report,
    queueName,
    nowMs: backEnd.nowMs,
    progress: () => ({ starts, busy: running.size >= concurrency }),
    rebuild: () => {
      const old = worker;
      worker = open();
      old.forceClose().catch((error: unknown) => report(closeFailed(queueName, error)));
    },
  });

  return {
    standsStillForMs: watchdog.standsStillForMs,
    close: (deadlineMs) => {
      closing ??= closeConsumer({ worker: () => worker, running, watchdog, deadlineMs, context });
      return closing;
    },
  };
}

interface Running {
  readonly abort: AbortController;
  readonly ended: Promise<unknown>;
  readonly worker: LaneWorker;
}

/** What became of a delivery. Thrown errors are reported before and go no further. */
type HandlerEnd = DeliveryResult | { readonly kind: "aborted" } | { readonly kind: "threw" };

async function runHandler(
  job: Job<unknown, void>,
  signal: AbortSignal,
  { handle, queueName, settings, report }: ConsumerContext,
): Promise<HandlerEnd> {
  const delivery = readPayload(job.data);
  if (delivery === null) {
    report(
      new QueueError(
        "queue-payload",
        `A job of ${queueName} holds a payload that this version cannot read; it stays in the queue for a newer one.`,
        { context: { queue: queueName } },
      ),
    );
    return { kind: "again", afterMs: settings.unreadableDelayMs };
  }
  try {
    return await handle(delivery, signal);
  } catch (error) {
    if (signal.aborted) return { kind: "aborted" };
    const failure = new QueueError(
      "queue-handler",
      `A handler of ${queueName} threw: ${describe(error)}. The delivery comes again.`,
      {
        retry: true,
        context: { queue: queueName, trialId: delivery.trialId, generation: delivery.generation },
        cause: error,
      },
    );
    report(failure);
    return { kind: "threw" };
  }
}

/** Puts a delivery off: it holds no slot, no lock, and spends no attempt. */
async function putOff(job: Job<unknown, void>, token: string, afterMs: number): Promise<never> {
  await job.moveToDelayed(Date.now() + safeDelayMs(afterMs), token);
  throw new DelayedError();
}

/** Puts a delivery back for another worker, now. */
async function giveBack(job: Job<unknown, void>, token: string): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

/** Whether all of these have ended within the time. */
async function emptied(running: ReadonlySet<Running>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  const all = Promise.allSettled([...running].map((entry) => entry.ended)).then(() => true);
  try {
    return await Promise.race([all, late]);
  } finally {
    clearTimeout(timer);
  }
}

function countOthers(running: ReadonlySet<Running>, worker: LaneWorker): number {
  return [...running].filter((entry) => entry.worker !== worker).length;
}

function closeFailed(queueName: string, error: unknown): QueueError {
  return new QueueError("queue-closed", `A worker of ${queueName} did not close cleanly: ${describe(error)}.`);
}

interface Closing {
  readonly worker: () => LaneWorker;
  readonly running: ReadonlySet<Running>;
  readonly watchdog: { readonly stop: () => void };
  readonly deadlineMs: number;
  readonly context: ConsumerContext;
}

/** Stops fetching, waits for the handlers, aborts them at the deadline, waits a little more, and cuts what is left. */
async function closeConsumer({ worker, running, watchdog, deadlineMs, context }: Closing): Promise<void> {
  const { settings, queueName, report } = context;
  watchdog.stop();
  await worker().stopFetching();
  if (!(await emptied(running, deadlineMs))) {
    const reason = new QueueError(
      "queue-closed",
      `The worker closes: a handler of ${queueName} did not end within ${deadlineMs} ms.`,
    );
    for (const entry of running) entry.abort.abort(reason);
    if (!(await emptied(running, settings.closeGraceMs))) {
      report(
        new QueueError(
          "queue-closed",
          `${running.size} handlers of ${queueName} did not heed their signals; their deliveries come again.`,
        ),
      );
      await worker().forceClose();
      return;
    }
  }
  // Records what has just ended. Without a server that cannot be done, and the deliveries come again.
  const clean = worker().close();
  try {
    await withinDeadline(clean, settings.closeGraceMs, context.backEnd.url);
  } catch {
    await worker().forceClose();
  }
}
