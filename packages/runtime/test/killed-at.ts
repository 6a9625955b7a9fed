import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import type { BatchProcessPlan } from "./batch-process.ts";

/** Resolves when a batch worker has died at that point; rejects where it lives on. */
export async function killedAt(plan: BatchProcessPlan): Promise<void> {
  const script = fileURLToPath(new URL("./batch-process.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", script, JSON.stringify(plan)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const timer = setTimeout(() => child.kill("SIGTERM"), 25_000);
  const [, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  if (signal !== "SIGKILL") throw new Error(`it did not come to ${plan.when} ${plan.call}`);
}
