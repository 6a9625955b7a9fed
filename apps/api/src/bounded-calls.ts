import { HalluMazeError } from "@hallumaze/foundation";

import type { ApiPorts, ApiStore } from "./api-ports.ts";

/** Settles as `work` does, or rejects with a retryable `api-timeout` after `timeoutMs`; the work itself runs on. */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `no answer within ${timeoutMs} ms`;
    timer = setTimeout(() => reject(new HalluMazeError("api-timeout", message, { retry: true })), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // What it says after it lost the race is nobody's.
    work.catch(() => undefined);
  }
}

/** A store whose every call settles in time: a database that hangs must not hold a request for the statement's own minutes. */
export function boundedStore(store: ApiStore, timeoutMs: number): ApiStore {
  const bound =
    <Given extends unknown[], T>(call: (...given: Given) => Promise<T>) =>
    (...given: Given): Promise<T> =>
      within(timeoutMs, call(...given));
  return {
    addScenario: bound(store.addScenario),
    addResult: bound(store.addResult),
    findScenario: bound(store.findScenario),
    findResult: bound(store.findResult),
    findSource: bound(store.findSource),
    requestJudgements: bound(store.requestJudgements),
    takePlannedJudges: bound(store.takePlannedJudges),
    addJudgement: bound(store.addJudgement),
    findCalibration: bound(store.findCalibration),
    findSweep: bound(store.findSweep),
    ping: bound(store.ping),
    judgementsOfSweep: async function* (sweepId, pageSize) {
      const pages = store.judgementsOfSweep(sweepId, pageSize)[Symbol.asyncIterator]();
      try {
        for (;;) {
          const { done, value } = await within(timeoutMs, pages.next());
          if (done) return;
          yield value;
        }
      } finally {
        await pages.return?.();
      }
    },
  };
}

/** A queue whose every call settles in time. */
export function boundedQueue(queue: ApiPorts["queue"], timeoutMs: number): ApiPorts["queue"] {
  return {
    enqueue: (lane, items) => within(timeoutMs, queue.enqueue(lane, items)),
    ping: (pingMs) => within(pingMs + 500, queue.ping(pingMs)),
  };
}
