import type { ReportRow } from "@hallumaze/reports";

const solved = { sr: 1, hc: 0, fhr: -1, bt: 0, lt: 0, hrr: 1, mei: 0.9, ce: 0.1, brs: 1, score: 0.92 } as const;

/** A trial of tests: solved on 5×5, but for what `change` says. */
export function trialRow(seed: number, change: Partial<ReportRow> = {}): ReportRow {
  return {
    trialId: `trial-${seed}`,
    cellId: `cell-${seed}`,
    sweep: "night",
    alias: "sim/oracle",
    state: "done",
    outcome: "ok",
    tries: 1,
    message: null,
    reused: false,
    scores: { seed: solved, published: { ...solved, ce: null }, robust: solved },
    readingJson: null,
    usage: { inputTokens: 900, outputTokens: 400, cachedTokens: null, reasoningTokens: null },
    servedModel: null,
    costUsd: "0.001250000000",
    latencyMs: 4200.4,
    finishedAtMs: Date.UTC(2026, 2, 22, 14, 30, 22),
    plan: {
      format: 1,
      provider: "sim",
      model: "oracle",
      baseUrl: null,
      temperature: null,
      params: { errorRate: 0.1 },
      maxTokens: 2500,
      promptVersion: "v1",
      generator: "dfs",
      placement: "path-order",
      seed,
      size: 5,
      group: "A",
      mirage: true,
      language: "ko",
      confidence: true,
      repeat: 0,
      rehearsal: false,
    },
    ...change,
  };
}

/** A trial that never got an answer. */
export function lostRow(seed: number): ReportRow {
  return trialRow(seed, {
    state: "failed",
    outcome: "timeout",
    scores: {},
    usage: null,
    costUsd: null,
    latencyMs: null,
    finishedAtMs: null,
  });
}

/** Rows as the ledger streams them. */
export async function* pagesOf(...pages: readonly (readonly ReportRow[])[]): AsyncGenerator<readonly ReportRow[]> {
  yield* pages;
}
