import { setTimeout as sleep } from "node:timers/promises";

import type { DeliveryResult, QueuePort, StorePort } from "@hallumaze/engine";
import { HalluMazeError } from "@hallumaze/foundation";

/** Longest time that one question to a server may take. */
const askWithinMs = 2000;
const askEveryMs = 500;
/** A server that answers and refuses for a passing reason (full, busy) is left alone so long, and up to twice that. */
const restMs = 1000;

/** Keeps work in its slots while a server is away. */
export interface OutageGate {
  /**
   * Runs a delivery's work. Where it fails for a passing reason the slot waits, asking no more than one process would,
   * until ledger and queue answer; then the delivery comes again within two seconds.
   *
   * Thrown on instead, each delivery of the lane would be tried, and put off for longer, again and again: after an outage
   * nothing would start for a minute. Rejects with what is no passing failure, and where `signal` fires.
   */
  readonly hold: (work: () => Promise<DeliveryResult>, signal: AbortSignal) => Promise<DeliveryResult>;
}

/** Opens a gate for all lanes of a process; `stop` ends its questions. */
export function openOutageGate(
  ports: { readonly store: Pick<StorePort, "ping">; readonly queue: Pick<QueuePort, "ping"> },
  stop: AbortSignal,
): OutageGate {
  let asking: Promise<void> | null = null;
  const untilBothAnswer = async (): Promise<void> => {
    while (!stop.aborted) {
      try {
        await Promise.all([ports.store.ping(askWithinMs), ports.queue.ping(askWithinMs)]);
        return;
      } catch {
        await sleep(askEveryMs, undefined, { signal: stop }).catch(() => undefined);
      }
    }
  };
  return {
    hold: async (work, signal) => {
      try {
        return await work();
      } catch (error) {
        if (!isPassing(error) || signal.aborted) throw error;
        asking ??= untilBothAnswer().finally(() => {
          asking = null;
        });
        await Promise.race([asking, aborted(signal)]);
        if (signal.aborted || stop.aborted) throw error;
        return { kind: "again", afterMs: Math.round(restMs * (1 + Math.random())) };
      }
    },
  };
}

/** Whether the same call may succeed later with nothing changed. */
export function isPassing(error: unknown): boolean {
  return error instanceof HalluMazeError && error.retry;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
