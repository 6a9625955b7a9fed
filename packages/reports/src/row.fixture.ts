import type { ProfileScores } from "@hallumaze/metrics";
import type { CellPlan } from "@hallumaze/sweep";

import type { ReportRow } from "./report-row.ts";

/** A row of tests: a solved 5×5 maze, but for what `change` says. */
export function reportRow(
  change: Partial<Omit<ReportRow, "plan">> & {
    readonly plan?: Partial<CellPlan>;
    readonly seedScores?: Partial<ProfileScores>;
    readonly robustMei?: number;
  } = {},
): ReportRow {
  const { plan, seedScores, robustMei = 1, ...row } = change;
  const scores = { ...solved, ...seedScores };
  return {
    trialId: "trial-1",
    cellId: "cell-1",
    sweep: "night",
    alias: "sim/oracle",
    state: "done",
    outcome: "ok",
    tries: 1,
    message: null,
    reused: false,
    scores: { seed: scores, published: { ...scores, ce: null }, robust: { ...scores, mei: robustMei } },
    readingJson: null,
    usage: { inputTokens: 900, outputTokens: 400, cachedTokens: null, reasoningTokens: null },
    servedModel: null,
    costUsd: null,
    latencyMs: 4200,
    finishedAtMs: Date.UTC(2026, 2, 22, 14, 30, 22),
    plan: { ...cellPlan, ...plan },
    ...row,
  };
}

/** A row whose trial never got an answer. */
export function missingRow(change: Parameters<typeof reportRow>[0] = {}): ReportRow {
  return reportRow({ state: "failed", outcome: "timeout", scores: {}, usage: null, latencyMs: null, ...change });
}

const solved: ProfileScores = { sr: 1, hc: 0, fhr: -1, bt: 0, lt: 0, hrr: 1, mei: 0.9, ce: 0.1, brs: 1, score: 0.92 };

const cellPlan: CellPlan = {
  format: 1,
  provider: "sim",
  model: "oracle",
  baseUrl: null,
  temperature: 0,
  params: {},
  maxTokens: 2500,
  promptVersion: "v1.1-ko",
  generator: "dfs",
  placement: "path-order",
  seed: 1001,
  size: 5,
  group: "A",
  mirage: true,
  language: "ko",
  confidence: true,
  repeat: 0,
  rehearsal: false,
};
