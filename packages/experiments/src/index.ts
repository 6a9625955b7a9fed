export { ablate } from "./ablation.ts";
export { measureAriadne } from "./ariadne-effect.ts";
export { compareJudge } from "./judge-agreement.ts";
export { compareLanguages } from "./language-effect.ts";
export { compareModels } from "./compare-models.ts";
export { compareProfiles } from "./profile-comparison.ts";
export { compareReasoning } from "./reasoning-effect.ts";
export {
  compareWithHumans,
  type ErrorPositions,
  errorPositions,
  type HumanAggregate,
  type HumanData,
} from "./human-comparison.ts";
export { type ConfidenceTrial, confidenceTrial, measureConfidence } from "./confidence-calibration.ts";
export { describeOutcomes } from "./outcomes-and-coverage.ts";
export { difficultyCurve } from "./difficulty-curve.ts";
export { findMissingClusters, type MissingCluster } from "./missing-alarm.ts";
export { measureMirage } from "./mirage-effect.ts";
export { analysePaired, type PairedAnalysis, type PairedFigure } from "./paired-analysis.ts";
export {
  analysePublished,
  type PublishedAnalysis,
  type PublishedFigure,
  type PublishedModel,
  type PublishedTrial,
} from "./published-analysis.ts";
export type {
  Column,
  ColumnKind,
  ExperimentName,
  ExperimentResult,
  FigureData,
  IntervalPoint,
  LinePoint,
  Reference,
  ResultTable,
  TableCell,
  Warning,
} from "./result.ts";
