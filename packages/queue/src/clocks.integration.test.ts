// Hosts whose clocks are minutes apart, on one Redis: the server's clock decides when a delay ends.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { createRedis, findRedis, findTool, skewedClock } from "@hallumaze/testkit";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import type { ClockTask } from "../test/clock-process.ts";

const tool = findTool("faketime");
const redis = findRedis();
const canRun = tool.kind === "installed" && redis.kind === "installed";
const minutes = 60;

describe.runIf(canRun)(tool.kind === "missing" ? `Clocks, not run: ${tool.reason}` : "Clocks", () => {
  let server: Awaited<ReturnType<typeof createRedis>>;
  beforeAll(async () => {
    server = await createRedis();
  });
  afterAll(() => server.drop());

  /** A process of the queue whose clock is off; gives what it prints, line by line. */
  const start = (seconds: number, task: Omit<ClockTask, "redisUrl">) => {
    const script = fileURLToPath(new URL("../test/clock-process.ts", import.meta.url));
    const child = spawn(
      process.execPath,
      ["--import", "tsx", script, JSON.stringify({ redisUrl: server.url, ...task })],
      {
        stdio: ["ignore", "pipe", "inherit"],
        env: { ...process.env, ...(tool.kind === "installed" ? skewedClock(tool.path, seconds) : {}) },
      },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return async (): Promise<{ readonly what: string; readonly atMs: number; readonly clockMs: number }> => {
      const { value } = await lines.next();
      const [what = "", clockText] = String(value).split(" ");
      return { what, atMs: performance.now(), clockMs: Number(clockText) };
    };
  };

  it.each([
    ["an enqueuer three minutes ahead, a worker three minutes behind", 3 * minutes, -3 * minutes],
    ["an enqueuer three minutes behind, a worker three minutes ahead", -3 * minutes, 3 * minutes],
  ])("%s: a delay of 1.5 s ends after 1.5 s, and so does one that the worker asks for", async (_, ahead, behind) => {
    const lane = `sim.skew${ahead > 0 ? "a" : "b"}`;
    const consumer = start(behind, { lane, task: "consume", againMs: 1500 });
    expect((await consumer()).what).toBe("ready");
    const enqueuer = start(ahead, { lane, task: "enqueue", delayMs: 1500 });
    const sent = await enqueuer();
    // Without another clock nothing would be shown.
    expect(Math.round((sent.clockMs - Date.now()) / 60_000)).toBe(ahead / minutes);
    const first = await consumer();
    expect(first.atMs - sent.atMs).toBeGreaterThan(1300);
    expect(first.atMs - sent.atMs).toBeLessThan(4000);
    const second = await consumer();
    expect(second.what).toBe("t0");
    expect(second.atMs - first.atMs).toBeGreaterThan(1300);
    expect(second.atMs - first.atMs).toBeLessThan(4000);
  });

  it("a worker far ahead waits for what is due later without asking the server in a loop", async () => {
    const lane = "sim.skewc";
    const consumer = start(3 * minutes, { lane, task: "consume", againMs: null });
    expect((await consumer()).what).toBe("ready");
    const enqueuer = start(0, { lane, task: "enqueue", delayMs: 3000 });
    const sent = await enqueuer();
    const calls = await start(0, { lane, task: "count-calls", delayMs: 2000 })();
    expect(calls.what).toBe("calls");
    expect(calls.clockMs).toBeLessThan(100);
    const got = await consumer();
    expect(got.atMs - sent.atMs).toBeGreaterThan(2800);
  });
});
