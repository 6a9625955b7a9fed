import type { CallFacts } from "@hallumaze/engine";
import type { Figures, Reading } from "@hallumaze/watching";

import { type Metrics, openMetrics } from "../src/metrics.ts";

/** Figures with one of everything, and names that a text format has to escape. */
export const oneOfEverything: Figures = {
  ledger: {
    atMs: 1_000_000,
    sweeps: [
      {
        sweep: 'night "A"\\\n',
        sweepId: "1",
        budgetUsd: 40,
        spentUsd: 1.25,
        reservedUsd: 0.5,
        paused: ["openai/gpt-4o"],
        lastFinishedAtMs: 999_000,
      },
    ],
    trials: [
      {
        sweep: 'night "A"\\\n',
        sweepId: "1",
        alias: "openai/gpt-4o",
        lane: "openai.gpt-4o",
        state: "queued",
        outcome: "rate_limited",
        count: 3,
        oldestWaitingMs: 4500,
      },
      {
        sweep: 'night "A"\\\n',
        sweepId: "1",
        alias: "openai/gpt-4o",
        lane: "openai.gpt-4o",
        state: "done",
        outcome: "ok",
        count: 7,
        oldestWaitingMs: null,
      },
    ],
    judges: [
      {
        sweep: 'night "A"\\\n',
        sweepId: "1",
        lane: "judge.openai.gpt-4o",
        state: "done",
        outcome: "unscored",
        count: 2,
        oldestWaitingMs: null,
      },
    ],
    agreements: [{ judge: "openai/gpt-4o", promptVersion: "llm-judge-v1", items: 54, agreed: 27, open: false }],
    batches: [
      {
        provider: "anthropic",
        underWay: 2,
        rows: 1200,
        oldestAtMs: 1000,
        newestAtMs: 2000,
        waiting: 300,
        trouble: null,
      },
      { provider: "google", underWay: 0, rows: 0, oldestAtMs: null, newestAtMs: null, waiting: 7, trouble: null },
    ],
  },
  lanes: [
    {
      lane: "openai.gpt-4o",
      role: "solve",
      use: {
        lane: "openai.gpt-4o",
        limits: { rpm: 500, inputTpm: 30_000, concurrency: 10 },
        effective: { rpm: 250, inputTpm: 15_000, concurrency: 10 },
        inFlight: 4,
        utilisation: 0.97,
        binding: "rpm",
        granted: 100,
        limited: 1,
        parked: { reason: "auth: Incorrect API key sk-secret", sinceMs: 1, resumesAtMs: null },
      },
      depth: { waiting: 5, active: 4, delayed: 3 },
    },
  ],
};

/** A reply that cost something. */
export const paidCall: CallFacts = {
  outcome: null,
  usage: { inputTokens: 700, outputTokens: 900, cachedTokens: 100, reasoningTokens: null },
  costUsd: "0.010750000000",
  isCostUnknown: false,
  httpMs: 2500,
};

/** Metrics over figures and a clock that a test sets. */
export function openMetricsStage(): {
  readonly metrics: Metrics;
  readonly clock: { nowMs: number };
  readonly set: (reading: Partial<Reading>) => void;
  /** The sample of that name and labels; null where there is none. */
  readonly sample: (series: string) => Promise<number | null>;
} {
  const clock = { nowMs: 0 };
  let reading: Reading = { figures: oneOfEverything, ageMs: 2000, error: null, failures: 0 };
  const read = async (): Promise<Reading> => reading;
  const metrics = openMetrics({
    figures: { read, readNow: read },
    poolUse: () => ({ total: 5, idle: 3, waiting: 2 }),
    build: { version: "1.2.3", commit: "abc" },
    monotonicMs: () => clock.nowMs,
  });
  return {
    metrics,
    clock,
    set: (change) => {
      reading = { ...reading, ...change };
    },
    sample: async (series) => {
      const lines = (await metrics.expose()).split("\n");
      const found = lines.find((line) => line.startsWith(`${series} `));
      return found === undefined ? null : Number(found.slice(series.length + 1));
    },
  };
}
