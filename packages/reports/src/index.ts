export { ariadneCells, ariadneHeads, ariadneNotes, ariadneSummaries } from "./ariadne-table.ts";
export { type Band, type BandedMetric, bandOf, meiSign } from "./bands.ts";
export { escapeLatex, latexTable } from "./latex-table.ts";
export {
  createLeaderboard,
  type Factor,
  type Figure,
  type IntervalFigure,
  type Leaderboard,
  type LeaderboardOptions,
  type LeaderboardRow,
  leaderboard,
  type Means,
} from "./leaderboard.ts";
export {
  type Bounds,
  formatHours,
  formatUsd,
  planOutcomeLine,
  type PlanOutcome,
  type PlanRow,
  planSummary,
  planTable,
  type PlanTotals,
} from "./plan-table.ts";
export type { ReportPages, ReportRow } from "./report-row.ts";
export { type ResultChart, resultChart, showsNothing } from "./result-chart.ts";
export { csvTable, markdownTable, printTable } from "./result-table.ts";
export {
  type MetacogSignal,
  type SeedShapeRecord,
  type SeedShapeResult,
  seedShapeCsv,
  seedShapeJson,
  seedShapeRecords,
} from "./seed-shape.ts";
export { trialCsv, trialJsonl, trialJsonLine } from "./trial-export.ts";
export { drawTable, formatCount, formatDuration, quoted, singleLine } from "./text-table.ts";
