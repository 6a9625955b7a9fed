import type { Clock } from "@hallumaze/foundation";

import { archiveFailed } from "./errors.ts";

/** Bounds how long a slot stays held after the ledger has come back. */
const longestPauseMs = 3000;

/** What insisting needs from outside. */
export interface InsistPorts {
  /** Milliseconds that only ever go forward: a wall clock that is set anew must not end the patience. */
  readonly now: Clock;
  /** Waits; rejects when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How long a received reply is held in memory while the database refuses it. */
  readonly archivePatienceMs: number;
}

/**
 * Repeats a write that the ledger refuses for a passing reason (disk full, restart): the reply in memory is paid for.
 * All slots of a worker end up here together, so a full disk pauses the run by itself. `of` is told of each refusal.
 */
export async function insist<T>(
  ports: InsistPorts,
  of: { readonly trialId: string; readonly onTrouble: (error: unknown) => void },
  write: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const startedMs = ports.now();
  for (let delayMs = 250; ; delayMs = Math.min(delayMs * 2, longestPauseMs)) {
    try {
      return await write();
    } catch (error) {
      if (!isPassing(error)) throw error;
      of.onTrouble(error);
      if (signal.aborted || ports.now() - startedMs + delayMs > ports.archivePatienceMs) {
        throw archiveFailed(error, { trialId: of.trialId });
      }
      // An interrupt ends the waiting, not the writing: one more write is tried at once.
      await ports.sleep(delayMs, signal).catch(() => undefined);
    }
  }
}

function isPassing(error: unknown): boolean {
  return typeof error === "object" && error !== null && "retry" in error && error.retry === true;
}
