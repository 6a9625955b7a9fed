import { randomUUID } from "node:crypto";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

import { StoreError } from "../errors.ts";
import { describeThisProcess, isKnownDead } from "../process-identity.ts";

const pollMs = 25;
/** A lock file that is empty or half written for so long was left by a process that died in between. */
const unreadableAfterMs = 10_000;

/**
 * Runs `work` while this process alone holds the lock file. The lock of a dead process is taken over; the wait for a
 * live one ends after `waitMs` with `embedded-locked`.
 */
export async function withFolderLock<T>(file: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const mine = `${describeThisProcess()} ${randomUUID()}`;
  const giveUpAt = performance.now() + waitMs;
  while (!tryCreate(file, mine)) {
    if (!removeIfStale(file)) {
      if (performance.now() > giveUpAt) {
        throw new StoreError(
          "embedded-locked",
          `Another process has held ${file} for over ${waitMs / 1000} s: ${holderOf(file)}.`,
          {
            retry: true,
          },
        );
      }
      await wait(pollMs);
    }
  }
  try {
    return await work();
  } finally {
    if (holderOf(file) === mine) rmSync(file, { force: true });
  }
}

function tryCreate(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Removes the lock of a dead holder. Two processes may see the same dead holder at once: the right to remove that very
 * lock (its token is unique) is itself taken by an exclusive create, so the slower one cannot remove the faster one's
 * new lock.
 */
function removeIfStale(file: string): boolean {
  const holder = holderOf(file);
  if (holder === null) return true;
  const [workerId = "", token] = holder.split(" ");
  if (token === undefined || token.length < 36) {
    if (ageMs(file) < unreadableAfterMs) return false;
  } else if (!isKnownDead(workerId)) return false;
  const right = `${file}.${token?.slice(0, 36) || "unreadable"}`;
  if (!tryCreate(right, "")) {
    if (ageMs(right) > unreadableAfterMs) rmSync(right, { force: true });
    return false;
  }
  if (holderOf(file) === holder) rmSync(file, { force: true });
  rmSync(right, { force: true });
  return true;
}

function holderOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

function ageMs(file: string): number {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}
