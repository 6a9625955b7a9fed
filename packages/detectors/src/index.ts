export type {
  AggregateBounds,
  AnswerTally,
  ConditionTally,
  ConfidenceTally,
  DetectorStorePort,
  MirageTally,
  ModelFacts,
  PromptTally,
  RepeatTally,
  ServedTally,
  SizeTally,
  SweepAggregates,
} from "./aggregates.ts";
export { type DetectorName, detectorNames, type Finding } from "./finding.ts";
export { findFindings } from "./find-findings.ts";
export type { CountPrompt } from "./prompt-cut.ts";
export { findingLine, scopeLine } from "./write-findings.ts";
