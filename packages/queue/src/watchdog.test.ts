import { describe, expect, it, onTestFinished, vi } from "vitest";

import type { LaneQueue } from "./back-end.ts";
import { defaultQueueSettings } from "./settings.ts";
import { startWatchdog } from "./watchdog.ts";

/** A lane as the watchdog sees it. */
interface Lane {
  waiting: number;
  overdue: number;
  paused: boolean;
  away: boolean;
  starts: number;
  busy: boolean;
}

function watch(change: Partial<Lane>) {
  const lane: Lane = { waiting: 0, overdue: 0, paused: false, away: false, starts: 0, busy: false, ...change };
  const looks = { count: 0, rebuilds: 0, codes: [] as string[] };
  const queue: Pick<LaneQueue, "getDelayedCount" | "getJobCounts" | "isPaused"> = {
    getJobCounts: async () => {
      looks.count += 1;
      if (lane.away) throw new Error("connect ECONNREFUSED");
      return { wait: lane.waiting };
    },
    getDelayedCount: async () => lane.overdue,
    isPaused: async () => lane.paused,
  };
  const watchdog = startWatchdog({
    queue: queue as LaneQueue,
    queueName: "solve.sim.a",
    nowMs: async () => Date.now(),
    settings: { ...defaultQueueSettings, stuckAfterMs: 40 },
    report: (error) => looks.codes.push(error.code),
    progress: () => ({ starts: lane.starts, busy: lane.busy }),
    rebuild: () => {
      looks.rebuilds += 1;
    },
  });
  onTestFinished(watchdog.stop);
  return {
    lane,
    looks,
    watchdog,
    looked: (times: number) => vi.waitFor(() => expect(looks.count).toBeGreaterThan(times)),
  };
}

describe("the watchdog", () => {
  it("has the worker rebuilt when work waits and nothing starts, and says so", async () => {
    const { looks } = watch({ waiting: 3 });
    await vi.waitFor(() => expect(looks.rebuilds).toBe(1));
    expect(looks.codes).toContain("queue-stuck");
  });

  it("tells how long nothing has started, over rebuilds, and nothing once something does", async () => {
    const { lane, looks, watchdog } = watch({ waiting: 3 });
    expect(watchdog.standsStillForMs()).toBe(0);
    await vi.waitFor(() => expect(looks.rebuilds).toBe(2));
    expect(watchdog.standsStillForMs()).toBeGreaterThanOrEqual(80);
    lane.starts += 1;
    expect(watchdog.standsStillForMs()).toBe(0);
  });

  it("tells of no standstill where every slot is taken, nothing waits, or the server is away", async () => {
    const all = [watch({ waiting: 3, busy: true }), watch({}), watch({ away: true })];
    await Promise.all([all[1]?.looked(12), all[2]?.looked(12)]);
    expect(all.map(({ watchdog }) => watchdog.standsStillForMs())).toEqual([0, 0, 0]);
  });

  it("has it rebuilt when delayed work is overdue", async () => {
    const { looks } = watch({ overdue: 1 });
    await vi.waitFor(() => expect(looks.rebuilds).toBe(1));
  });

  it("leaves an idle lane alone", async () => {
    const { looks, looked } = watch({});
    await looked(12);
    expect(looks.rebuilds).toBe(0);
  });

  it("leaves a paused lane alone, and says that it is paused", async () => {
    const { looks, looked } = watch({ waiting: 3, paused: true });
    await looked(12);
    expect(looks.rebuilds).toBe(0);
    expect(looks.codes).toContain("queue-paused");
  });

  it("leaves a worker alone whose server is away, and whose time starts when it is back", async () => {
    const { lane, looks, looked } = watch({ waiting: 3, away: true });
    await looked(12);
    expect(looks.rebuilds).toBe(0);
    lane.away = false;
    await vi.waitFor(() => expect(looks.rebuilds).toBe(1));
  });

  it("does not look at all while every slot is taken or deliveries start", async () => {
    const { lane, looks } = watch({ waiting: 3, busy: true });
    const idle = watch({});
    await idle.looked(8);
    expect(looks.count).toBe(0);
    lane.busy = false;
    const starting = setInterval(() => {
      lane.starts += 1;
    }, 2);
    onTestFinished(() => clearInterval(starting));
    await idle.looked(24);
    expect(looks.rebuilds).toBe(0);
  });
});
