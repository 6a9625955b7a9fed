import { setTimeout as sleep } from "node:timers/promises";

import type { Logger } from "./logger.ts";
import { isPassing } from "./outage-gate.ts";

/** How often in a row a loop may fail before the worker gives up, where waiting cannot help. */
const failuresAllowed = 12;
/** How long it may go on failing where a server is away, before the worker gives up. */
const outageMs = 15 * 60_000;
/** Bounds how long a loop stays idle after a server has come back. */
const longestPauseMs = 3000;

/** Runs `work` again and again; never resolves, rejects when it fails too often, or for too long, in a row. */
export async function repeat(
  work: () => Promise<void>,
  every: number | (() => number),
  signal: AbortSignal,
  logger: Logger,
  name: string,
  waitFirst = false,
): Promise<never> {
  let failures = 0;
  let workedAtMs = performance.now();
  const periodMs = (): number => (typeof every === "number" ? every : every());
  if (waitFirst) await pause(periodMs(), signal);
  while (!signal.aborted) {
    try {
      await work();
      failures = 0;
      workedAtMs = performance.now();
    } catch (error) {
      failures += 1;
      logger.error({ err: error, failures }, `${name} failed`);
      if (isPassing(error) ? performance.now() - workedAtMs > outageMs : failures >= failuresAllowed) throw error;
    }
    await pause(failures === 0 ? periodMs() : Math.min(periodMs() * 2 ** failures, longestPauseMs), signal);
  }
  return new Promise<never>(() => undefined);
}

/** Waits; ends early, and without an error, when the signal fires. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
