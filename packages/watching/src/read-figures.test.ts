import { describe, expect, it } from "vitest";

import type { LedgerFigures } from "./figures.ts";
import { type FiguresPorts, openFiguresReader } from "./read-figures.ts";

const empty: LedgerFigures = { atMs: 0, sweeps: [], trials: [], judges: [], agreements: [], batches: [] };

interface Stage extends FiguresPorts {
  readonly looks: () => number;
  readonly clock: { nowMs: number };
}

/** A ledger whose looks take `takesMs` and answer what `answer` gives for the n-th, from 1. */
function stage(answer: (look: number) => LedgerFigures | Error = () => empty, takesMs = 0): Stage {
  let looks = 0;
  const clock = { nowMs: 0 };
  return {
    clock,
    looks: () => looks,
    monotonicMs: () => clock.nowMs,
    limiterLaneOf: (lane) => lane.replace("judge.", ""),
    queue: {
      depth: async (lane) => {
        if (lane === "dark") throw new Error("no answer");
        return { waiting: lane.length, active: 1, delayed: 2 };
      },
    },
    limiter: {
      use: async ([lane = ""]) => [
        {
          lane,
          limits: {},
          effective: {},
          inFlight: 0,
          utilisation: null,
          binding: null,
          granted: 0,
          limited: 0,
          parked: null,
        },
      ],
    },
    store: {
      poolUse: () => ({ total: 0, idle: 0, waiting: 0 }),
      figures: async () => {
        looks += 1;
        clock.nowMs += takesMs;
        const given = answer(looks);
        if (given instanceof Error) throw given;
        return given;
      },
    },
  };
}

const group = { sweep: "s", sweepId: "1", alias: "a", outcome: null, count: 1, oldestWaitingMs: 0 } as const;

describe("the figures", () => {
  it("are read once for all who ask within ten seconds", async () => {
    const ports = stage();
    const reader = openFiguresReader(ports);
    await Promise.all([reader.read(), reader.read()]);
    ports.clock.nowMs = 9_999;
    expect(await reader.read()).toMatchObject({ ageMs: 9_999, failures: 0, error: null });
    expect(ports.looks()).toBe(1);
    ports.clock.nowMs = 10_000;
    await reader.read();
    expect(ports.looks()).toBe(2);
  });

  it("take a twentieth of the time at most, however large the ledger", async () => {
    const ports = stage(() => empty, 3_000);
    const reader = openFiguresReader(ports);
    await reader.read();
    ports.clock.nowMs = 3_000 + 59_999;
    await reader.read();
    expect(ports.looks()).toBe(1);
    ports.clock.nowMs = 3_000 + 60_000;
    await reader.read();
    expect(ports.looks()).toBe(2);
  });

  it("stay as they were, and say their age, while the ledger is away", async () => {
    const ports = stage((look) => (look === 2 ? new Error("away") : empty));
    const reader = openFiguresReader(ports);
    await reader.read();
    ports.clock.nowMs = 12_000;
    expect(await reader.read()).toMatchObject({ figures: { ledger: empty }, ageMs: 12_000, failures: 1 });
    ports.clock.nowMs = 30_000;
    expect(await reader.read()).toMatchObject({ ageMs: 0, error: null, failures: 1 });
  });

  it("are read anew for whoever insists, after the look under way", async () => {
    const ports = stage();
    const reader = openFiguresReader(ports);
    const under = reader.read();
    await reader.readNow();
    await under;
    expect(ports.looks()).toBe(2);
  });

  it("hold every lane once, a judge's with its limiter's lane, and one that does not answer without a depth", async () => {
    const ledger: LedgerFigures = {
      ...empty,
      trials: [
        { ...group, lane: "dark", state: "done" },
        { ...group, lane: "open", state: "queued" },
        { ...group, lane: "open", state: "done" },
      ],
      judges: [{ ...group, lane: "judge.open", state: "queued" }],
    };
    const { figures } = await openFiguresReader(stage(() => ledger)).read();
    expect(figures?.lanes).toMatchObject([
      { lane: "open", role: "solve", use: { lane: "open" }, depth: { waiting: 4 } },
      { lane: "dark", role: "solve", use: { lane: "dark" }, depth: null },
      { lane: "judge.open", role: "judge", use: { lane: "open" }, depth: { waiting: 10 } },
    ]);
  });
});
