import type { OpenCount } from "@hallumaze/batching";
import { parseSpec } from "@hallumaze/sweep";
import { describe, expect, it } from "vitest";

import { type LiveSweep, openLiveTimes } from "./live-times.ts";

const model = "anthropic/claude-haiku-4-5-20251001";
const lane = "lane.anthropic.shared";

function sweep(mode: "auto" | "live" | "batch", given: Partial<LiveSweep> = {}): LiveSweep {
  const deadline = mode === "auto" ? { deadline: "2026-12-01T08:00:00Z" } : {};
  const text = {
    name: "s",
    models: [{ model, as: "m", lane: "shared", mode }],
    seeds: ["1..100"],
    sizes: [5],
    ...deadline,
  };
  const { spec } = parseSpec(JSON.stringify(text), { fileName: "s.json" });
  return { spec, weight: 1, priority: 0, ...given };
}

/** Hours of our lane by the sweeps in the ledger and what is open there: ours has 60 trials in batches. */
async function hours(
  others: Readonly<Record<string, LiveSweep>>,
  open: readonly OpenCount[],
  rpm = 1,
): Promise<number> {
  const of = openLiveTimes({
    store: { replyHistory: async () => [] },
    sweeps: () => new Map(Object.entries({ ours: sweep("auto"), ...others })),
    limitsOf: () => ({ rpm }),
    slots: 16,
    rehearsal: false,
    now: () => 0,
  });
  const ours = { sweepId: "ours", alias: "m", lane: `batch.${lane}`, trials: 60 };
  return of({ ...ours, liveLane: lane, deadlineMs: 0 }, [ours, ...open]);
}

const theirs = (trials: number, at = lane): OpenCount => ({ sweepId: "theirs", alias: "m", lane: at, trials });

describe("the time that a live lane takes", () => {
  it("is what its requests a minute allow, retries and the last replies included", async () => {
    // 66 requests at 0.9 a minute; two replies of 2,500 tokens at 25 a second.
    expect(await hours({}, [])).toBeCloseTo((66 / 0.9 + 200 / 60) / 60, 9);
    expect(await hours({}, [], 2)).toBeLessThan(await hours({}, []));
  });

  it("counts another sweep's trials for its share, in full before ours, not at all behind ours", async () => {
    const alone = await hours({}, []);
    const many = [theirs(1000)];
    expect(await hours({ theirs: sweep("live") }, many)).toBeCloseTo(2 * alone, 9);
    expect(await hours({ theirs: sweep("live", { weight: 3 }) }, many)).toBeCloseTo(4 * alone, 9);
    expect(await hours({ theirs: sweep("live", { priority: -1 }) }, many)).toBe(alone);
    expect(await hours({ theirs: sweep("live", { priority: 1 }) }, many)).toBeGreaterThan(15 * alone);
    const few = await hours({ theirs: sweep("live") }, [theirs(10)]);
    expect(few).toBeGreaterThan(alone);
    expect(few).toBeLessThan(1.4 * alone);
  });

  it("counts what another sweep of mode auto may still send there, and nothing that waits for its batch for good", async () => {
    const alone = await hours({}, []);
    const waiting = [theirs(60, `batch.${lane}`)];
    expect(await hours({ theirs: sweep("auto") }, waiting)).toBeCloseTo(2 * alone, 9);
    expect(await hours({ theirs: sweep("batch") }, waiting)).toBe(alone);
  });
});
