import { archiveFailed } from "./errors.ts";
import type { Claim } from "./ports/store.ts";
import type { TrialPorts } from "./trial-ports.ts";

/**
 * Repeats a write that the ledger refuses for a passing reason (disk full, restart): the reply in memory is paid for.
 * All slots of a worker end up here together, so a full disk pauses the run by itself.
 */
export async function insist<T>(
  ports: TrialPorts,
  claim: Claim,
  write: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const startedMs = ports.now();
  for (let delayMs = 250; ; delayMs = Math.min(delayMs * 2, 10_000)) {
    try {
      return await write();
    } catch (error) {
      if (!isPassing(error)) throw error;
      ports.observe.archiveTrouble(claim, error);
      if (signal.aborted || ports.now() - startedMs + delayMs > ports.archivePatienceMs) {
        throw archiveFailed(error, { trialId: claim.trialId });
      }
      // An interrupt ends the waiting, not the writing: one more write is tried at once.
      await ports.sleep(delayMs, signal).catch(() => undefined);
    }
  }
}

function isPassing(error: unknown): boolean {
  return typeof error === "object" && error !== null && "retry" in error && error.retry === true;
}
