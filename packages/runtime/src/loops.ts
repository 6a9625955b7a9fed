import { setTimeout as sleep } from "node:timers/promises";

import type { Logger } from "./logger.ts";

/** How often in a row a loop may fail before the worker gives up: with the back-off about two minutes. */
const failuresAllowed = 12;

/** Runs `work` again and again; never resolves, rejects when it fails too often in a row. */
export async function repeat(
  work: () => Promise<void>,
  every: number | (() => number),
  signal: AbortSignal,
  logger: Logger,
  name: string,
  waitFirst = false,
): Promise<never> {
  let failures = 0;
  const periodMs = (): number => (typeof every === "number" ? every : every());
  if (waitFirst) await pause(periodMs(), signal);
  while (!signal.aborted) {
    try {
      await work();
      failures = 0;
    } catch (error) {
      failures += 1;
      logger.error({ err: error, failures }, `${name} failed`);
      if (failures >= failuresAllowed) throw error;
    }
    await pause(failures === 0 ? periodMs() : Math.min(periodMs() * 2 ** failures, 15_000), signal);
  }
  return new Promise<never>(() => undefined);
}

/** Waits; ends early, and without an error, when the signal fires. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
