import type { Job, Queue, QueueOptions, Worker, WorkerOptions } from "bullmq";

import type { ReportError } from "./error-report.ts";
import type { QueueSettings } from "./settings.ts";

/** The part of a BullMQ queue that we use. */
export type LaneQueue = Pick<
  Queue<unknown, void>,
  "addBulk" | "close" | "getDelayedCount" | "getJobCounts" | "isPaused" | "waitUntilReady"
>;

/** The part of a BullMQ worker that we use. */
export interface LaneWorker {
  readonly waitUntilReady: () => Promise<void>;
  readonly setConcurrency: (concurrency: number) => void;
  /** Fetches no more; what runs goes on. One delivery may still slip through. */
  readonly stopFetching: () => Promise<void>;
  /** Waits until what has ended is recorded, then closes. */
  readonly close: () => Promise<void>;
  /** Cuts the connections at once. What still runs is delivered again when its lock ends. */
  readonly forceClose: () => Promise<void>;
}

/** What a worker does with one job. */
export type ProcessJob = (job: Job<unknown, void>, token: string) => Promise<void>;

/** Redis or Postgres, behind BullMQ. */
export interface BackEnd {
  /** As given, password included: for redaction only. */
  readonly url: string;
  readonly openQueue: (name: string) => LaneQueue;
  /** To be looked at only: opening it writes nothing. */
  readonly openBoardQueue: (name: string) => Queue;
  readonly openWorker: (name: string, concurrency: number, process: ProcessJob) => LaneWorker;
  /** The clock by which delays end, in ms since 1970; may take for ever. */
  readonly nowMs: () => Promise<number>;
  /** Asks the server something; may take for ever. */
  readonly ping: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What both back ends need to open. */
export interface BackEndContext {
  readonly url: string;
  readonly settings: QueueSettings;
  readonly report: ReportError;
}

/** Events are for boards only; the default of 10,000 a lane is memory for nothing. */
export const eventStreamOptions = { events: { maxLen: 100 } } as const;

/** What keeps a queue that is only looked at from writing what it is. */
export const lookOnly = { skipMetasUpdate: true } as const satisfies Partial<QueueOptions>;

/** Options of every worker, on both back ends. Sources of the numbers: the measurements named in README.md. */
export function workerOptions(
  concurrency: number,
  settings: QueueSettings,
  backoffStrategy: (attemptsMade: number) => number,
): Omit<WorkerOptions, "connection"> {
  return {
    concurrency,
    lockDuration: settings.lockMs,
    stalledInterval: settings.stalledCheckMs,
    // The default of 1 fails a job at its worker's second crash. The ledger counts tries, not the queue.
    maxStalledCount: 1_000_000,
    drainDelay: settings.idlePollMs / 1000,
    // Pause after a refused connection; BullMQ's 15 s would be half of what a recovery may take.
    runRetryDelay: 1_000,
    // Enforced per job as well; here for jobs that something else has added.
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    settings: { backoffStrategy },
  };
}

/** Our narrow worker over BullMQ's; `release` gives up what the worker was opened with, once it is closed. */
export function narrowWorker(
  worker: Pick<Worker, "close" | "concurrency" | "pause" | "waitUntilReady"> & {
    readonly getBackend: () => { readonly close: (force?: boolean) => Promise<void> };
  },
  release: () => void = () => undefined,
): LaneWorker {
  return {
    waitUntilReady: () => worker.waitUntilReady(),
    setConcurrency: (concurrency) => {
      worker.concurrency = concurrency;
    },
    stopFetching: () => worker.pause(true),
    close: async () => {
      await worker.close();
      release();
    },
    forceClose: async () => {
      // After a close() under way, close(true) only waits for that one, and that one may wait for ever for the end of a
      // connection that was between two tries (taskforcesh/bullmq 4585). So the connections are cut underneath it.
      void worker.close(true).catch(() => undefined);
      release();
      await worker.getBackend().close(true);
    },
  };
}
