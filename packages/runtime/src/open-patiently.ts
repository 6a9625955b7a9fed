import { setTimeout as sleep } from "node:timers/promises";

import { HalluMazeError } from "@hallumaze/foundation";

import type { Logger } from "./logger.ts";
import { isPassing } from "./outage-gate.ts";

/** How long a starting program waits for a server that does not answer yet, such as one that starts beside it. */
const startPatienceMs = 20_000;
const tryEveryMs = 1000;

/**
 * Opens something that needs a server; where the server is out of reach, says so once and tries again until its time is
 * over. Rejects with the last failure, and at once with any that waiting cannot help.
 */
export async function openPatiently<T>(
  open: () => Promise<T>,
  logger: Pick<Logger, "error">,
  patienceMs: number = startPatienceMs,
): Promise<T> {
  const giveUpAtMs = performance.now() + patienceMs;
  let isTold = false;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      const leftMs = giveUpAtMs - performance.now();
      if (!isPassing(error) || leftMs < tryEveryMs) throw error;
      if (!isTold) logger.error(`${messageOf(error)} Trying again for ${Math.round(leftMs / 1000)} s.`);
      isTold = true;
      await sleep(tryEveryMs);
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof HalluMazeError ? error.message : String(error);
}
