// 10,000 trials in batches of a thousand, with shuffled results, errors, expired rows and one batch refused.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { describe, expect, it, onTestFinished } from "vitest";

import type { BatchHeapPlan } from "../test/batch-heap-process.ts";

import { openBatchStage } from "../test/batch-stage.ts";
import { shortTimes } from "../test/worker-replies.ts";

const trials = 10_000;
const hour = 3_600_000;
const tariff = { input: 1e-6, output: 5e-6 } as const;

describe("10,000 trials in batches", () => {
  it("are all accounted for: 3 % failed, 2 % expired, one batch refused, all moved live, spent to the cent, memory flat", async () => {
    const rows = [
      { share: 0.03, end: "errored", error: "server_error" },
      { share: 0.02, end: "expired" },
    ] as const;
    const stage = await openBatchStage({
      script: [{ reply: { text: "FINAL_PATH: (0,0) -> (0,1)" } }],
      batches: [{ nth: 3, refuse: "bad_request" }, { rows: [...rows] }],
    });
    const model = "anthropic/claude-haiku-4-5-20251001";
    const deadline = new Date(Date.now() + 48 * hour).toISOString();
    const { sweepId } = await stage.submit(trials, {
      models: [{ model, mode: "auto" }],
      limits: { [model]: { rpm: 1_000_000, inputTpm: 1e9, outputTpm: 1e9, concurrency: 64 } },
      spec: { deadline },
    });
    // On a busy machine a second is long: a call that the test's own clock cuts off would be one more to account for.
    stage.workPaced({ concurrency: 16, times: { ...shortTimes, leaseMs: 60_000, callTimeoutMs: 240_000 } });
    const heaps = watchHeap({ databaseUrl: stage.databaseUrl, variables: stage.mock.environment(), rows: 1000 });
    await stage.reach("done", trials, 400_000);

    const books = await stage.accounts(sweepId);
    const made = stage.made();
    const ended = (kind: string) => made.reduce((sum, { ends }) => sum + (ends[kind] ?? 0), 0);
    const refused = 1000;
    expect(made.map((batch) => batch.rows)).toEqual(Array.from({ length: 9 }, () => 1000));
    expect([ended("errored"), ended("expired")].every((count) => count > 50)).toBe(true);
    expect(books.exchanges).toEqual({
      reply: trials,
      transient_server: ended("errored"),
      overloaded: ended("expired"),
    });
    expect(books).toMatchObject({
      states: { done: trials },
      live: refused + ended("errored") + ended("expired"),
      late: 0,
      scored: trials,
      reservedUsd: 0,
      open: 0,
    });
    const counts = stage.mock.counts();
    const inBatches = made.reduce(
      (sum, batch) => sum + (batch.inputTokens * tariff.input + batch.outputTokens * tariff.output) / 2,
      0,
    );
    const billed = counts.inputTokens * tariff.input + counts.outputTokens * tariff.output + inBatches;
    expect(books.spentUsd).toBeCloseTo(billed, 6);
    expect(books.costUsd).toBeCloseTo(books.spentUsd, 9);
    // After garbage was collected. What one batch more holds would be 10 MB and more, nine of them a hundred.
    const [first = 0, ...later] = heaps();
    expect(later).toHaveLength(8);
    expect(Math.max(...later) - first).toBeLessThan(20_000_000);
  }, 500_000);
});

/** Starts a batch worker in a process of its own; gives what it held after each of its batches, in bytes. */
function watchHeap(plan: BatchHeapPlan): () => readonly number[] {
  const script = fileURLToPath(new URL("../test/batch-heap-process.ts", import.meta.url));
  const words = ["--expose-gc", "--import", "tsx", script, JSON.stringify(plan)];
  const child: ChildProcess = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  onTestFinished(async () => {
    const ended = once(child, "exit");
    if (child.kill("SIGKILL")) await ended;
  });
  return () => said.trim().split("\n").map(Number);
}
