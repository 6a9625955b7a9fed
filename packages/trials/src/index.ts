export {
  type Contrast,
  contrast,
  contrastSides,
  describeDifferences,
  type PairedSide,
  pairedSide,
  type PairKey,
} from "./contrast.ts";
export { type Draws, type ExperimentOptions, openDraws } from "./draws.ts";
export type { Estimate, Provenance } from "./estimate.ts";
export { type MazeFacts, mazeKeyOf } from "./maze-facts.ts";
export {
  boundsOf,
  type Counts,
  countTrials,
  estimateOf,
  groupedValues,
  type MazeMean,
  mazeMean,
  plainMean,
  repeatCorrelation,
  stratumOf,
  successRate,
} from "./maze-means.ts";
export type { Metric } from "./metric-names.ts";
export { type RankCorrelation, rankCorrelation, type RankedPair, rankedPairs } from "./rank-correlation.ts";
export { type AnswerKind, answerKind, type TrialSource } from "./trial-source.ts";
export {
  answeredTrials,
  type Condition,
  createTrialTable,
  type Trial,
  type TrialTable,
  trialTable,
} from "./trial-table.ts";
